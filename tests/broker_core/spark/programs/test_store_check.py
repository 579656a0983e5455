"""A store against itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import Program
from tests.support.stores import overwrite, segment
from tests.support.topics import orders, write_topic


def program(tmp_path: Path, store: Path | None) -> Program:
    place: dict[str, Any] = {"store": None if store is None else str(store), "broker": "broker-a", "name_servers": []}
    return Program(tmp_path / "job", "reconcile", place, tmp_path / "cache")


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_store_is_compared_with_itself_without_spark(tmp_path: Path, is_damaged: bool) -> None:
    store = tmp_path / "store"
    write_topic(store, orders(50))
    if is_damaged:
        overwrite(segment(store), segment(store).read_bytes().index(b'{"n":7}'), b"z")
    running = program(tmp_path, store)
    assert running.run_here({"check": "store"}, None) == (3 if is_damaged else 0), running.log
    report, result = running.read("report.json"), running.read("result.json")
    assert (report["tiles"]["records"], report["tiles"]["units"]) == (50 - is_damaged, 50)
    assert report["faults"] == ({"damaged message": 1} if is_damaged else {})
    assert len(report["told"]) == is_damaged
    assert result["reason"] == report["summary"]
    fault = "were read, and not all agree: 1 of damaged message" if is_damaged else "agree"
    size = f"{50 - is_damaged} records, 50 units of queues and 150 entries of the index"
    assert report["summary"] == f"{size} {fault}"
    assert list(result["phases"]) == ["starting Python", "checking"]
    counters = running.progress()
    assert (counters["planned"], counters["read"]) == (50, 50)
    assert (counters["matched"], counters["damaged"]) == (50 - is_damaged, is_damaged)


def test_each_store_of_several_brokers_is_checked(tmp_path: Path) -> None:
    for name in ("store", "store-b"):
        write_topic(tmp_path / name, orders(50))
    damaged = segment(tmp_path / "store-b")
    overwrite(damaged, damaged.read_bytes().index(b'{"n":7}'), b"z")
    running = program(tmp_path, tmp_path / "store")
    running.source = {**running.source, "more_stores": {"broker-b": str(tmp_path / "store-b")}}

    assert running.run_here({"check": "store"}, None) == 3, running.log

    report, counters = running.read("report.json"), running.progress()
    assert report["tiles"]["records"] == 99
    assert report["faults"] == {"damaged message": 1}
    assert report["told"][0].startswith("damaged message: broker-b: ")
    assert (counters["planned"], counters["read"], counters["damaged"]) == (100, 100, 1)


def test_only_a_store_of_this_machine_is_checked(tmp_path: Path) -> None:
    running = program(tmp_path, None)
    assert running.run_here({"check": "store"}, None) == 2
    assert "of a broker that this machine runs without replicas" in running.read("result.json")["reason"]
