"""Reading a topic from a real broker, beside reading the same topic from its files."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.spark.errors import UnknownOption, Unreachable
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import WirePartition
from broker_core.spark.reading import plan, read_rows
from tests.support.cluster import RunningBroker
from tests.support.replays import fill_topic, make_topic
from tests.support.topics import orders

COLUMNS = ("broker", "queue_id", "queue_offset", "log_offset", "message_id", "keys", "tag", "body", "properties")
_names = count(1)


@pytest.fixture
def topic(session: BlockingSession) -> str:
    """A topic with 3000 orders."""
    name = f"orders-{next(_names)}"
    make_topic(session, name)
    fill_topic(session, name, orders(3000))
    return name


def read(options: SourceOptions) -> list[dict[str, Any]]:
    found = [row for part in plan(options) for batch in read_rows(part, options, COLUMNS) for row in batch.to_pylist()]
    return sorted(found, key=lambda row: (row["queue_id"], row["queue_offset"]))


def from_wire(running: RunningBroker, topic: str, **changes: Any) -> SourceOptions:
    return SourceOptions(topics=(topic,), name_servers=(running.name_server,), **changes)


def from_files(running: RunningBroker, topic: str, **changes: Any) -> SourceOptions:
    return SourceOptions(topics=(topic,), stores=(running.data / "broker",), brokers=("broker-a",), **changes)


def test_the_wire_tells_what_the_files_tell(shared_broker: RunningBroker, topic: str) -> None:
    found = read(from_wire(shared_broker, topic))
    assert len(found) == 3000
    assert found == read(from_files(shared_broker, topic))


def test_filters_and_ranges_hold_over_the_wire(shared_broker: RunningBroker, topic: str) -> None:
    for changes in (
        {"tags": frozenset({"B"})},
        {"keys": frozenset({"k17", "k2999"})},
        {"queues": frozenset({(None, 1)})},
        {"starting_offsets": {topic: {"broker-a": {0: 100, 1: 1499}}}},
    ):
        options: dict[str, Any] = dict(changes)
        assert read(from_wire(shared_broker, topic, **options)) == read(from_files(shared_broker, topic, **options))


def test_a_time_range_is_found_by_looking(shared_broker: RunningBroker, topic: str) -> None:
    everything = from_wire(shared_broker, topic)
    (first, *_) = plan(everything)
    stored = [
        row.timestamp() * 1000
        for batch in read_rows(first, everything, ("store_timestamp",))
        for row in batch.column(0).to_pylist()
    ]
    middle = round(stored[len(stored) // 2])
    found = read(from_wire(shared_broker, topic, starting_timestamp=middle))
    assert found == read(from_files(shared_broker, topic, starting_timestamp=middle))
    assert 0 < len(found) < 3000


def test_a_plan_is_a_snapshot(shared_broker: RunningBroker, session: BlockingSession, topic: str) -> None:
    options = from_wire(shared_broker, topic)
    planned = plan(options)
    fill_topic(session, topic, orders(10))
    assert sum(batch.num_rows for part in planned for batch in read_rows(part, options, ("body",))) == 3000
    assert planned[0] == WirePartition("broker-a", topic, 0, 0, 1600)


def test_an_unknown_topic_names_the_nearest_one(shared_broker: RunningBroker, topic: str) -> None:
    with pytest.raises(UnknownOption, match="did you mean"):
        plan(from_wire(shared_broker, topic.replace("ord", "or")))


def test_a_name_server_that_is_away_is_said_so(shared_broker: RunningBroker) -> None:
    with pytest.raises(Unreachable):
        plan(SourceOptions(topics=("orders",), name_servers=("127.0.0.1:1",)))
