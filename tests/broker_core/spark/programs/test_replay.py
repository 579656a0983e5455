"""The replay: exit codes, files, and continuation after a kill, a pause and a cancel."""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.client.blocking import BlockingSession
from broker_core.client.selection import queue_for_key
from broker_core.protocol.bodies.queues import MessageQueue
from tests.support.cluster import RunningBroker, started_broker
from tests.support.programs import Program, kill
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.topics import orders
from tests.support.wait import wait_until

pytestmark = pytest.mark.spark
_names = count(1)
# Spark starts slowly on a busy machine.
PATIENCE = 240.0


@pytest.fixture
def topics(session: BlockingSession) -> tuple[str, str]:
    """A topic with 3000 orders, and an empty one."""
    source, target = f"orders-{next(_names)}", f"copy-{next(_names)}"
    make_topic(session, source)
    make_topic(session, target)
    fill_topic(session, source, orders(3000))
    return source, target


@pytest.fixture
def program(tmp_path: Path, shared_broker: RunningBroker, spark_cache: Path) -> Program:
    """A job that reads the store of the broker."""
    place = {
        "store": str(shared_broker.data / "broker"),
        "broker": "broker-a",
        "name_servers": [shared_broker.name_server],
    }
    return Program(tmp_path / "job", "replay", place, spark_cache)


def bodies(session: BlockingSession, topic: str) -> dict[int, list[bytes]]:
    return {queue: [message.body for message in messages] for queue, messages in read_topic(session, topic).items()}


def test_a_replay_that_was_killed_paused_and_cancelled_counts_as_one_that_was_not(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession
) -> None:
    source, target = topics
    slow: dict[str, Any] = {
        "source": {"topic": source}, "target": {"topic": target}, "limits": {"messages_per_second": 300}
    }  # fmt: skip
    # Given a replay whose program and JVM are killed in the middle
    child = program.start(slow)
    wait_until(lambda: program.progress().get("written", 0) > 300, within=PATIENCE)
    kill(child)
    killed = program.progress()["written"]
    # and that is resumed, and paused in the middle
    child = program.start(slow)
    wait_until(lambda: program.progress()["written"] > killed + 200 or child.poll(), within=PATIENCE)
    program.control(pause=True)
    assert child.wait(60) == 75
    paused = program.progress()["written"]
    assert paused == sum(map(len, bodies(session, target).values()))
    assert program.read("result.json")["reason"] == f"paused; {paused} messages were written and remain"
    # and resumed, and cancelled in the middle
    program.control(pause=False)
    assert program.cancel_here(slow, spark, when=lambda: program.progress()["written"] > paused + 200) == 130
    assert "messages were written and remain" in program.read("result.json")["reason"]
    assert paused + 200 < sum(map(len, bodies(session, target).values())) < 3000
    # When it is resumed, and its limit is lifted while it runs
    began = program.log.count("starting Spark")

    def lift_the_limit() -> bool:
        is_running = program.log.count("starting Spark") > began
        if is_running:
            program.control(messages_per_second=None)
        return is_running

    slowest = {**slow, "limits": {"messages_per_second": 1}}
    assert program.run_here(slowest, spark, meanwhile=lift_the_limit) == 0, program.log
    # Then every message is copied once, in order, and the counts are right
    assert bodies(session, target) == bodies(session, source)
    counters = program.read("result.json")["counters"]
    assert (counters["planned"], counters["read"], counters["matched"]) == (3000, 3000, 3000)
    assert counters["written"] == 3000
    report = program.read("report.json")["queues"]
    assert [(queue["from"], queue["read"]) for queue in report] == [(0, 1600), (0, 1400)]
    assert not (program.folder / "tmp").exists()


def test_a_request_that_cannot_be_served_ends_with_2_and_says_why(program: Program, topics: tuple[str, str]) -> None:
    assert program.run({"source": {"topic": topics[0]}, "target": {"topic": "nowhere"}}) == 2
    assert "nowhere" in program.read("result.json")["reason"]


def test_a_broker_that_is_away_ends_with_4(program: Program, topics: tuple[str, str], spark: SparkSession) -> None:
    program.source = {**program.source, "name_servers": ["127.0.0.1:1"]}
    assert program.run_here({"source": {"topic": topics[0]}, "target": {"topic": topics[1]}}, spark) == 4


def test_a_changed_request_does_not_continue_with_the_old_plan(
    program: Program, topics: tuple[str, str], spark: SparkSession
) -> None:
    request = {"source": {"topic": topics[0], "queues": [0], "keys": ["none"]}, "target": {"topic": topics[1]}}
    program.folder.mkdir()
    (program.folder / "plan.json").write_text('{"request_hash": "other", "lanes": []}')
    assert program.run_here(request, spark) == 2
    assert "another request" in program.read("result.json")["reason"]


