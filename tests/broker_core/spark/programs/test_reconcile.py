"""The reconciliation as a separate process."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from broker_core.protocol.message import Message
from tests.support.programs import Program
from tests.support.topics import write_topic

pytestmark = pytest.mark.spark


def sale(topic: str, number: int, *, amount: int | None = None) -> Message:
    body = b'{"id":%d,"amount":%d}' % (number, number if amount is None else amount)
    return Message.create(topic, body, keys=[f"o-{number:05}"])


@pytest.fixture
def program(tmp_path: Path, spark_cache: Path) -> Program:
    """A job for a ledger and orders that differ in 137 places."""
    ledger = [sale("ledger", number) for number in range(5000) if not 100 <= number < 130]
    orders = [
        sale("orders", number, amount=-1 if 3000 <= number < 3047 else None)
        for number in range(5000)
        if not 1000 <= number < 1040
    ]
    twice = [sale("orders", number) for number in range(2000, 2020)]
    write_topic(tmp_path / "store", [*ledger, *orders, *twice], queues=4, segment_bytes=1 << 20)
    place = {"store": str(tmp_path / "store"), "broker": "broker-a", "name_servers": []}
    return Program(tmp_path / "job", "reconcile", place, spark_cache)


def test_every_seeded_fault_is_found_and_nothing_else(program: Program) -> None:
    request: dict[str, Any] = {"left": {"topic": "ledger"}, "right": {"topic": "orders"}, "by": "key"}
    assert program.run(request) == 0, program.log
    report = program.read("report.json")
    expected = {"missing_left": 30, "missing_right": 40, "different": 47, "duplicate_right": 20}
    assert report["tiles"] == {
        "matched": 4863, "duplicate_left": 0, "duplicate": 0, "reordered": 0, "late": 0, **expected,
        "keyless_left": 0, "keyless_right": 0, "damaged_left": 0, "damaged_right": 0, "rows_left": 4970,
        "rows_right": 4980,
    }  # fmt: skip
    assert report["summary"] == "4,863 keys match, 137 do not"
    pinned = report["request"]["pinned"]
    compared = {side: sum(queue["to"] - queue["from"] for queue in pinned[side]) for side in pinned}
    assert compared == {"left": 4970, "right": 4980}
    assert Counter(sample["class"] for sample in report["samples"]) == expected
    other = next(sample for sample in report["samples"] if sample["key"] == "o-03000")
    assert other["values"] == {"body": {"left": '{"id":3000,"amount":3000}', "right": '{"id":3000,"amount":-1}'}}
    with (program.folder / "differences.csv").open() as file:
        assert Counter(row["class"] for row in csv.DictReader(file)) == expected
    # And the charts have every key once
    classes = report["buckets"]["classes"]
    assert {name: sum(numbers) for name, numbers in classes.items()} == {"matched": 4863, **expected}
    assert sum(queue["rows"] for queue in report["queues"]) == 9950
    result = program.read("result.json")
    assert [artefact["name"] for artefact in result["artefacts"]] == [
        "report.json", "summary.json", "buckets.parquet", "differences.csv", "differences.parquet", "samples.json",
        "missing.jsonl",
    ]  # fmt: skip
    assert result["counters"]["read"] == result["counters"]["planned"] == 9950
    assert result["versions"]["java"]
    assert list(result["phases"]) == [
        "starting Python", "starting Spark", "comparing", "reading what differs", "reporting",
        "until the first messages",
    ]  # fmt: skip
    assert all(f"{phase}: took" in program.log for phase in list(result["phases"])[1:-1])
    assert "the first messages were processed" in program.log


def test_a_way_of_pairing_that_does_not_exist_ends_with_2(program: Program) -> None:
    assert program.run({"left": {"topic": "ledger"}, "right": {"topic": "orders"}, "by": "luck"}) == 2
    assert "by='luck'" in program.read("result.json")["reason"]
