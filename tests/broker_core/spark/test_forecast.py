"""What a job would read: counts by queue, with and without filters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core.spark import forecast as forecasts
from broker_core.spark.forecast import QueueForecast, forecast, samples_of
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import read_rows
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


def found(store: Path, **changes: Any) -> tuple[list[QueueForecast], SourceOptions]:
    options = SourceOptions(topics=("orders",), stores=(store,), brokers=("broker-a",), **changes)
    by_queue = plan_by_queue(options)
    return forecast([by_queue[key] for key in sorted(by_queue)], options, on_rows=lambda _: True), options


@pytest.mark.parametrize("filters", [{}, {"tags": frozenset({"A", "B"})}])
def test_counts_bytes_and_ends_are_the_same_however_they_are_found(store: Path, filters: dict[str, Any]) -> None:
    queues, options = found(store, **RANGE, **filters)
    assert [queue.messages for queue in queues] == [741, 740]
    everything = found(store, **RANGE, tags=frozenset({"A", "B"}))[0]
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
    (queue,), _ = found(tmp_path, tags=frozenset({"A"}))
    assert (queue.messages, queue.damaged) == (3, 1)


def test_an_empty_range_has_no_ends(store: Path) -> None:
    queues, options = found(store, starting_timestamp=NOW + 10**6)
    assert sum(queue.messages for queue in queues) == 0
    assert samples_of(queues, options) == {"first": [], "last": []}


def test_only_the_ends_of_an_unfiltered_range_are_decoded(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*asked: Any) -> Any:
        for rows in read_rows(*asked):
            seen.append(rows.num_rows)
            yield rows

    seen: list[int] = []
    monkeypatch.setattr(forecasts, "read_rows", read)
    monkeypatch.setattr(forecasts, "_PIECE", 100)
    queues = found(store)[0]
    assert [queue.messages for queue in queues] == [1500, 1500]
    assert sum(seen) == 400
    # So whether any between them is damaged is not known
    assert [queue.damaged for queue in queues] == [None, None]


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
