"""What a job would read: counts by queue, with and without filters."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.forecast import MOST_SAMPLES, QueueForecast, _pieces, forecast, samples_of
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import WirePartition
from broker_core.spark.replay_plan import plan_by_queue
from tests.support.stores import NOW, overwrite, queue_file, segment
from tests.support.topics import order, orders, write_topic

RANGE: dict[str, Any] = {"starting_timestamp": NOW + 20, "ending_timestamp": NOW + 1501}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3000 orders in two queues, one each ms."""
    folder = tmp_path_factory.mktemp("store")
    write_topic(folder, orders(3000))
    return folder


def found(store: Path, read: BytesRead | None = None, **changes: Any) -> tuple[list[QueueForecast], SourceOptions]:
    options = SourceOptions(topics=("orders",), stores=(store,), brokers=("broker-a",), **changes)
    by_queue = plan_by_queue(options)
    return forecast([by_queue[key] for key in sorted(by_queue)], options, on_rows=lambda _: True, read=read), options


@pytest.mark.parametrize("filters", [{}, {"tags": frozenset({"A", "B"})}])
def test_counts_bytes_and_ends_are_the_same_however_they_are_found(store: Path, filters: dict[str, Any]) -> None:
    queues, options = found(store, **RANGE, **filters)
    assert [queue.messages for queue in queues] == [741, 740]
    everything = found(store, **RANGE, keys=frozenset({"all"}))[0]
    assert [queue.messages for queue in everything] == [741, 740]
    assert [queue.bytes for queue in queues] == [queue.bytes for queue in everything]
    shown = samples_of(queues, options)
    assert [message["body"] for message in shown["first"]] == [f'{{"n":{number}}}' for number in range(20, 30)]
    assert [message["body"] for message in shown["last"]] == [f'{{"n":{number}}}' for number in range(1491, 1501)]
    assert shown["first"][0]["keys"] == ["k20", "all"]


def test_a_filter_is_counted_by_reading(store: Path) -> None:
    queues, options = found(store, keys=frozenset({"k7", "k8"}))
    assert [queue.messages for queue in queues] == [1, 1]
    assert [queue.damaged for queue in queues] == [0, 0]
    assert [message["tag"] for message in samples_of(queues, options)["first"]] == ["B", "A"]


def test_a_damaged_body_is_found_where_messages_are_counted_by_reading(tmp_path: Path) -> None:
    write_topic(tmp_path, orders(4, tags=("A",)), queues=1)
    overwrite(segment(tmp_path), segment(tmp_path).read_bytes().index(b'{"n":1}'), b"z")
    (queue,), _ = found(tmp_path, keys=frozenset({"all"}))
    assert (queue.messages, queue.damaged, queue.counted_by) == (3, 1, "reading")


def test_an_empty_range_has_no_ends(store: Path) -> None:
    queues, options = found(store, starting_timestamp=NOW + 10**6)
    assert sum(queue.messages for queue in queues) == 0
    assert samples_of(queues, options) == {"first": [], "last": []}


@pytest.mark.parametrize(
    ("filters", "counted_by", "messages"),
    [({}, "queues", [1500, 1500]), ({"tags": frozenset({"A"})}, "tag_hashes", [1500, 0])],
    ids=["everything", "a tag"],
)
def test_only_the_ends_of_a_range_are_decoded(
    store: Path, filters: dict[str, Any], counted_by: str, messages: list[int]
) -> None:
    """Also of a range by time and tag: what it costs does not grow with what it holds."""
    read = BytesRead()
    queues = found(store, read=read, **filters)[0]
    assert [queue.messages for queue in queues] == messages
    assert {queue.counted_by for queue in queues} == {counted_by}
    ends = 2 * MOST_SAMPLES * sum(count > 0 for count in messages)
    records = sum(queue.bytes or 0 for queue in queues) / sum(messages)
    assert 0.9 * ends * records < read.log < 1.1 * ends * records
    assert read.queue >= 3000 * 20
    # So whether any between them is damaged is not known
    assert [queue.damaged for queue in queues] == [None, None]
    few = BytesRead()
    part = found(store, read=few, **filters, starting_timestamp=NOW + 2000, ending_timestamp=NOW + 2100)[0]
    assert sum(queue.messages for queue in part) == (100 if not filters else 50)


def test_a_tag_is_counted_by_its_hash_as_a_broker_filters(tmp_path: Path) -> None:
    # "Aa" and "BB" have one hash.
    write_topic(tmp_path, orders(300, tags=("Aa", "BB", "C")), queues=1)
    (queue,), options = found(tmp_path, tags=frozenset({"Aa"}))
    assert (queue.messages, queue.counted_by) == (199, "tag_hashes")
    assert {message["tag"] for message in samples_of([queue], options)["first"]} == {"Aa"}
    (queue,), options = found(tmp_path, tags=frozenset({"absent"}))
    assert (queue.messages, queue.bytes, queue.damaged) == (0, 0, None)


def test_what_names_no_record_has_no_bytes(tmp_path: Path) -> None:
    # Given a filler, as in a queue that was rebuilt after its first messages left the log
    write_topic(tmp_path, orders(100), queues=1)
    before = found(tmp_path)[0]
    filler = (0).to_bytes(8, "big") + bytes.fromhex("7FFFFFFF") + bytes(8)
    overwrite(queue_file(tmp_path, "orders"), 50 * 20, filler)
    # Then it takes no room, and no partition of its own
    queues, options = found(tmp_path)
    size = (before[0].bytes or 0) // 100
    assert abs((before[0].bytes or 0) - size - (queues[0].bytes or 0)) < 10
    assert len(plan_by_queue(options)) == len(queues[0].parts) == 1


def test_bodies_of_a_sample_have_a_limited_length(tmp_path: Path) -> None:
    write_topic(tmp_path, [order(1, body=b"x" * 5000), order(2, body=b"\xff\x00")])
    queues, options = found(tmp_path)
    bodies = [message["body"] for message in samples_of(queues, options)["first"]]
    assert (len(bodies[0]) < 2100, bodies[1]) == (True, "ff 00")


def test_the_ends_of_a_queue_of_billions_are_found_without_a_list_of_its_messages() -> None:
    part = WirePartition("broker-a", "orders", 0, 0, 10**12)
    options = SourceOptions(topics=("orders",), name_servers=("unused:1",))
    first = [(each.begin, each.end, each.only) for each in islice(_pieces([part], options, BytesRead()), 2)]
    last = [(each.begin, each.end) for each in islice(_pieces([part], options, BytesRead(), backwards=True), 2)]
    assert first == [(0, 10, None), (10, 30, None)]
    assert last == [(10**12 - 10, 10**12), (10**12 - 30, 10**12 - 10)]
