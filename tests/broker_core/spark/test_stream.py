"""``readStream.format("rocketmq")``: offsets, limits, growth and loss; and a killed query goes on exactly."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from broker_core.client.blocking import BlockingSession
from broker_core.spark import stream
from broker_core.spark.errors import BadOption, DataLoss, QueueGone
from broker_core.spark.options import parse_source_options
from broker_core.spark.places import Places, QueuePlace, Reach
from broker_core.spark.stream import RocketMQStreamReader
from tests.support.cluster import RunningBroker
from tests.support.replays import fill_topic, make_topic
from tests.support.topics import order, orders, write_topic
from tests.support.wait import wait_until

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with ten orders in two queues."""
    write_topic(tmp_path / "store", orders(10))
    return tmp_path / "store"


def reader(store: Path, **options: str) -> RocketMQStreamReader:
    given = {"store": str(store), "topic": "orders", **options}
    return RocketMQStreamReader(parse_source_options(given, is_stream=True), ("body",))


def bodies(running: RocketMQStreamReader, start: Any, end: Any) -> list[str]:
    batches = [batch for part in running.partitions(start, end) for batch in running.read(part)]
    return sorted((body.decode() for batch in batches for body in batch.column(0).to_pylist()), key=len)


def rows(running: RocketMQStreamReader, start: Any, end: Any) -> int:
    return len(bodies(running, start, end))


def test_a_stream_starts_at_the_latest_message(store: Path) -> None:
    running = reader(store)
    start = running.initialOffset()
    assert running.latestOffset(start, ReadAllAvailable()) == start
    write_topic(store, orders(4))
    assert rows(running, start, running.latestOffset(start, ReadAllAvailable())) == 4


def test_a_first_batch_that_is_read_again_is_the_same_one(store: Path) -> None:
    running = reader(store)
    start = running.initialOffset()
    write_topic(store, orders(4))
    end = running.latestOffset(start, ReadAllAvailable())
    write_topic(store, orders(6))
    again = reader(store)
    # Only the end is in the checkpoint: the start is asked for again, and is later now.
    assert rows(again, again.initialOffset(), end) == 4
    assert rows(again, end, again.latestOffset(end, ReadAllAvailable())) == 6


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"startingOffsets": "earliest"}, 10),
        ({"startingOffsets": '{"orders":{"broker-a":{"0":3,"1":-1}}}'}, 2),
        ({"startingOffsets": '{"orders":{"broker-a":{"0":3}}}'}, 2 + 5),
        ({"startingTimestamp": "1700000000006"}, 4),
        ({"startingOffsetsByTimestamp": '{"orders":{"broker-a":{"0":1700000000006}}}'}, 2),
        ({"startingOffsets": "earliest", "queues": "1", "tags": "B"}, 5),
        ({"startingOffsets": "earliest", "keys": "k3"}, 1),
    ],
)
def test_a_stream_starts_where_the_options_say(store: Path, options: dict[str, str], count: int) -> None:
    running = reader(store, **options)
    start = running.initialOffset()
    assert rows(running, start, running.latestOffset(start, ReadAllAvailable())) == count


def test_a_limit_is_heeded_and_its_batches_leave_out_nothing(store: Path) -> None:
    running = reader(store, startingOffsets="earliest", maxOffsetsPerTrigger="4")
    limit = running.getDefaultReadLimit()
    assert limit == ReadMaxRows(4)
    start, counts = running.initialOffset(), []
    while (end := running.latestOffset(start, limit)) != start:
        counts.append(rows(running, start, end))
        start = end
    assert counts == [4, 4, 2]


def test_a_limit_of_bytes_is_heeded(store: Path) -> None:
    running = reader(store, startingOffsets="earliest", maxBytesPerTrigger="1000")
    start = running.initialOffset()
    found = rows(running, start, running.latestOffset(start, running.getDefaultReadLimit()))
    assert 2 <= found <= 6