def test_a_dry_run_writes_nothing_and_needs_no_spark(
    program: Program, session: BlockingSession, topics: tuple[str, str]
) -> None:
    source, target = topics
    request = {"source": {"topic": source}, "target": {"topic": target}, "limits": {"messages_per_second": 500}}
    assert program.run_here({**request, "dry_run": True}, None) == 0, program.log
    report, row = program.read("report.json"), program.read("summary.json")
    assert (report["messages"], report["estimated_ms"], report["estimated_by"]) == (3000, 6000, "limit")
    assert [(queue["from"], queue["to"], queue["messages"]) for queue in report["queues"]] == [
        (0, 1600, 1600), (0, 1400, 1400)
    ]  # fmt: skip
    assert report["bytes"] == sum(queue["bytes"] for queue in report["queues"]) > 3000 * 100
    assert (len(report["first"]), len(report["last"])) == (10, 10)
    # Nobody looked for damage
    counters = program.read("result.json")["counters"]
    assert (report["damaged"], counters["damaged"]) == (None, None)
    assert (counters["planned"], counters["read"], counters["filtered"], counters["matched"]) == (3000, 3000, 0, 3000)
    # The row of a job, which lists show, has no message
    assert "first" not in row
    assert sum(map(len, bodies(session, target).values())) == 0
    assert not (program.folder / "plan.json").exists()
    assert "starting Spark" not in program.log


def test_a_dry_run_with_a_limit_does_not_tell_bytes_and_times_of_all_that_it_found(
    program: Program, topics: tuple[str, str]
) -> None:
    """Only the job shows which messages `max_messages` takes; the queues and counters are of all that was found."""
    source, target = topics
    request = {"source": {"topic": source}, "target": {"topic": target}, "dry_run": True}
    assert program.run_here({**request, "limits": {"max_messages": 2}}, None) == 0, program.log
    report = program.read("report.json")
    assert (report["messages"], report["found"]) == (2, 3000)
    assert (report["bytes"], report["first_at"], report["last_at"]) == (None, None, None)
    assert sum(queue["messages"] for queue in report["queues"]) == 3000
    assert program.read("result.json")["counters"]["matched"] == 3000


def test_copies_are_ordered_by_key_and_keep_what_is_to_be_preserved(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession
) -> None:
    source, target = topics
    asked = {
        "source": {"topic": source, "where": "json:n::int < 40"},
        "target": {"topic": target, "order": "key", "preserve": ["unique_id", "born_at"]},
    }
    assert program.run_here(asked, spark) == 0, program.log
    # Its two queues have the keys by their hashes, in the order of the one queue that had them
    queues = session.run(session.producer().queues(target))
    originals = read_topic(session, source)[0][:40]
    for queue, copies in read_topic(session, target).items():
        wanted = [each for each in originals if queue_for_key(queues, each.keys[0]).queue_id == queue]
        kept = [(each.unique_id, each.born_timestamp, each.body) for each in wanted]
        assert [(each.unique_id, each.born_timestamp, each.body) for each in copies] == kept
    report = program.read("report.json")["queues"][0]
    assert (report["written"], report["target_broker"], report["target_queue_id"]) == (40, None, None)


TRANSFORM = {"body": "to_json(named_struct('id', json:n::int))", "tag": "'R'", "properties": {"old_tag": "tag"}}


def test_expressions_choose_and_change_messages_also_over_a_cancel(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession
) -> None:
    source, target = topics
    asked: dict[str, Any] = {
        "source": {"topic": source, "where": "json:n::int % 3 = 0"},
        "target": {"topic": target, "transform": TRANSFORM, "preserve": ["unique_id"]},
        "limits": {"messages_per_second": 200},
    }
    # Given a replay with expressions that is cancelled in the middle
    cancelled = program.cancel_here(asked, spark, when=lambda: program.progress().get("written", 0) > 200)
    assert cancelled == 130, program.log
    # When it is resumed without a limit
    program.control(messages_per_second=None)
    assert program.run_here(asked, spark) == 0, program.log
    # Then each wanted message is copied once, in order, changed as asked
    originals, copies = read_topic(session, source), read_topic(session, target)
    for queue, messages in originals.items():
        wanted = [m for m in messages if json.loads(m.body)["n"] % 3 == 0]
        assert [copy.body for copy in copies[queue]] == [m.body.replace(b"n", b"id") for m in wanted]
        assert [copy.unique_id for copy in copies[queue]] == [m.unique_id for m in wanted]
        assert {copy.tag for copy in copies[queue]} == {"R"}
        assert [copy.properties["old_tag"] for copy in copies[queue]] == [m.tag for m in wanted]
    counters = program.read("result.json")["counters"]
    assert (counters["read"], counters["filtered"], counters["written"]) == (3000, 2000, 1000)
    # What is planned is what is read, from the beginning on
    lines = map(json.loads, (program.folder / "progress.jsonl").read_text().splitlines())
    assert {line["counters"]["planned"] for line in lines} == {3000}


