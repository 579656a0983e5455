"""Segments that are removed, or cut off, while a topic is read: what is gone is named, nothing is read twice."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from broker_core.client.blocking import BlockingSession
from broker_core.spark.errors import DataLoss
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition
from broker_core.spark.reading import plan, read_rows
from broker_core.spark.source import RocketMQSource
from broker_core.spark.stores import open_store_with
from tests.support.cluster import RunningBroker, started_broker
from tests.support.hard_store import list_topic
from tests.support.stores import queue_file, segment
from tests.support.topics import orders, write_topic
from tests.support.wait import wait_until

pytestmark = pytest.mark.spark

SEGMENT_BYTES = 16 * 1024
COUNT = 600
"""Messages in two queues: six to seven segments."""
DAYS_4_S = 4 * 24 * 3600


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of small segments."""
    write_topic(tmp_path / "broker", orders(COUNT), segment_bytes=SEGMENT_BYTES)
    return tmp_path / "broker"


def unlink(store: Path) -> int:
    """Remove the oldest segment by hand; return where the log begins then."""
    segments = sorted((store / "commitlog").iterdir())
    segments[0].unlink()
    return int(segments[1].name)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with such a store."""
    data = tmp_path_factory.mktemp("gone")
    write_topic(data / "broker", orders(COUNT), segment_bytes=SEGMENT_BYTES)
    list_topic(data / "broker", "orders")
    with started_broker(data, settings={"maxHashSlotNum": "100", "maxIndexNum": "400"}) as broker:
        yield broker


def expire(running: RunningBroker) -> int:
    """Let the oldest segment be four days old and the broker remove it; return where the log begins then."""
    segments = sorted((running.store / "commitlog").iterdir())
    old = time.time() - DAYS_4_S
    os.utime(segments[0], (old, old))
    with BlockingSession(running.config) as session:
        session.run(session.admin.maintenance.drop_expired_of(running.address))
    assert not segments[0].exists()
    return int(segments[1].name)


def options_of(store: Path, **changes: Any) -> SourceOptions:
    return SourceOptions(topics=("orders",), stores=(store,), brokers=("broker-a",), **changes)


def table(spark: SparkSession, way: str, place: str, **options: str) -> DataFrame:
    spark.dataSource.register(RocketMQSource)
    read = spark.read.format("rocketmq").option(way, place).option("topic", "orders")
    return read.options(columns="queue_id,queue_offset,log_offset,body", **options).load()


def read_on(rows: Iterator[Any], found: list[tuple[int, int, int]]) -> None:
    for row in rows:
        found.append((row.queue_id, row.queue_offset, row.log_offset))


@pytest.mark.parametrize("way", ["store", "nameServer"])
def test_a_segment_that_is_removed_during_a_read_is_named_or_left_out_once(
    spark: SparkSession, running: RunningBroker, way: str
) -> None:
    place = str(running.store) if way == "store" else running.name_server
    everything = [tuple(row) for row in table(spark, way, place).drop("body").collect()]
    # Given a read whose first queue is read, and of whose second queue nothing is read yet
    strict = table(spark, way, place).toLocalIterator()
    found = [next(strict)[:3]]
    # When the broker removes the oldest segment
    begin = expire(running)
    # Then the read ends, and names what is gone
    with pytest.raises(Py4JJavaError) as raised:
        read_on(strict, found)
    first = [row for row in everything if row[0] == 0]
    gone = [row for row in everything if row[0] == 1 and row[2] < begin]
    assert found == first
    said = f"DataLoss: broker-a topic=orders queue=1: messages {gone[0][1]} to {gone[-1][1]} are gone: "
    assert said in str(raised.value)
    # When such a read may lose messages, and another segment goes
    lax = table(spark, way, place, failOnDataLoss="false").toLocalIterator()
    found = [next(lax)[:3]]
    left = [row for row in everything if row[2] >= begin]
    begin = expire(running)
    read_on(lax, found)
    # Then the rest is read, nothing twice
    assert found == [row for row in left if row[0] == 0 or row[2] >= begin]


@pytest.mark.parametrize("way", ["store", "nameServer"])
def test_what_is_left_out_is_told(running: RunningBroker, way: str, caplog: pytest.LogCaptureFixture) -> None:
    where = {"stores": (running.store,), "brokers": ("broker-a",)}
    options = SourceOptions(
        topics=("orders",), queues=frozenset({(None, 1)}), fail_on_data_loss=False, pull_batch_size=8,
        **(where if way == "store" else {"name_servers": (running.name_server,)}),
    )  # fmt: skip
    (part,) = plan(options)
    batches = read_rows(part, options, ("queue_offset", "log_offset"))
    wanted = [row for batch in read_rows(part, options, ("queue_offset", "log_offset")) for row in batch.to_pylist()]
    if way == "nameServer":
        # Its first eight messages are read before the others go.
        assert next(batches).num_rows == 8
    begin = expire(running)
    found = [row for batch in batches for row in batch.to_pylist()]
    lost = [row["queue_offset"] for row in wanted[8 if way == "nameServer" else 0 :] if row["log_offset"] < begin]
    assert found == [row for row in wanted if row["log_offset"] >= begin]
    text = f"broker-a topic=orders queue=1: messages {lost[0]} to {lost[-1]} are gone: "
    assert [text in message for message in caplog.messages] == [True]


def test_a_range_whose_segments_are_open_is_read_to_its_end(store: Path) -> None:
    options = options_of(store)
    (first, second) = plan(options)
    batches = read_rows(first, options, ("queue_offset",))
    found = next(batches).column(0).to_pylist()
    for _ in range(3):
        unlink(store)
    found += [offset for batch in batches for offset in batch.column(0).to_pylist()]
    assert found == list(range(COUNT // 2))
    # The next task opens the store as it is now.
    with pytest.raises(
        DataLoss, match=r"broker-a topic=orders queue=1: messages 0 to \d+ are gone: the queue begins at"
    ):
        list(read_rows(second, options, ("queue_offset",)))


def cut_log(store: Path) -> None:
    os.truncate(segment(store, SEGMENT_BYTES), 100)


def cut_queue(store: Path) -> None:
    os.truncate(queue_file(store, "orders", 0), 100)


@pytest.mark.parametrize(
    ("cut", "reason"),
    [(cut_log, r"no segment has log offset \d+ any more"), (cut_queue, "the file of the queue was cut off")],
    ids=["segment", "queue"],
)
def test_a_file_that_is_cut_off_under_its_map_is_loss_and_kills_nothing(
    store: Path, cut: Callable[[Path], None], reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As by copying over a folder that is read: the next touch of such a map would end the process with SIGBUS."""
    options = options_of(store)
    (part, *_) = plan(options)
    assert isinstance(part, FilePartition)
    # Given a worker that keeps the store open
    wait_until(lambda: open_store_with(store, "orders", 0, 10) is open_store_with(store, "orders", 0, 10))
    (batch, *_) = read_rows(replace(part, end=10), options, ("queue_offset", "body"))
    assert batch.num_rows == 10
    cut(store)
    # Then the next range says what is gone
    with pytest.raises(DataLoss, match=f"queue=0: messages .* are gone: {reason}"):
        list(read_rows(part, options, ("queue_offset", "body")))
    lax = replace(options, fail_on_data_loss=False)
    found = [row for batch in read_rows(part, lax, ("queue_offset",)) for row in batch.column(0).to_pylist()]
    assert len(found) == len(set(found)) < COUNT // 2
    assert re.search(reason, caplog.text)
