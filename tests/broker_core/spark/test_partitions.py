"""The partitions of a read from store files."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.spark import partitions
from broker_core.spark.bytes_read import PlanCost
from broker_core.spark.errors import BadOption, DataLoss, StoreUnreadable, UnknownOption, unknown_topic
from broker_core.spark.options import EARLIEST, LATEST, SourceOptions
from broker_core.spark.partitions import FilePartition, choose_range, count_of, partition_bytes, plan_files
from tests.support.stores import NOW
from tests.support.topics import orders, write_topic


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 100 orders in two queues, one per ms."""
    folder = tmp_path_factory.mktemp("store")
    write_topic(folder, orders(100), queues=2)
    return folder


def ranges(store: Path, **options: Any) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for partition in plan_files(read(store, **options)):
        found.setdefault(partition.queue_id, []).append((partition.begin, partition.end))
    return found


def read(store: Path, **options: Any) -> SourceOptions:
    return SourceOptions(**{"topics": ("orders",), "stores": (store,), "brokers": ("broker-a",), **options})


def test_each_queue_is_read_whole(store: Path) -> None:
    assert ranges(store) == {0: [(0, 50)], 1: [(0, 50)]}


def test_queues_can_be_chosen_by_number_and_by_broker(store: Path) -> None:
    assert ranges(store, queues=frozenset({(None, 1)})) == {1: [(0, 50)]}
    assert ranges(store, queues=frozenset({("broker-a", 0)})) == {0: [(0, 50)]}


@pytest.mark.parametrize("queue", [(None, 2), ("broker-b", 0)])
def test_a_queue_that_is_not_there_is_an_error(store: Path, queue: tuple[str | None, int]) -> None:
    with pytest.raises(UnknownOption, match=r"unknown queue .*known: broker-a:0, broker-a:1"):
        ranges(store, queues=frozenset({queue}))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"oders": {"broker-a": {0: 1}}}, "unknown topic in option endingOffsets 'oders'.*known: orders"),
        ({"orders": {"broker-b": {0: 1}}}, "unknown broker in option endingOffsets 'broker-b'.*known: broker-a"),
        ({"orders": {"broker-a": {7: 1}}}, "unknown queue in option endingOffsets '7'.*known: 0, 1"),
    ],
)
def test_offsets_of_what_is_not_there_are_an_error(store: Path, given: Any, said: str) -> None:
    with pytest.raises(UnknownOption, match=said):
        ranges(store, ending_offsets=given)


def test_a_queue_without_messages_may_be_named(store: Path) -> None:
    (store / "config").mkdir(exist_ok=True)
    (store / "config" / "topics.json").write_text('{"topicConfigTable":{"orders":{"readQueueNums":4}}}')
    assert ranges(store, queues=frozenset({(None, 3)})) == {}


def test_a_topic_that_is_not_there_names_the_nearest_one(store: Path) -> None:
    with pytest.raises(UnknownOption, match="did you mean 'orders'"):
        ranges(store, topics=("oders",))


def test_a_topic_of_a_store_without_any_message_is_empty(tmp_path: Path) -> None:
    write_topic(tmp_path, [])
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "topics.json").write_text('{"topicConfigTable":{"orders":{"readQueueNums":4}}}')
    assert ranges(tmp_path) == {}


def test_a_folder_without_a_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreadable, match="it is not a store"):
        ranges(tmp_path)


def test_a_time_range_is_widened_by_the_clock_skew(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(100), queues=1, step_ms=100)
    found = ranges(tmp_path, starting_timestamp=NOW + 5000, ending_timestamp=NOW + 6000)
    assert found == {0: [(40, 70)]}


def test_large_queues_are_cut_by_bytes_and_nothing_is_lost(store: Path) -> None:
    parts = ranges(store, max_partition_bytes=2000)[0]
    assert len(parts) > 2
    assert [begin for begin, _ in parts[1:]] == [end for _, end in parts[:-1]]
    assert (parts[0][0], parts[-1][1]) == (0, 50)


@pytest.mark.parametrize("keys", [None, {f"k{number}" for number in range(0, 100, 3)}])
def test_a_plan_of_many_messages_has_few_sums_and_the_same_bytes(
    store: Path, monkeypatch: pytest.MonkeyPatch, keys: set[str] | None
) -> None:
    """spark/README.md#planning: its memory does not grow with the number of messages."""
    options = read(store, max_partition_bytes=2000, keys=None if keys is None else frozenset(keys))
    exact = plan_files(options)
    # When a step is for several messages
    monkeypatch.setattr(partitions, "MOST_STEPS", 7)
    coarse = plan_files(options)
    # Then the parts are cut near the same places, and hold the same messages
    for queue in (0, 1):
        of_exact, of_coarse = ([p for p in plan if p.queue_id == queue] for plan in (exact, coarse))
        assert len(of_coarse) > 1
        assert (of_coarse[0].begin, of_coarse[-1].end) == (of_exact[0].begin, of_exact[-1].end)
        assert sum(map(count_of, of_coarse)) == sum(map(count_of, of_exact))
        assert all(before.end <= after.begin for before, after in pairwise(of_coarse))


