"""Writing to a real broker: order, queues, rates, and what a repeated batch leaves behind."""

from __future__ import annotations

import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from broker_core.client.blocking import BlockingSession
from broker_core.client.selection import queue_for_key
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import StoredMessage
from broker_core.spark.errors import BadOption, NotSent, RowRefused
from broker_core.spark.sink_batches import BatchSender, Counts, Origin
from broker_core.spark.sink_options import QueueSelector, SinkOptions
from broker_core.spark.sink_rows import RowReader
from tests.support.cluster import RunningBroker
from tests.support.replays import make_topic, read_topic
from tests.support.topics import orders, write_topic

_names = count(1)
FIRST = Origin("r1", "", 0)


@pytest.fixture
def topic(session: BlockingSession) -> str:
    """A topic with two queues and nothing in it."""
    name = f"written-{next(_names)}"
    make_topic(session, name)
    return name


def send(
    session: BlockingSession,
    topic: str,
    columns: dict[str, Any],
    selector: QueueSelector = QueueSelector.ROUND_ROBIN,
    origin: Origin | None = None,
    **options: Any,
) -> Counts:
    given = SinkOptions(name_servers=("unused:1",), topic=topic, **options)
    sender = BatchSender(session, given, selector, task=0, origin=origin)
    for row in RowReader(topic, 0).rows(pa.RecordBatch.from_pydict(columns)):
        sender.put(row)
    return sender.finish()


def bodies(session: BlockingSession, topic: str) -> dict[int, list[str]]:
    return {queue: [m.body.decode() for m in found] for queue, found in read_topic(session, topic).items()}


def everything(session: BlockingSession, topic: str) -> list[StoredMessage]:
    return [message for found in read_topic(session, topic).values() for message in found]


def numbers(amount: int) -> list[str]:
    return [str(number) for number in range(amount)]


def test_batches_go_round_and_keep_their_order(session: BlockingSession, topic: str) -> None:
    counts = send(session, topic, {"body": numbers(100)}, batch_bytes=1000)
    found = bodies(session, topic)
    assert (counts.sent, counts.known) == (100, 0)
    assert sorted((body for each in found.values() for body in each), key=int) == numbers(100)
    assert all(each == sorted(each, key=int) for each in found.values())
    assert len(found[0]) == pytest.approx(50, abs=20)


def test_a_key_has_one_queue_and_its_order(session: BlockingSession, topic: str) -> None:
    keys = [f"k{number % 7}" for number in range(70)]
    send(session, topic, {"body": numbers(70), "key": keys}, QueueSelector.KEY)
    queues = [MessageQueue(topic, "broker-a", number) for number in (0, 1)]
    for queue, found in read_topic(session, topic).items():
        assert {queue_for_key(queues, message.keys[0]).queue_id for message in found} <= {queue}
        for key in {message.keys[0] for message in found}:
            mine = [int(message.body) for message in found if message.keys == [key]]
            assert mine == [number for number in range(70) if f"k{number % 7}" == key]


def test_a_row_may_name_its_queue(session: BlockingSession, topic: str) -> None:
    send(session, topic, {"body": numbers(6), "queue_id": [1, 0, 1, 0, 1, 1]}, QueueSelector.SAME)
    assert bodies(session, topic) == {0: ["1", "3"], 1: ["0", "2", "4", "5"]}
    with pytest.raises(RowRefused, match="no writable queue 7"):
        send(session, topic, {"body": ["x"], "queue_id": [7]}, QueueSelector.SAME)


def test_a_rate_is_kept(session: BlockingSession, topic: str) -> None:
    began = time.monotonic()
    send(session, topic, {"body": numbers(31)}, messages_per_second=60)
    # The first batch goes at once.
    assert time.monotonic() - began >= 25 / 60


def test_a_batch_that_is_sent_again_is_recognised(session: BlockingSession, topic: str) -> None:
    rows = {"body": numbers(50), "key": numbers(50)}
    assert send(session, topic, rows, origin=FIRST, batch_bytes=40_000) == Counts(50, 0, 90)
    assert send(session, topic, rows, origin=FIRST, batch_bytes=40_000) == Counts(0, 50, 0)
    assert len(everything(session, topic)) == 50


def test_only_a_batch_of_the_same_content_is_taken_for_the_same(session: BlockingSession, topic: str) -> None:
    send(session, topic, {"body": ["1", "2"]}, origin=FIRST)
    for rows, origin in (
        ({"body": ["1", "3"]}, FIRST),
        ({"body": ["1", "2"]}, Origin("r2", "", 0)),
        ({"body": ["1", "2"]}, Origin("r1", "7", 0)),
    ):
        assert send(session, topic, rows, origin=origin).sent == 2
    assert len(everything(session, topic)) == 8