def test_every_message_that_was_refused_is_named_once_also_over_a_cancel(
    program: Program, topics: tuple[str, str], spark: SparkSession
) -> None:
    # Given a replay that is cancelled in the middle, with a tag that no message can have for one of three
    tag = "if(json:n::int % 3 = 0, 'a||b', 'c')"
    asked: dict[str, Any] = {
        "source": {"topic": topics[0]}, "target": {"topic": topics[1], "transform": {"tag": tag}},
        "limits": {"messages_per_second": 300},
    }  # fmt: skip
    cancelled = program.cancel_here(asked, spark, when=lambda: program.progress().get("failed", 0) > 100)
    assert cancelled == 130, program.log
    # When it goes on
    program.control(messages_per_second=None)
    assert program.run_here(asked, spark) == 3, program.log
    # Then its file has all of them, and its report the first ones
    lines = [json.loads(line) for line in (program.folder / "failures.jsonl").read_text().splitlines()]
    assert len(lines) == len({(line["queue_id"], line["queue_offset"]) for line in lines}) == 1000
    assert {(line["kind"], line["topic"]) for line in lines} == {("failed", topics[0])}
    report, result = program.read("report.json"), program.read("result.json")
    assert (len(report["failures"]), report["left_out_listed"], report["left_out_unlisted"]) == (100, 1000, 0)
    assert result["reason"].endswith("1,000 could not be copied; failures.jsonl names them")
    assert "failures.jsonl" in {each["name"] for each in result["artefacts"]}


def test_a_dry_run_counts_what_a_condition_lets_through(
    program: Program, topics: tuple[str, str], spark: SparkSession
) -> None:
    request = {"source": {"topic": topics[0], "where": "json:n::int < 30"}, "target": {"topic": topics[1]}}
    assert program.run_here({**request, "dry_run": True}, spark) == 0, program.log
    report = program.read("report.json")
    assert (report["messages"], [queue["messages"] for queue in report["queues"]]) == (30, [30, 0])
    counters = program.read("result.json")["counters"]
    assert (counters["read"], counters["filtered"], counters["matched"]) == (3000, 2970, 30)
    assert [json.loads(message["body"])["n"] for message in report["last"]] == list(range(20, 30))


@pytest.mark.parametrize("kind", ["topic", "parquet"])
def test_a_dry_run_makes_the_copies_and_counts_those_that_would_be_refused(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession, kind: str
) -> None:
    transform = {"tag": "if(json:n::int % 3 = 0, 'a||b', tag)"}
    request: dict[str, Any] = {
        "source": {"topic": topics[0], "where": "json:n::int < 30"},
        "target": {"kind": kind, "topic": topics[1], "transform": transform}, "dry_run": True,
    }  # fmt: skip
    assert program.run_here(request, spark) == 0, program.log
    report = program.read("report.json")
    assert (report["messages"], report["found"], report["refused"], len(report["failures"])) == (20, 20, 10, 10)
    assert report["failures"][0]["source"].endswith(f"/{topics[0]}/0/0")
    assert report["failures"][0]["reason"].startswith("target.transform.tag: ")
    assert report["summary"].startswith("20 messages would be copied, 10 would be refused; this was a dry run")
    counters = program.read("result.json")["counters"]
    assert (counters["matched"], counters["filtered"], counters["written"]) == (30, 2970, 0)
    assert not any(bodies(session, topics[1]).values())
    # One that cannot be computed ends the job, and its dry run
    request["target"]["transform"] = {"tag": "string(1 / (json:n::int - 7))"}
    assert program.run_here(request, spark) == 2, program.log
    assert program.read("result.json")["reason"].startswith("target.transform.tag: it cannot be computed for a message")


def test_a_dry_run_that_fails_while_it_counts_does_not_tell_what_it_has_not_counted(
    program: Program, topics: tuple[str, str], spark: SparkSession
) -> None:
    request = {"source": {"topic": topics[0], "where": "1 / 0 = 1"}, "target": {"topic": topics[1]}, "dry_run": True}
    assert program.run_here(request, spark) == 2, program.log
    counters = program.read("result.json")["counters"]
    assert (counters["planned"], counters["written"]) == (3000, 0)
    assert {counters[name] for name in ("read", "filtered", "damaged", "matched")} == {None}


