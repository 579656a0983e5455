"""Writing to a real broker: order, queues, rates, and what a repeated batch leaves behind."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from functools import cache
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
PAGE = Path(__file__).resolve().parents[3] / "docs/spark.md"
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
    limits = cache(lambda: session.run(session.admin.timers.limits()))
    for row in RowReader(given, 0, limits).rows(pa.RecordBatch.from_pydict(columns)):
        sender.put(row)
    return sender.finish()


def bodies(session: BlockingSession, topic: str) -> dict[int, list[str]]:
    return {queue: [m.body.decode() for m in found] for queue, found in read_topic(session, topic).items()}


def everything(session: BlockingSession, topic: str) -> list[StoredMessage]:
    return [message for found in read_topic(session, topic).values() for message in found]


def change_settings(session: BlockingSession, broker: RunningBroker, settings: dict[str, str]) -> None:
    session.run(session.admin.maintenance.change_settings_of(broker.address, settings))


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
    for queue, said in ((7, "there is no writable queue 7"), (None, "null is no queue")):
        with pytest.raises(RowRefused, match=f"row 1 of task 0: column queue_id: {said} of topic"):
            send(session, topic, {"body": ["x", "y"], "queue_id": [0, queue]}, QueueSelector.SAME)


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


@pytest.mark.parametrize("selector", [QueueSelector.ROUND_ROBIN, QueueSelector.KEY])
def test_rows_are_recognised_however_they_are_cut_into_batches(
    session: BlockingSession, topic: str, selector: QueueSelector
) -> None:
    rows = {"body": numbers(50), "key": numbers(50)}
    send(session, topic, {name: column[:30] for name, column in rows.items()}, selector, FIRST, messages_per_second=70)
    cut = [{"batch_bytes": 4_000}, {"batch_bytes": 40_000}, {"messages_per_second": 110}]
    first, *others = [send(session, topic, rows, selector, FIRST, **options) for options in cut]
    assert (first.sent, first.known) == (20, 30)
    assert others == [Counts(0, 50, 0)] * 2
    assert sorted(message.body for message in everything(session, topic)) == sorted(map(str.encode, numbers(50)))


def test_only_rows_of_the_same_content_are_taken_for_the_same(session: BlockingSession, topic: str) -> None:
    send(session, topic, {"body": ["1", "2", "2"]}, origin=FIRST)
    for rows, origin, sent in (
        ({"body": ["1", "3", "2"]}, FIRST, 2),
        ({"body": ["1", "2", "2"]}, Origin("r2", "", 0), 3),
        ({"body": ["1", "2", "2"]}, Origin("r1", "7", 0), 3),
    ):
        assert send(session, topic, rows, origin=origin).sent == sent
    assert len(everything(session, topic)) == 11


def test_without_an_origin_the_same_rows_are_sent_again(session: BlockingSession, topic: str) -> None:
    for _ in range(2):
        send(session, topic, {"body": ["1"]})
    assert len(everything(session, topic)) == 2


def test_provenance_names_the_replay_and_the_original_where_a_row_tells_it(
    session: BlockingSession, topic: str
) -> None:
    rows = {"body": ["1", "2"], "source": ["local/broker-a/orders/0/17", None]}
    send(session, topic, rows, origin=Origin("r1", "4", 0), provenance=True, replay_id="r1")
    copies = everything(session, topic)
    assert {each.properties["GANTRY_JOB"] for each in copies} == {"r1"}
    assert sorted(each.properties.get("GANTRY_SRC", "") for each in copies) == ["", "local/broker-a/orders/0/17"]


def test_what_no_broker_accepts_is_an_error_that_names_it(session: BlockingSession, topic: str) -> None:
    with pytest.raises(BadOption, match="does not exist"):
        send(session, "nowhere", {"body": ["x"]})
    with pytest.raises(BadOption, match="has no writable queue"):
        send(session, topic, {"body": ["x"]}, brokers=("broker-z",))


def test_what_a_broker_refuses_is_named_by_its_row_without_its_values(
    session: BlockingSession, shared_broker: RunningBroker, topic: str
) -> None:
    change_settings(session, shared_broker, {"limitPropertiesBytes": "200"})
    rows: dict[str, Any] = {"body": ["a", "b", "c"], "key": ["k1", "k2" * 150, "k3"]}
    try:
        with pytest.raises(RowRefused, match=r"row 1 of task 0: .*properties of") as refused:
            send(session, topic, rows, batch_bytes=1)
    finally:
        change_settings(session, shared_broker, {"limitPropertiesBytes": "32767"})
    assert "k2" not in str(refused.value)
    assert [message.body for message in everything(session, topic)] == [b"a"]


def test_a_delivery_time_beyond_what_the_cluster_keeps_is_refused(session: BlockingSession, topic: str) -> None:
    at = datetime.now(UTC) + timedelta(days=400)
    with pytest.raises(RowRefused, match="column deliver_at: it is further away than the cluster keeps messages"):
        send(session, topic, {"body": ["x"], "deliver_at": pa.array([at], pa.timestamp("us", tz="UTC"))})


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


REFUSED = "Whatever the HTTP API refuses is refused here, too, batch and stream alike"


@pytest.mark.spark
def test_what_http_refuses_is_refused_in_a_batch_and_in_a_stream(
    spark: SparkSession, session: BlockingSession, tmp_path: Path, to: dict[str, str]
) -> None:
    """The sentence of docs/spark.md."""
    assert REFUSED in PAGE.read_text(encoding="utf-8")
    wrong = "map('GANTRY_SRC', 'top secret') properties"
    table = spark.range(2).selectExpr("cast(id as string) body", wrong)
    said = r"row 0 of task \d+: column properties: the name 'GANTRY_SRC' is reserved.*\(0 messages of this task"
    with pytest.raises(PySparkException, match=said) as refused:
        table.write.format("rocketmq").options(**to).mode("append").save()
    assert "top secret" not in str(refused.value)
    write_topic(tmp_path / "store", orders(2))
    stream = spark.readStream.format("rocketmq").options(
        store=str(tmp_path / "store"), topic="orders", startingOffsets="earliest"
    )
    written = stream.load().selectExpr("body", wrong).writeStream.format("rocketmq").options(**to)
    query = written.trigger(availableNow=True).start(checkpointLocation=str(tmp_path / "checkpoint"))
    with pytest.raises(PySparkException, match=said):
        query.awaitTermination()
    assert not everything(session, to["topic"])


@pytest.mark.spark
def test_messages_that_were_read_are_written_as_copies(
    spark: SparkSession, session: BlockingSession, tmp_path: Path, to: dict[str, str]
) -> None:
    write_topic(tmp_path / "store", orders(3))
    read = spark.read.format("rocketmq").options(store=str(tmp_path / "store"), topic="orders").load()
    copies = read.select("body", "properties").write.format("rocketmq").mode("append")
    with pytest.raises(PySparkException, match="copyProperties=true"):
        copies.options(**to).save()
    copies.options(**to, copyProperties="true").save()
    found = everything(session, to["topic"])
    originals = {row["key"]: row for row in read.select("key", "tag", "unique_id").collect()}
    assert {message.keys[0]: message.tag for message in found} == {k: row["tag"] for k, row in originals.items()}
    assert not {message.unique_id for message in found} & {row["unique_id"] for row in originals.values()}


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
