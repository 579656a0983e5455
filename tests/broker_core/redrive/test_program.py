"""A redrive as its launcher runs it: a process that is watched, stopped or killed, and files that tell the rest."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.signature import Credentials
from tests.support.cluster import ROOT, RunningBroker, shared_broker, started_broker
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.wait import wait_until

__all__ = ["shared_broker"]


@pytest.fixture(scope="module")
def session(shared_broker: RunningBroker) -> Iterator[BlockingSession]:
    """A client of the broker."""
    with BlockingSession(shared_broker.config) as running:
        yield running


@dataclass
class Redrive:
    """One job folder, and the program that works in it."""

    folder: Path
    name_server: str
    attempt: int = 0

    def start(self, request: dict[str, Any], **others: Any) -> subprocess.Popen[bytes]:
        """Write the request and start the program."""
        self.folder.mkdir(exist_ok=True)
        self.attempt += 1
        whole = {
            "job_id": "job1", "type": "redrive", "cluster": "local", "attempt": self.attempt, "created_by": "ann",
            "request_hash": "hash", "request": request, "source": {"name_servers": [self.name_server]}, **others,
        }  # fmt: skip
        (self.folder / "request.json").write_text(json.dumps(whole))
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "broker_core.redrive", str(self.folder)], stdout=log, stderr=log,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )  # fmt: skip

    def run(self, request: dict[str, Any], **others: Any) -> int:
        """Run the program to its end; return its status."""
        return self.start(request, **others).wait(120)

    def outcomes(self) -> list[dict[str, Any]]:
        """Return the outcome of each message."""
        return [json.loads(line) for line in (self.folder / "outcomes.jsonl").read_text().splitlines()]

    def journalled(self) -> int:
        """Return how many outcomes were noted so far."""
        file = self.folder / "journal.jsonl"
        return file.read_text().count("\n") if file.exists() else 0

    @property
    def result(self) -> dict[str, Any]:
        """What the program says in the end."""
        content: dict[str, Any] = json.loads((self.folder / "result.json").read_text())
        return content


@pytest.fixture
def redrive(tmp_path: Path, shared_broker: RunningBroker) -> Redrive:
    """A job without a run."""
    return Redrive(tmp_path / "job1", shared_broker.name_server)


def bury(session: BlockingSession, group: str, messages: Sequence[Message]) -> None:
    """Store dead letters of a group."""
    make_topic(session, f"%DLQ%{group}", queues=1)
    fill_topic(session, f"%DLQ%{group}", messages)


def letters(topic: str, count: int, **properties: str) -> list[Message]:
    """Return dead letters from a topic, with their number as body."""
    return [
        Message("", str(number).encode(), {"RETRY_TOPIC": topic, "KEYS": f"K-{number}", **properties})
        for number in range(count)
    ]


def copies(session: BlockingSession, topic: str) -> list[StoredMessage]:
    """Return all messages of a topic."""
    return [message for queue in read_topic(session, topic).values() for message in queue]


def to_origin(group: str, topic: str, **others: Any) -> dict[str, Any]:
    """Return the request to send everything to the topic it came from."""
    limits = {"messages_per_second": 10_000}
    return {"group": group, "target": {"to": "origin"}, "topics": [topic], "limits": limits, **others}


def test_of_5000_with_3_poisoned_each_has_its_outcome_and_all_originals_stay(
    redrive: Redrive, session: BlockingSession
) -> None:
    make_topic(session, "poisoned")
    whole = letters("poisoned", 5_000, DEAD_LETTER_REASON="db down")
    # Without its topic; with so many properties that a copy cannot say where it comes from; from a topic that is gone.
    whole[7] = Message("", b"7", {"KEYS": "K-7"})
    whole[4_000] = Message("", b"4000", {"RETRY_TOPIC": "poisoned", "KEYS": "K-4000", "LONG": "x" * 32_550})
    whole[4_999] = Message("", b"4999", {"RETRY_TOPIC": "gone", "KEYS": "K-4999"})
    bury(session, "g-poison", whole)
    before = copies(session, "%DLQ%g-poison")

    assert redrive.run(to_origin("g-poison", "poisoned", topics=["poisoned", "gone"])) == 3

    stored = {message.message_id: message for message in copies(session, "poisoned")}
    assert Counter(message.body for message in stored.values()) == Counter(
        m.body for m in whole if m.body not in (b"7", b"4000", b"4999")
    )
    outcomes = redrive.outcomes()
    assert Counter(each["outcome"] for each in outcomes) == {"redriven": 4_997, "failed": 3}
    assert sorted((each["offset"], each["keys"]) for each in outcomes) == [(n, [f"K-{n}"]) for n in range(5_000)]
    for each in outcomes:
        if each["outcome"] == "redriven":
            copy = stored[each["copy_id"]]
            assert (copy.queue_id, copy.queue_offset) == (each["target_queue_id"], each["target_offset"])
            assert (copy.properties["GANTRY_JOB"], copy.properties["GANTRY_BY"]) == ("job1", "ann")
            assert copy.properties["GANTRY_SRC"] == f"local/broker-a/%DLQ%g-poison/0/{each['offset']}"
            assert "DEAD_LETTER_REASON" not in copy.properties
    failed = {each["offset"]: each["why"] for each in outcomes if each["outcome"] == "failed"}
    assert "which topic it came from" in failed[7]
    assert "properties" in failed[4_000]
    assert "gone" in failed[4_999]
    rows = list(csv.DictReader((redrive.folder / "outcomes.csv").read_text().splitlines()))
    assert [row["copy_id"] for row in rows] == [each["copy_id"] or "" for each in outcomes]
    assert redrive.result["counters"]["planned"] == 5_000
    assert (redrive.result["counters"]["written"], redrive.result["counters"]["failed"]) == (4_997, 3)
    assert [each["name"] for each in redrive.result["artefacts"]] == ["report.json", "outcomes.csv", "outcomes.jsonl"]
    assert copies(session, "%DLQ%g-poison") == before


def test_a_run_that_is_killed_and_one_that_is_stopped_go_on_without_a_second_copy(
    redrive: Redrive, session: BlockingSession
) -> None:
    make_topic(session, "killed")
    bury(session, "g-kill", letters("killed", 600))
    request = to_origin("g-kill", "killed", limits={"messages_per_second": 800})
    first = redrive.start(request)
    wait_until(lambda: redrive.journalled() > 60)
    first.kill()
    first.wait()
    second = redrive.start(request)
    wait_until(lambda: redrive.journalled() > 250)
    second.terminate()
    assert second.wait(20) == 130
    assert "the originals are kept" in redrive.result["reason"]
    assert redrive.journalled() < 600
    counters = redrive.result["counters"]
    assert counters["read"] == counters["matched"] == counters["written"] == redrive.journalled()

    assert redrive.run(request) == 0

    assert sorted(int(copy.body) for copy in copies(session, "killed")) == list(range(600))
    assert Counter(each["outcome"] for each in redrive.outcomes()) == {"redriven": 600}


def test_a_run_that_is_stopped_counts_only_what_has_an_outcome(redrive: Redrive, session: BlockingSession) -> None:
    make_topic(session, "slow")
    bury(session, "g-slow", [*letters("other", 3), *letters("slow", 60)])
    chosen = {"filter": {"topics": ["slow"]}, "limits": {"messages_per_second": 10}}
    run = redrive.start(to_origin("g-slow", "slow", **chosen))
    wait_until(lambda: redrive.journalled() > 2)
    run.terminate()  # one letter is chosen and waits for its time to be sent
    assert run.wait(20) == 130

    counters = redrive.result["counters"]
    assert 2 < counters["matched"] < 60
    assert counters["matched"] == counters["written"] + counters["failed"] + counters["skipped"]
    assert counters["read"] == counters["filtered"] + counters["matched"]
    assert counters["matched"] == len(copies(session, "slow"))


def test_a_run_takes_another_rate_and_pauses_where_the_next_one_goes_on(
    redrive: Redrive, session: BlockingSession
) -> None:
    make_topic(session, "paused")
    bury(session, "g-pause", letters("paused", 2_000))
    request, control = (
        to_origin("g-pause", "paused", limits={"messages_per_second": 4}),
        redrive.folder / "control.json",
    )
    run = redrive.start(request)
    wait_until(lambda: redrive.journalled() > 2)
    control.write_text(json.dumps({"pause": False, "messages_per_second": 1_000}))
    wait_until(lambda: redrive.journalled() > 100)  # half a minute at the first rate
    control.write_text(json.dumps({"pause": True, "messages_per_second": 1_000}))
    assert run.wait(20) == 75
    assert redrive.result["reason"].startswith("paused; ")
    assert redrive.result["error"] is None
    control.unlink()

    assert redrive.run(to_origin("g-pause", "paused")) == 0

    assert sorted(int(copy.body) for copy in copies(session, "paused")) == list(range(2_000))


def test_a_copy_that_was_stored_but_not_noted_is_found_and_not_sent_again(
    redrive: Redrive, session: BlockingSession
) -> None:
    make_topic(session, "lost")
    bury(session, "g-lost", letters("lost", 40))
    assert redrive.run(to_origin("g-lost", "lost")) == 0
    sent = redrive.outcomes()
    # As if the first run had been killed between the answers of the broker and its journal.
    (redrive.folder / "journal.jsonl").unlink()
    assert redrive.run(to_origin("g-lost", "lost")) == 0
    assert len(copies(session, "lost")) == 40
    assert {each["copy_id"] for each in redrive.outcomes()} == {each["copy_id"] for each in sent}


def test_for_the_failed_group_alone_copies_are_retries_that_start_again(
    redrive: Redrive, session: BlockingSession
) -> None:
    make_topic(session, "%RETRY%g-alone", queues=1)
    bury(session, "g-alone", letters("alone", 3, DEAD_LETTER_REASON="x", ORIGIN_MESSAGE_ID="AB"))
    request = {"group": "g-alone", "target": {"to": "failed_group"}, "topics": [], "filter": {"key": "K-1"}}
    assert redrive.run(request) == 0
    (copy,) = copies(session, "%RETRY%g-alone")
    assert (copy.body, copy.reconsume_times) == (b"1", 0)
    assert (copy.properties["RETRY_TOPIC"], copy.properties["ORIGIN_MESSAGE_ID"]) == ("alone", "AB")


def test_what_another_job_has_sent_is_skipped_with_the_earlier_copy(redrive: Redrive, session: BlockingSession) -> None:
    make_topic(session, "twice")
    bury(session, "g-twice", letters("twice", 3))
    (second,) = [each for each in copies(session, "%DLQ%g-twice") if each.body == b"1"]
    earlier = {"broker": "broker-a", "queue_id": 0, "offset": 1, "message_id": second.message_id, "copy_id": "C1"}
    assert redrive.run(to_origin("g-twice", "twice"), redriven=[earlier]) == 0
    assert sorted(copy.body for copy in copies(session, "twice")) == [b"0", b"2"]
    (skipped,) = [each for each in redrive.outcomes() if each["outcome"] == "skipped"]
    assert (skipped["offset"], skipped["copy_id"]) == (1, "C1")


def test_no_more_than_the_limit_are_sent_and_a_topic_that_was_not_checked_gets_none(
    redrive: Redrive, session: BlockingSession
) -> None:
    make_topic(session, "few")
    bury(session, "g-few", [*letters("few", 2), *letters("other", 1), *letters("few", 5)])
    assert redrive.run(to_origin("g-few", "few", limits={"messages_per_second": 100, "max_messages": 4})) == 3
    assert len(copies(session, "few")) == 3
    assert [each["outcome"] for each in redrive.outcomes()].count("failed") == 1


def test_what_was_sent_before_does_not_count_for_the_limit(redrive: Redrive, session: BlockingSession) -> None:
    make_topic(session, "rest")
    bury(session, "g-rest", letters("rest", 5))
    sent = {each.body: each.message_id for each in copies(session, "%DLQ%g-rest")}
    earlier = [
        {"broker": "broker-a", "queue_id": 0, "offset": n, "message_id": sent[b"%d" % n], "copy_id": f"C{n}"}
        for n in range(2)
    ]
    limits = {"messages_per_second": 100, "max_messages": 2}
    assert redrive.run(to_origin("g-rest", "rest", limits=limits), redriven=earlier) == 0
    assert sorted(copy.body for copy in copies(session, "rest")) == [b"2", b"3"]
    assert [each["outcome"] for each in redrive.outcomes()].count("skipped") == 2


def test_a_cluster_that_is_away_fails_the_job_and_blames_no_message(redrive: Redrive) -> None:
    redrive.name_server = "127.0.0.1:1"
    assert redrive.run(to_origin("g-away", "away")) == 4
    assert redrive.result["error"]
    assert redrive.journalled() == 0


def test_dead_letters_behind_access_control_are_sent_with_the_account_of_the_cluster(tmp_path: Path) -> None:
    config = tmp_path / "data" / "broker" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(
        "accounts: [{accessKey: administrator, secretKey: secret-of-admin, admin: true}]\n"
    )
    account = {"access_key": "administrator", "secret_key": "secret-of-admin"}
    with started_broker(tmp_path / "data", settings={"aclEnable": "true"}) as guarded:
        servers = [guarded.name_server]
        with BlockingSession(ClientConfig(servers, credentials=Credentials(**account))) as session:
            make_topic(session, "signed")
            bury(session, "signing", letters("signed", 3))
            job = Redrive(tmp_path / "job1", guarded.name_server)
            assert job.run(to_origin("signing", "signed")) != 0
            assert job.run(to_origin("signing", "signed"), source={"name_servers": servers, **account}) == 0
            assert len(copies(session, "signed")) == 3
