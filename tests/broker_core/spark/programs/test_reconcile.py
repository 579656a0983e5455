"""The reconciliation as a separate process."""

from __future__ import annotations

import csv
import json
import re
import secrets
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from broker_core.store import MessageStore, StoreConfig
from tests.support.programs import Program
from tests.support.sales import FAULTS, write_sales
from tests.support.stores import NOW, put

pytestmark = pytest.mark.spark


COUNT = 100_000


@pytest.fixture
def program(tmp_path: Path, spark_cache: Path) -> Program:
    """A job for a ledger and orders that differ in 137 places, chosen at random."""
    seed = secrets.randbelow(1 << 32)
    print(f"seed {seed}")
    write_sales(tmp_path / "store", COUNT, seed)
    place = {"store": str(tmp_path / "store"), "broker": "broker-a", "name_servers": []}
    return Program(tmp_path / "job", "reconcile", place, spark_cache)


def test_every_seeded_fault_is_found_and_nothing_else(program: Program) -> None:
    request: dict[str, Any] = {"left": {"topic": "ledger"}, "right": {"topic": "orders"}, "by": "key"}
    assert program.run(request) == 0, program.log
    report = program.read("report.json")
    assert report["tiles"] == {
        "matched": COUNT - 137, "duplicate": 0, "reordered": 0, "late": 0, **FAULTS, "keyless_left": 0,
        "keyless_right": 0, "damaged_left": 0, "damaged_right": 0, "rows_left": COUNT - 20, "rows_right": COUNT - 30,
    }  # fmt: skip
    assert report["summary"] == "99,863 keys match, 137 do not"
    pinned = report["request"]["pinned"]
    compared = {side: sum(queue["to"] - queue["from"] for queue in pinned[side]) for side in pinned}
    assert compared == {"left": COUNT - 20, "right": COUNT - 30}
    assert Counter(sample["class"] for sample in report["samples"]) == FAULTS
    other = next(sample for sample in report["samples"] if sample["class"] == "different")
    left, right = (json.loads(other["values"]["body"][side]) for side in ("left", "right"))
    assert (left["id"], right["amount"] - left["amount"]) == (other["key"], 1)
    with (program.folder / "differences.csv").open() as file:
        assert Counter(row["class"] for row in csv.DictReader(file)) == FAULTS
    # And the charts have every key once
    classes = report["buckets"]["classes"]
    assert {name: sum(numbers) for name, numbers in classes.items()} == {"matched": COUNT - 137, **FAULTS}
    assert sum(queue["rows"] for queue in report["queues"]) == 2 * COUNT - 50
    result = program.read("result.json")
    assert [artefact["name"] for artefact in result["artefacts"]] == [
        "report.json", "summary.json", "buckets.parquet", "differences.csv", "differences.parquet", "samples.json",
        "missing.jsonl",
    ]  # fmt: skip
    assert result["counters"]["read"] == result["counters"]["planned"] == 2 * COUNT - 50
    assert result["counters"]["bytes"] > 2 * COUNT
    assert result["versions"]["java"]
    assert list(result["phases"]) == [
        "starting Python", "starting Spark", "comparing", "reading what differs", "reporting",
        "until the first messages",
    ]  # fmt: skip
    assert all(f"{phase}: took" in program.log for phase in list(result["phases"])[1:-1])
    assert "the first messages were processed" in program.log
    # And what it cost
    assert "planned; bytes read: log" in program.log
    assert re.search(r"INFO bytes read: log [1-9][\d.]* [KM]iB", program.log)


def test_what_may_still_come_ends_when_the_lateness_behind_the_range_is_over(
    tmp_path: Path, spark: SparkSession, spark_cache: Path
) -> None:
    """NOW is long ago: whatever was late by no more than 2 s has been read."""
    with MessageStore.open(StoreConfig(tmp_path / "store", 1 << 20), now=NOW) as store:
        for topic, times in {"sent": (0, 9_900, 9_999), "got": (0, 11_999, 14_000)}.items():
            for key, time in zip("abc", times, strict=True):
                put(store, b"x", topic=topic, keys=[key], now=NOW + time)
    place = {"store": str(tmp_path / "store"), "broker": "broker-a", "name_servers": []}
    program = Program(tmp_path / "job", "reconcile", place, spark_cache)
    span = {"from": str(NOW), "to": str(NOW + 10_000)}
    sides = {"left": {"topic": "sent", **span}, "right": {"topic": "got", **span}}
    assert program.run_here({**sides, "by": "key", "lateness_ms": 2_000}, spark) == 0, program.log
    samples = program.read("report.json")["samples"]
    assert {sample["key"]: sample["class"] for sample in samples} == {"b": "late", "c": "missing_right"}


def test_a_way_of_pairing_that_does_not_exist_ends_with_2(tmp_path: Path, spark_cache: Path) -> None:
    place = {"store": str(tmp_path / "store"), "broker": "broker-a", "name_servers": []}
    program = Program(tmp_path / "job", "reconcile", place, spark_cache)
    assert program.run_here({"left": {"topic": "ledger"}, "right": {"topic": "orders"}, "by": "luck"}, None) == 2
    assert "by='luck'" in program.read("result.json")["reason"]
