"""Reading a topic through Spark, beside Spark reading the same rows from uncompressed Parquet.

``python -m tests.benchmarks.spark_scan [messages]``: rounds are interleaved in one session and the first ones are left
out, since the JVM warms up; figures are the best and the median of the others. A ratio of 1 is Parquet's speed;
wanted are 0.85 with all columns, 1 for the body, and 0.9 for five small ones.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from broker_core.protocol.message import Message
from broker_core.spark.schema import BY_REQUEST_ONLY, COLUMNS
from broker_core.spark.session import SessionConfig, start
from broker_core.store import MessageStore, StoreConfig
from tests.benchmarks.measure import Row
from tests.support.stores import NOW, put_batch

MESSAGES = 500_000
WARM_ROUNDS = 2
ROUNDS = 5
BATCH = 256
QUEUES = 4


def fill(folder: Path, messages: int) -> None:
    """Write messages of 1 KiB with keys, tag, unique id and two more properties."""
    config = StoreConfig(folder, commit_log_file_size=1 << 30, min_free_bytes=0)
    with MessageStore.open(config, now=NOW) as store:
        for begin in range(0, messages, BATCH):
            batch = [_message(number) for number in range(begin, min(begin + BATCH, messages))]
            put_batch(store, batch, topic="orders", queue_id=begin // BATCH % QUEUES, now=NOW + begin // 100)
            store.dispatch()


def _message(number: int) -> Message:
    body = (b'{"order":"o-%08d","amount":%d.50,"text":"' % (number, number % 1000)).ljust(1022, b"x") + b'"}'
    properties = {"UNIQ_KEY": f"{number:032X}", "CLUSTER": "local", "source": "shop"}
    return Message.create(
        "orders", body, keys=[f"o-{number:08d}", f"k{number % 1000}"], tag="ABCDE"[number % 5], properties=properties
    )


def seconds(work: Callable[[], DataFrame]) -> float:
    """Return how long it takes to read everything of a frame."""
    started = time.perf_counter()
    work().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def compare(spark: SparkSession, store: Path, parquet: Path, columns: list[str]) -> tuple[list[float], list[float]]:
    """Return the seconds of the rounds that count, ours and Parquet's, taken in turn."""

    def topic() -> DataFrame:
        options = {"store": str(store), "topic": "orders", "columns": ",".join(columns)}
        return spark.read.format("rocketmq").options(**options).load()

    def file() -> DataFrame:
        return spark.read.parquet(str(parquet)).select(*columns)

    rounds = [(seconds(topic), seconds(file)) for _ in range(WARM_ROUNDS + ROUNDS)][WARM_ROUNDS:]
    return [ours for ours, _ in rounds], [theirs for _, theirs in rounds]


def run(messages: int = MESSAGES) -> list[Row]:
    """Return the rates of reading all columns, the body alone and five small columns; the best of the warm rounds."""
    usual = [name for name in COLUMNS if name not in BY_REQUEST_ONLY and name != "_error"]
    small = ["queue_id", "queue_offset", "store_timestamp", "unique_id", "tag"]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "store", messages)
        config = SessionConfig(app_name="scan", work_dir=folder, cache=folder / "cache", master="local[2]")
        spark = start(config)
        everything = spark.read.format("rocketmq").options(store=str(folder / "store"), topic="orders")
        everything.load().write.option("compression", "none").parquet(str(folder / "parquet"))
        for label, columns in ((f"all {len(usual)} columns", usual), ("body", ["body"]), ("five small columns", small)):
            ours, theirs = compare(spark, folder / "store", folder / "parquet", columns)
            median = statistics.median(theirs) / statistics.median(ours)
            beside = f"Parquet (median of rounds: {median:.2f})"
            rows.append(Row(f"spark scan, {label}", messages / min(ours), "msg/s", beside, messages / min(theirs)))
        spark.stop()
    return rows


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES):
        print(row.text())