def test_few_messages_wait_for_others_but_not_for_ever(store: Path) -> None:
    options = {"startingOffsets": "earliest", "minOffsetsPerTrigger": "11"}
    running = reader(store, **options)
    start, limit = running.initialOffset(), running.getDefaultReadLimit()
    assert running.latestOffset(start, limit) == start
    write_topic(store, orders(1))
    assert rows(running, start, running.latestOffset(start, limit)) == 11
    impatient = reader(store, **(options | {"minOffsetsPerTrigger": "99", "maxTriggerDelayMs": "1"}))
    assert impatient.latestOffset(start, limit) == start
    wait_until(lambda: impatient.latestOffset(start, limit) != start)


def test_what_comes_after_the_start_of_available_now_belongs_to_the_next_run(store: Path) -> None:
    running = reader(store, startingOffsets="earliest")
    running.prepareForTriggerAvailableNow()
    start = running.initialOffset()
    write_topic(store, orders(6, tags=("C",)), queues=3)
    end = running.latestOffset(start, ReadAllAvailable())
    assert rows(running, start, end) == 10
    assert running.latestOffset(end, ReadAllAvailable()) == end
    later = reader(store)
    assert rows(later, end, later.latestOffset(end, ReadAllAvailable())) == 6


def test_a_new_queue_is_read_from_its_first_message(store: Path) -> None:
    running = reader(store)
    start = running.initialOffset()
    write_topic(store, orders(6), queues=3)
    assert rows(running, start, running.latestOffset(start, ReadAllAvailable())) == 6


def test_a_new_topic_of_the_pattern_is_read_from_its_first_message(store: Path) -> None:
    given = {"store": str(store), "topicPattern": "orders.*"}
    running = RocketMQStreamReader(parse_source_options(given, is_stream=True), ("body",))
    start = running.initialOffset()
    write_topic(store, [order(n, topic="orders-eu") for n in range(3)])
    assert rows(running, start, running.latestOffset(start, ReadAllAvailable())) == 3


def test_lost_messages_end_the_stream_unless_allowed(store: Path, tmp_path: Path) -> None:
    strict, lax = reader(store), reader(store, failOnDataLoss="false")
    start = strict.initialOffset()
    shutil.rmtree(store)
    write_topic(store, orders(4))
    with pytest.raises(DataLoss, match="the stream is at 5, the queue ends at 2"):
        strict.latestOffset(start, ReadAllAvailable())
    assert rows(lax, start, lax.latestOffset(start, ReadAllAvailable())) == 4


def test_queues_that_are_listed_again_in_time_do_not_end_the_stream(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a name server that does not list the queues twice, as while their broker is restarted
    strict, real = reader(store), Places.reaches
    looks: list[Places] = []
    start = strict.initialOffset()

    def reaches(self: Places) -> Mapping[QueuePlace, Reach]:
        looks.append(self)
        return {} if len(looks) < 3 else real(self)

    monkeypatch.setattr(Places, "reaches", reaches)
    assert rows(strict, start, strict.latestOffset(start, ReadAllAvailable())) == 0
    assert len(looks) == 3
    # And that lists them no more
    monkeypatch.setattr(Places, "reaches", lambda _: {})
    monkeypatch.setattr(stream, "_GIVE_UP_AFTER_S", 0.1)
    with pytest.raises(QueueGone, match="or its broker is away"):
        strict.latestOffset(start, ReadAllAvailable())


def test_a_checkpoint_of_another_cluster_is_refused(store: Path) -> None:
    start = reader(store, cluster="east").initialOffset()
    with pytest.raises(BadOption, match="the checkpoint belongs to cluster 'east'"):
        reader(store, cluster="west").latestOffset(start, ReadAllAvailable())


def test_a_stream_over_the_wire_outlasts_a_restart_of_the_broker(
    session: BlockingSession, shared_broker: RunningBroker
) -> None:
    make_topic(session, "streamed")
    given = {"nameServer": shared_broker.name_server, "topic": "streamed", "maxBytesPerTrigger": "20000"}
    running = RocketMQStreamReader(parse_source_options(given, is_stream=True), ("body",))
    start, limit = running.initialOffset(), running.getDefaultReadLimit()
    assert start["cluster"] == "test"
    fill_topic(session, "streamed", orders(400))
    shared_broker.restart()
    counts = []
    while (end := running.latestOffset(start, limit)) != start:
        counts.append(rows(running, start, end))
        start = end
    assert sum(counts) == 400
    assert len(counts) > 2


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, str]:
    """The folders of a query."""
    return {name: str(tmp_path / name) for name in ("checkpoint", "table")}