@given(st.lists(st.integers(0, 99), max_size=40), st.integers(1, 9), st.integers(1, 9))
def test_sizes_are_added_to_their_steps_however_they_come(sizes: list[int], stride: int, piece: int) -> None:
    totals = np.zeros(-(-len(sizes) // stride), np.int64)
    for at in range(0, len(sizes), piece):
        partitions._add(totals, np.array(sizes[at : at + piece], np.int64), at, stride)
    assert totals.tolist() == [sum(sizes[at : at + stride]) for at in range(0, len(sizes), stride)]


def test_more_messages_of_keys_than_a_plan_names_are_planned_by_size(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "MOST_CHOSEN", 3)
    cost = PlanCost()
    found = plan_files(read(store, keys=frozenset(f"k{number}" for number in range(100))), cost=cost)
    assert [(part.begin, part.end, part.only) for part in found] == [(0, 50, None), (0, 50, None)]
    assert "parts are planned by size alone" in " ".join(cost.notes)


def test_partitions_hold_bytes_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two for each core, four if they are large enough; four times as much of records whose bodies are not touched."""
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    mib, options = 1 << 20, SourceOptions(topics=("T",))
    sizes = {100 * mib: 32 * mib, 400 * mib: 100 * mib, 800 * mib: 128 * mib, 3200 * mib: 400 * mib, 1 << 35: 512 * mib}
    assert {total: partition_bytes(options, total) for total in sizes} == sizes
    untouched = replace(options, columns=("key", "queue_offset"))
    assert {total: partition_bytes(untouched, 4 * total) // 4 for total in sizes} == sizes
    assert partition_bytes(replace(options, columns=("key", "body")), 800 * mib) == 128 * mib
    assert partition_bytes(options, 1 << 20) == 1 << 20
    assert partition_bytes(options, 1 << 50) == (1 << 50) // 1000
    assert partition_bytes(SourceOptions(topics=("T",), min_partitions=8), 1 << 20) == 1 << 17


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (EARLIEST, LATEST, (10, 50)),
        ({"T": {"b": {0: 20}}}, {"T": {"b": {0: 30}}}, (20, 30)),
        ({"T": {"b": {0: LATEST}}}, LATEST, (50, 50)),
        ({"T": {"b": {1: 20}}}, LATEST, (10, 50)),
    ],
)
def test_offsets_are_chosen_within_what_there_is(start: Any, end: Any, expected: tuple[int, int]) -> None:
    options = SourceOptions(topics=("T",), starting_offsets=start, ending_offsets=end)
    assert choose_range(options, "b", "T", 0, 10, 50) == expected


@pytest.mark.parametrize(("start", "end"), [(5, LATEST), (EARLIEST, 51)])
def test_offsets_beyond_what_is_left_are_data_loss_unless_that_is_all_right(start: int, end: int) -> None:
    wanted: Any = [{"T": {"b": {0: at}}} for at in (start, end)]
    strict = SourceOptions(topics=("T",), starting_offsets=wanted[0], ending_offsets=wanted[1])
    with pytest.raises(DataLoss):
        choose_range(strict, "b", "T", 0, 10, 50)
    lax = SourceOptions(topics=("T",), starting_offsets=wanted[0], ending_offsets=wanted[1], fail_on_data_loss=False)
    assert choose_range(lax, "b", "T", 0, 10, 50) == (10, 50)


@pytest.mark.parametrize("end", [LATEST, 90])
def test_a_start_beyond_the_end_of_its_queue_is_data_loss(end: int) -> None:
    wanted: Any = [{"T": {"b": {0: at}}} for at in (60, end)]
    given = {"topics": ("T",), "starting_offsets": wanted[0], "ending_offsets": wanted[1]}
    with pytest.raises(DataLoss, match="the queue ends at 50"):
        choose_range(SourceOptions(**given), "b", "T", 0, 10, 50)
    assert choose_range(SourceOptions(**given, fail_on_data_loss=False), "b", "T", 0, 10, 50) == (60, 60)


def test_an_end_before_its_start_is_refused() -> None:
    options = SourceOptions(topics=("T",), starting_offsets={"T": {"b": {0: 30}}}, ending_offsets={"T": {"b": {0: 20}}})
    with pytest.raises(BadOption, match="is before the start 30"):
        choose_range(options, "b", "T", 0, 10, 50)


def test_an_empty_topic_that_the_broker_knows_has_no_partitions(store: Path) -> None:
    (store / "config").mkdir(exist_ok=True)
    (store / "config" / "topics.json").write_text('{"topicConfigTable":{"quiet":{}}}')
    assert plan_files(read(store, topics=("quiet",))) == []


def test_a_partition_is_small_when_it_travels(store: Path) -> None:
    (first, *_) = plan_files(read(store))
    assert first == FilePartition(str(store), "broker-a", "orders", 0, 0, 50)


def test_no_topic_of_the_brokers_is_suggested() -> None:
    assert str(unknown_topic("order", ["orders", "SCHEDULE_TOPIC_XXXX", "TBW102", "rmq_sys_x"])) == (
        "unknown topic 'order'; did you mean 'orders'? known: orders"
    )


def test_a_name_that_is_like_no_other_has_no_suggestion() -> None:
    assert "did you mean" not in str(UnknownOption("broker", ["body", "keys", "properties", "tag"], what="column"))