def test_without_an_origin_the_same_rows_are_sent_again(session: BlockingSession, topic: str) -> None:
    for _ in range(2):
        send(session, topic, {"body": ["1"]})
    assert len(everything(session, topic)) == 2


def test_provenance_names_the_replay_and_the_batch(session: BlockingSession, topic: str) -> None:
    send(session, topic, {"body": ["1"]}, origin=Origin("r1", "4", 0), provenance=True, replay_id="r1")
    (message,) = everything(session, topic)
    assert message.properties["GANTRY_JOB"] == "r1"
    assert message.properties["GANTRY_SRC"] == "r1/4/0/1"


def test_what_no_broker_accepts_is_an_error_that_names_it(session: BlockingSession, topic: str) -> None:
    with pytest.raises(RowRefused, match="keys 'k1': message of"):
        send(session, topic, {"body": [b"x" * (4 << 20) + b"y"], "key": ["k1"]})
    with pytest.raises(BadOption, match="does not exist"):
        send(session, "nowhere", {"body": ["x"]})
    with pytest.raises(BadOption, match="has no writable queue"):
        send(session, topic, {"body": ["x"]}, brokers=("broker-z",))


def test_a_broker_that_restarts_is_waited_for(
    session: BlockingSession, shared_broker: RunningBroker, topic: str
) -> None:
    send(session, topic, {"body": ["1"]}, origin=FIRST)
    shared_broker.stop()
    with pytest.raises(NotSent, match="0 retries"):
        send(session, topic, {"body": ["2"]}, retries=0)
    starting = threading.Timer(0.5, shared_broker.start)
    starting.start()
    assert send(session, topic, {"body": ["3"]}, origin=FIRST, retries=30).sent == 1
    starting.join()
    assert sorted(message.body.decode() for message in everything(session, topic)) == ["1", "3"]


@pytest.fixture
def to(shared_broker: RunningBroker, topic: str) -> dict[str, str]:
    """The options of a writer."""
    return {"nameServer": shared_broker.name_server, "topic": topic}


@pytest.mark.spark
def test_a_dataframe_is_written_and_read_back(
    spark: SparkSession, session: BlockingSession, to: dict[str, str]
) -> None:
    table = spark.range(40).selectExpr(
        "cast(id as string) body", "concat('k', id) key", "'A' tag", "map('colour', 'red') properties",
        "cast(id % 2 as int) queue_id",
    )  # fmt: skip
    table.repartition(2).write.format("rocketmq").options(**to, replayId="one").mode("append").save()
    read = spark.read.format("rocketmq").options(**to).load()
    found = read.selectExpr("cast(body as string)", "key", "tag", "properties['colour']", "queue_id")
    assert sorted(found.collect()) == sorted(table.withColumn("properties", col("properties")["colour"]).collect())
    assert session.run(session.admin.messages.search(to["topic"], "k7")).messages[0].message.body == b"7"


@pytest.mark.spark
def test_a_topic_is_not_overwritten_and_takes_no_unknown_column(spark: SparkSession, to: dict[str, str]) -> None:
    table = spark.range(1).selectExpr("cast(id as string) body")
    with pytest.raises(PySparkException, match="only appended to"):
        table.write.format("rocketmq").options(**to).mode("overwrite").save()
    with pytest.raises(PySparkException, match="unknown column to write 'bodie'"):
        table.withColumn("bodie", col("body")).write.format("rocketmq").options(**to).mode("append").save()
    with pytest.raises(AnalysisException, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
        table.write.format("rocketmq").options(**to).save()


@pytest.mark.spark
def test_a_stream_that_repeats_a_batch_stores_it_once(
    spark: SparkSession, session: BlockingSession, tmp_path: Path, to: dict[str, str]
) -> None:
    """A crash after the last send and before the note in the checkpoint, made by taking the note away."""
    write_topic(tmp_path / "store", orders(20))
    checkpoint = tmp_path / "checkpoint"
    for _ in range(2):
        stream = spark.readStream.format("rocketmq").options(
            store=str(tmp_path / "store"), topic="orders", startingOffsets="earliest"
        )
        written = stream.load().select("body", "keys", "tag").writeStream.format("rocketmq").options(**to)
        written.trigger(availableNow=True).start(checkpointLocation=str(checkpoint)).awaitTermination()
        noted = [checkpoint / "commits" / name for name in ("0", ".0.crc")]
        assert noted[0].exists()
        for each in noted:
            each.unlink(missing_ok=True)
    found = everything(session, to["topic"])
    assert sorted(message.keys[0] for message in found) == sorted(f"k{number}" for number in range(20))
