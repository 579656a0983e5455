"""What a reconciliation found missing is replayed, and nothing is missing afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.client.blocking import BlockingSession
from tests.support.cluster import RunningBroker
from tests.support.programs import Program
from tests.support.replays import fill_topic, make_topic
from tests.support.topics import orders

pytestmark = pytest.mark.spark


def test_the_replay_of_the_missing_makes_both_sides_equal(
    tmp_path: Path, spark: SparkSession, spark_cache: Path, shared_broker: RunningBroker, session: BlockingSession
) -> None:
    # Given two topics, of which the right one lacks some messages, one of them twice
    for name in ("whole", "lacking"):
        make_topic(session, name)
    messages = orders(300)
    fill_topic(session, "whole", [*messages, messages[77]])
    fill_topic(session, "lacking", [each for number, each in enumerate(messages) if number % 50 != 27])
    place = {
        "store": str(shared_broker.data / "broker"), "broker": "broker-a", "name_servers": [shared_broker.name_server]
    }  # fmt: skip
    sides: dict[str, Any] = {"left": {"topic": "whole"}, "right": {"topic": "lacking"}, "by": "body"}
    first = Program(tmp_path / "first", "reconcile", place, spark_cache)
    assert first.run_here(sides, spark) == 0, first.log
    report = first.read("report.json")
    assert (report["tiles"]["missing_right"], report["missing_messages"]) == (6, 7)
    lines = [json.loads(line) for line in (first.folder / "missing.jsonl").read_text().splitlines()]
    assert sum(len(line["offsets"]) for line in lines) == 7
    # When the missing ones are replayed
    source = {"topic": "whole", "positions": {"job": "first", "file": "missing.jsonl"}}
    replay = Program(tmp_path / "replay", "replay", place, spark_cache)
    assert replay.run_here({"source": source, "target": {"topic": "lacking"}}, spark) == 0, replay.log
    assert replay.progress()["written"] == 7
    # Then nothing is missing, and there is nothing to replay
    second = Program(tmp_path / "second", "reconcile", place, spark_cache)
    assert second.run_here(sides, spark) == 0, second.log
    tiles = second.read("report.json")["tiles"]
    assert (tiles["matched"], tiles["missing_right"], tiles["different"]) == (300, 0, 0)
    assert not (second.folder / "missing.jsonl").exists()
