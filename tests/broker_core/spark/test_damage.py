"""How the programs treat damaged and incomparable messages, in the Spark that the tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from tests.support.cluster import RunningBroker
from tests.support.programs import Program
from tests.support.replays import make_topic, read_topic
from tests.support.stores import overwrite, segment
from tests.support.topics import orders, write_topic

pytestmark = pytest.mark.spark


def sale(topic: str, number: int, *, amount: int | None = None) -> Message:
    body = b'{"id":%d,"amount":%d}' % (number, number if amount is None else amount)
    return Message.create(topic, body, keys=[f"o-{number:05}"])


def test_a_damaged_message_is_passed_over_or_ends_the_job_as_asked(
    tmp_path: Path, spark: SparkSession, spark_cache: Path, shared_broker: RunningBroker, session: BlockingSession
) -> None:
    # Given a topic in which one body has a flipped bit
    make_topic(session, "copy")
    store = tmp_path / "store"
    write_topic(store, orders(5), queues=1)
    overwrite(segment(store), segment(store).read_bytes().index(b'{"n":2}'), b"z")
    place = {"store": str(store), "broker": "broker-a", "name_servers": [shared_broker.name_server]}
    program = Program(tmp_path / "job", "replay", place, spark_cache)
    request: dict[str, Any] = {"source": {"topic": "orders"}, "target": {"topic": "copy"}}
    # When it is replayed, and damage stops the job
    assert program.run_here(request | {"on_damage": "stop"}, spark) == 5, program.log
    # Then the reason names the message
    result = program.read("result.json")
    assert result["error"].startswith("the message at offset 2 of queue 0 of topic orders on broker-a is damaged: ")
    counters = result["counters"]
    assert counters["damaged"] == len(program.read("report.json")["damage"]) == 1
    assert counters["read"] == counters["filtered"] + counters["damaged"] + counters["matched"]
    assert [queue["damaged"] for queue in program.read("report.json")["queues"]] == [1]
    # When damage is skipped
    assert program.run_here(request, spark) == 3, program.log
    # Then all others are copied, and the report names it
    assert [message.body for message in read_topic(session, "copy")[0]] == [b'{"n":%d}' % n for n in (0, 1, 3, 4)]
    assert list(program.read("result.json")["phases"]) == [
        "starting Python", "planning", "starting Spark", "copying", "until the first messages"
    ]  # fmt: skip
    report = program.read("report.json")
    assert report["summary"] == (
        "5 messages read, 4 written, 1 damaged and not copied; failures.jsonl names them"
    )  # fmt: skip
    assert [(each["queue_offset"], each["topic"]) for each in report["damage"]] == [(2, "orders")]
    assert (report["left_out_listed"], report["left_out_unlisted"]) == (1, 0)


def test_what_cannot_be_compared_is_counted_and_said(tmp_path: Path, spark: SparkSession, spark_cache: Path) -> None:
    # Given a message without a key on the left, and one with a flipped bit on the right
    store = tmp_path / "store"
    left = [sale("ledger", 1), sale("ledger", 2), Message("ledger", b"keyless")]
    write_topic(store, [*left, sale("orders", 1), sale("orders", 2, amount=7)], queues=1)
    overwrite(segment(store), segment(store).read_bytes().index(b'{"id":2,"amount":7}'), b"z")
    place = {"store": str(store), "broker": "broker-a", "name_servers": []}
    program = Program(tmp_path / "job", "reconcile", place, spark_cache)
    # When the two are compared
    sides = {"left": {"topic": "ledger"}, "right": {"topic": "orders"}}
    assert program.run_here(sides, spark) == 3, program.log
    # Then the sentence, the counters and the report include both
    report, result = program.read("report.json"), program.read("result.json")
    assert report["summary"] == result["reason"] == (
        "1 keys match, 1 do not; 1 messages on the left and 0 on the right have no key and were not compared; "
        "0 messages on the left and 1 on the right are damaged and were left out"
    )  # fmt: skip
    assert {name: result["counters"][name] for name in ("planned", "read", "filtered", "damaged", "matched")} == {
        "planned": 5, "read": 5, "filtered": 0, "damaged": 1, "matched": 4,
    }  # fmt: skip
    (damaged,) = (sample for sample in report["samples"] if sample["class"] == "damaged_right")
    assert damaged["damage"] == "the body does not match the checksum in the record"
    assert damaged["right"] == {"broker": "broker-a", "queue_id": 0, "queue_offset": 1}