def test_an_expression_that_fails_on_a_value_is_the_fault_of_its_field(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession
) -> None:
    transform = {"tag": "lower(tag)", "properties": {"a": "format_string('%d', tag)"}}
    for where, kind, field in (
        ("1 / 0 = 1", "topic", "source.where"),
        ("true", "topic", "target.transform.properties.a"),
    ):
        request = {
            "source": {"topic": topics[0], "where": where},
            "target": {"kind": kind, "topic": topics[1], "transform": transform},
        }
        program.folder.joinpath("plan.json").unlink(missing_ok=True)
        assert program.run_here(request, spark) == 2, program.log
        assert program.read("result.json")["reason"].startswith(f"{field}: it cannot be computed for a message: ")
        # How many were read before that nobody knows
        counters = program.read("result.json")["counters"]
        assert {counters[name] for name in ("read", "filtered", "damaged", "matched")} == {None}
        assert counters["written"] == 0
    assert not any(bodies(session, topics[1]).values())


def test_a_wrong_expression_ends_the_job_before_anything_is_sent(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession
) -> None:
    request = {"source": {"topic": topics[0], "where": "amount > 1"}, "target": {"topic": topics[1]}}
    assert program.run_here(request, spark) == 2
    assert program.read("result.json")["reason"].startswith("source.where: [UNRESOLVED_COLUMN")
    assert sum(map(len, bodies(session, topics[1]).values())) == 0


def test_the_counters_of_a_replay_that_failed_midway_add_up_to_the_copies(
    program: Program, session: BlockingSession, spark: SparkSession
) -> None:
    """Also of a job that failed: `read` = `filtered` + `damaged` + `matched`, and `matched` = `written` + `failed`."""
    source, target = f"orders-{next(_names)}", f"copy-{next(_names)}"
    make_topic(session, source, queues=1)
    make_topic(session, target, queues=1)
    # Given a transformation that fails on a message which Spark computes while earlier ones are sent
    fill_topic(session, source, orders(9000))
    tag = "cast(if(json:n::int < 8999, '1', 'x') as int)"
    request = {"source": {"topic": source}, "target": {"topic": target, "transform": {"tag": tag}}}
    # The Spark of these tests would try a lost task again, and tells that instead of the cast.
    assert program.run_here(request, spark) in (1, 2), program.log
    counters, sent = program.read("result.json")["counters"], len(read_topic(session, target)[0])
    assert (counters["planned"], counters["written"], counters["failed"]) == (9000, sent, 0)
    assert sent < 9000
    # A task that has sent nothing yet has told nothing.
    assert counters["read"] == counters["matched"] == (sent or None)
    # No chunk counts as finished whose rows ended with Spark; one that sent nothing has written nothing down
    checkpoint = program.folder / "checkpoint.jsonl"
    assert checkpoint.exists() or not sent
    assert not checkpoint.exists() or '"done"' not in checkpoint.read_text()


def test_a_topic_that_groups_read_by_now_gets_no_copies(
    program: Program, session: BlockingSession, topics: tuple[str, str], spark: SparkSession
) -> None:
    """Also a schedule replays into a topic that groups read only with `allow_live_target`."""
    source, target = topics
    assert not session.run(session.admin.offsets.set("billing", {MessageQueue(target, "broker-a", 0): 0})).failed
    assert program.run_here({"source": {"topic": source}, "target": {"topic": target}}, spark) == 2
    reason = f"1 group(s) read topic {target!r}; only allow_live_target gives them copies"
    assert program.read("result.json")["reason"] == reason


def test_a_replay_into_another_cluster_and_one_into_the_source_itself(
    program: Program, session: BlockingSession, topics: tuple[str, str], tmp_path: Path, spark: SparkSession
) -> None:
    source, target = topics
    with started_broker(tmp_path / "east", broker_name="broker-e") as east, BlockingSession(east.config) as other:
        make_topic(other, target, queues=1)
        program.more = {"clusters": {"east": {"name_servers": [east.name_server]}}}
        request = {"source": {"topic": source, "queues": [0]}, "target": {"topic": target, "cluster": "east"}}
        assert program.run_here(request, spark) == 0, program.log
        assert bodies(other, target)[0] == bodies(session, source)[0]
    assert re.search(r"INFO bytes read: log [1-9][\d.]* [KM]iB", program.log)
    itself = Program(tmp_path / "itself", "replay", program.source, program.cache)
    assert itself.run_here({**request, "target": {"topic": source}, "allow_live_target": True}, spark) == 0, itself.log
    copied = bodies(session, source)[0]
    # What was there when it began, once
    assert (len(copied), copied[1600:]) == (3200, copied[:1600])