def run_available(spark: SparkSession, folders: dict[str, str], **options: str) -> None:
    topic = spark.readStream.format("rocketmq").options(startingOffsets="earliest", **options).load()
    query = (
        topic.select("queue_id", "queue_offset", "key")
        .writeStream.format("parquet")
        .trigger(availableNow=True)
        .start(folders["table"], checkpointLocation=folders["checkpoint"])
    )
    query.awaitTermination()


@pytest.mark.spark
def test_a_query_reads_what_is_available_and_goes_on_from_its_checkpoint(
    spark: SparkSession, store: Path, folders: dict[str, str]
) -> None:
    options = {"store": str(store), "topic": "orders", "maxOffsetsPerTrigger": "6"}
    run_available(spark, folders, **options)
    assert spark.read.parquet(folders["table"]).count() == 10
    assert len(list(Path(folders["checkpoint"], "offsets").glob("[0-9]*"))) == 2
    write_topic(store, orders(5))
    run_available(spark, folders, **options)
    table = spark.read.parquet(folders["table"])
    assert (table.count(), table.distinct().count()) == (15, 15)


@pytest.mark.spark
@pytest.mark.crash
def test_a_query_outlasts_the_death_of_its_broker_and_name_server(
    spark: SparkSession, session: BlockingSession, shared_broker: RunningBroker, folders: dict[str, str]
) -> None:
    make_topic(session, "survived")
    fill_topic(session, "survived", orders(400))
    options = {"nameServer": shared_broker.name_server, "topic": "survived", "startingOffsets": "earliest"}
    topic = spark.readStream.format("rocketmq").options(**options).load()
    query = (
        topic.select("queue_id", "queue_offset")
        .writeStream.format("parquet")
        .start(folders["table"], checkpointLocation=folders["checkpoint"])
    )
    try:
        wait_until(lambda: Path(folders["checkpoint"], "commits/0").exists() or query.exception())
        shared_broker.restart(kill=True)
        fill_topic(session, "survived", orders(400))
        query.processAllAvailable()
    finally:
        query.stop()
    table = spark.read.parquet(folders["table"])
    assert (table.count(), table.distinct().count()) == (800, 800)


_PROGRAM = """
    import sys
    from pathlib import Path
    from broker_core.spark.session import SessionConfig, start

    store, cache, work, table, checkpoint = sys.argv[1:]
    spark = start(SessionConfig(app_name="killed", work_dir=Path(work), cache=Path(cache), master="local[2]",
                                is_short=True))
    stream = spark.readStream.format("rocketmq").options(
        store=store, topic="orders", startingOffsets="earliest", maxOffsetsPerTrigger="100").load()
    stream.select("queue_id", "queue_offset", "key").writeStream.format("parquet").trigger(availableNow=True).start(
        table, checkpointLocation=checkpoint).awaitTermination()
"""


@pytest.mark.spark
@pytest.mark.crash
def test_a_killed_query_goes_on_with_nothing_lost_or_doubled(
    spark: SparkSession, tmp_path: Path, spark_cache: Path, folders: dict[str, str]
) -> None:
    store, checkpoint = tmp_path / "store", Path(folders["checkpoint"])
    write_topic(store, orders(400), queues=3, segment_bytes=1 << 20)
    folder = [str(each) for each in (store, spark_cache, tmp_path / "work", folders["table"], checkpoint)]
    command = [sys.executable, "-c", textwrap.dedent(_PROGRAM), *folder]
    with subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL) as program:
        # In the middle of a batch: its offsets are written, its end is not.
        wait_until(lambda: (checkpoint / "offsets/1").exists())
        os.killpg(program.pid, signal.SIGKILL)
    assert not (checkpoint / "commits/1").exists()
    run_available(spark, folders, store=str(store), topic="orders")
    table = spark.read.parquet(folders["table"])
    assert (table.count(), table.distinct().count()) == (400, 400)
