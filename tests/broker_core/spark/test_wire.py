"""Reading a topic from a real broker, compared with reading its files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.client.producer import Producer
from broker_core.spark.errors import DataLoss, UnknownOption, Unreachable
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import WirePartition
from broker_core.spark.reading import plan, read_rows
from broker_core.spark.rows import MOST_BATCH_BYTES
from broker_core.spark.stream import RocketMQStreamReader
from broker_core.spark.wire import MOST_BYTES, read_wire_blocks
from broker_core.store.reader import StoreReader
from tests.support.cluster import RunningBroker, create_topic, several_brokers
from tests.support.replays import fill_topic, make_topic
from tests.support.stores import overwrite, segment
from tests.support.topics import order, orders
from tests.support.wait import eventually, wait_until

COLUMNS = ("broker", "queue_id", "queue_offset", "log_offset", "message_id", "keys", "tag", "body", "properties")
_names = count(1)


@pytest.fixture
def topic(session: BlockingSession) -> str:
    """A topic with 3000 orders."""
    name = f"orders-{next(_names)}"
    make_topic(session, name)
    fill_topic(session, name, orders(3000))
    return name


def read(options: SourceOptions, columns: Sequence[str] = COLUMNS) -> list[dict[str, Any]]:
    found = [row for part in plan(options) for batch in read_rows(part, options, columns) for row in batch.to_pylist()]
    return sorted(found, key=lambda row: (row.get("queue_id", 0), row["queue_offset"]))


def from_wire(running: RunningBroker, topic: str, **changes: Any) -> SourceOptions:
    return SourceOptions(topics=(topic,), name_servers=(running.name_server,), **changes)


def from_files(running: RunningBroker, topic: str, **changes: Any) -> SourceOptions:
    return SourceOptions(topics=(topic,), stores=(running.data / "broker",), brokers=("broker-a",), **changes)


def test_the_wire_returns_what_the_files_contain(shared_broker: RunningBroker, topic: str) -> None:
    found = read(from_wire(shared_broker, topic))
    assert len(found) == 3000
    assert found == read(from_files(shared_broker, topic))


def test_filters_and_ranges_hold_over_the_wire(shared_broker: RunningBroker, topic: str) -> None:
    for changes in (
        {"tags": frozenset({"B"})},
        {"keys": frozenset({"k17", "k2999"})},
        {"queues": frozenset({(None, 1)})},
        {"starting_offsets": {topic: {"broker-a": {0: 100, 1: 1399}}}},
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


@pytest.mark.parametrize("least", [1, 4, 7, 1_000_000])
def test_a_read_is_cut_by_numbers_of_messages(shared_broker: RunningBroker, topic: str, least: int) -> None:
    options = from_wire(shared_broker, topic, min_partitions=least)
    parts = plan(options)
    assert min(least, 1000) <= len(parts) <= min(least, 1000) + 4
    assert read(options) == read(from_wire(shared_broker, topic))


def test_an_unknown_topic_names_the_nearest_one(shared_broker: RunningBroker, topic: str) -> None:
    with pytest.raises(UnknownOption, match="did you mean"):
        plan(from_wire(shared_broker, topic.replace("ord", "or")))


def test_a_broker_that_is_not_there_is_an_error_and_not_everything(shared_broker: RunningBroker, topic: str) -> None:
    with pytest.raises(UnknownOption, match=r"unknown broker 'broker-z'.*known: broker-a"):
        plan(from_wire(shared_broker, topic, brokers=("broker-z",)))
    assert len(read(from_wire(shared_broker, topic, brokers=("broker-a",)))) == 3000
    with pytest.raises(UnknownOption, match=r"unknown queue in option queues '9'.*known: broker-a:0, broker-a:1"):
        plan(from_wire(shared_broker, topic, queues=frozenset({(None, 9)})))


def test_a_name_server_that_is_away_is_said_so(shared_broker: RunningBroker) -> None:
    with pytest.raises(Unreachable):
        plan(SourceOptions(topics=("orders",), name_servers=("127.0.0.1:1",)))


def test_large_messages_are_never_held_in_large_numbers(shared_broker: RunningBroker, session: BlockingSession) -> None:
    # Given 60 MiB in messages of 2 MiB, after some small ones
    name = f"large-{next(_names)}"
    make_topic(session, name, queues=1)
    bodies = [b"s", b"m" * 1000, *(bytes([number]) * (2 << 20) for number in range(30))]
    fill_topic(session, name, [order(number, body=body) for number, body in enumerate(bodies)], per_batch=1)
    # When they are read
    options = from_wire(shared_broker, name)
    (part,) = plan(options)
    assert isinstance(part, WirePartition)
    held = [len(block.records.data) for block in read_wire_blocks(part, options)]
    sizes, found = [], []
    for batch in read_rows(part, options, ("body",)):
        sizes.append(batch.nbytes)
        found += batch.column(0).to_pylist()
    # Then all are read, with a limited number of bytes at a time
    assert found == bodies
    assert max(held) <= MOST_BYTES + (3 << 20)
    assert max(sizes) <= MOST_BATCH_BYTES


def test_a_message_that_the_broker_leaves_out_is_reported(
    shared_broker: RunningBroker, session: BlockingSession
) -> None:
    # Given a topic in which one body has a flipped bit, which the broker detects and leaves out
    name = f"broken-{next(_names)}"
    make_topic(session, name, queues=1)
    marks = [b"%s:%d" % (name.encode(), number) for number in range(5)]
    fill_topic(session, name, [order(number, body=mark) for number, mark in enumerate(marks)])
    files = from_files(shared_broker, name)
    wait_until(lambda: len(read(files)) == 5)
    with StoreReader.open(shared_broker.data / "broker") as store:
        begin, size = read(files)[2]["log_offset"], store.segment_size
    log = segment(shared_broker.data / "broker", begin - begin % size)
    overwrite(log, log.read_bytes().index(marks[2], begin % size), b"#")
    # When it is read over the wire
    found = read(from_wire(shared_broker, name), ("queue_offset", "body", "_error"))
    # Then its row has the position and the damage
    assert [row["body"] for row in found] == [*marks[:2], None, *marks[3:]]
    assert [row["_error"] for row in found if row["_error"]] == ["the broker did not send a message for this offset"]


async def test_a_broker_that_is_away_is_missed_if_it_is_named_and_by_a_stream(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as cluster:
        async with cluster.session() as session:
            await create_topic(session, "shared", queues=2)
            producer = Producer(session)
            topics = Admin(session).topics

            async def is_at_both() -> bool:
                return len((await topics.route("shared")).read_queues) == 4

            await eventually(is_at_both)
            for each in (await topics.route("shared")).read_queues:
                await producer.send(order(1, topic="shared"), queue=each)
        options = SourceOptions(topics=("shared",), name_servers=(f"127.0.0.1:{cluster.name_server.port}",))
        found = await asyncio.to_thread(read, options, ("broker", "queue_id", "queue_offset"))
        assert sorted((row["broker"], row["queue_id"]) for row in found) == [
            ("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1)
        ]  # fmt: skip
        stream, lax = (
            RocketMQStreamReader(replace(options, fail_on_data_loss=may), ("body",)) for may in (True, False)
        )
        begin = await asyncio.to_thread(stream.initialOffset)
        await cluster.stop("broker-b")
        named = replace(options, brokers=("broker-a", "broker-b"))
        with pytest.raises(UnknownOption, match="unknown broker 'broker-b'"):
            await asyncio.to_thread(plan, named)
        with pytest.raises(DataLoss, match=r"broker-b topic=shared queue=0: .*its broker is away"):
            await asyncio.to_thread(stream.latestOffset, begin, ReadAllAvailable())
        end = await asyncio.to_thread(lax.latestOffset, begin, ReadAllAvailable())
        assert end["topics"]["shared"] == {"broker-a": {"0": 1, "1": 1}, "broker-b": {"0": 0, "1": 0}}
