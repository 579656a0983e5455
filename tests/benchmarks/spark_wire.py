"""Reading a topic through Spark over the wire, beside reading the same messages from the files of their broker.

``python -m tests.benchmarks.spark_wire [messages]``: one broker in a process of its own and a local Spark of two cores
share this machine. Rounds alternate in one session and the first are left out, since the JVM warms up; figures are
the best of the others. Wanted are 120,000 messages a second on two idle cores.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from broker_core.spark.session import SessionConfig, start
from tests.benchmarks.measure import Row
from tests.support.cluster import RunningBroker, started_broker
from tests.support.replays import fill_topic, make_topic

MESSAGES = 300_000
SIZES = (1024, 100)
WARM_ROUNDS = 2
ROUNDS = 4
BATCH = 256
QUEUES = 4


def messages_of(size: int, count: int) -> list[Message]:
    """Return messages with a key, a tag and a property."""
    body = b"x" * size
    return [
        Message.create("t", body, keys=[f"o-{n:08d}"], tag="A", properties={"source": "shop"}) for n in range(count)
    ]


def seconds(spark: SparkSession, topic: str, **place: str) -> float:
    """Return how long it takes to read all columns of a topic."""
    frame = spark.read.format("rocketmq").options(topic=topic, **place)
    started = time.perf_counter()
    frame.load().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def compare(spark: SparkSession, running: RunningBroker, topic: str) -> tuple[float, float]:
    """Return the best seconds of the rounds that count, over the wire and from files."""
    ways = {"nameServer": running.name_server}, {"store": str(running.store), "broker": running.broker_name}
    rounds = [[seconds(spark, topic, **way) for way in ways] for _ in range(WARM_ROUNDS + ROUNDS)]
    wire, files = (min(each) for each in zip(*rounds[WARM_ROUNDS:], strict=True))
    return wire, files


def run(messages: int = MESSAGES) -> list[Row]:
    """Return the rates of messages of 1 KiB and of 100 bytes."""
    rows = []
    with tempfile.TemporaryDirectory() as name, started_broker(Path(name) / "broker") as running:
        with BlockingSession(running.config) as session:
            for size in SIZES:
                make_topic(session, f"of-{size}", queues=QUEUES)
                fill_topic(session, f"of-{size}", messages_of(size, messages), per_batch=BATCH)
        config = SessionConfig(app_name="wire", work_dir=Path(name), cache=Path(name) / "cache", master="local[2]")
        spark = start(config)
        for size in SIZES:
            wire, files = compare(spark, running, f"of-{size}")
            rows.append(Row(f"spark over the wire, {size} B", messages / wire, "msg/s", "files", messages / files))
        spark.stop()
    return rows


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES):
        print(row.text())
