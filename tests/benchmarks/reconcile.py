"""A reconciliation of a million with a million messages that differ in 137 places, beside a join in Spark.

``python -m tests.benchmarks.reconcile [messages]``: the same rows, from uncompressed Parquet, are grouped by key and
joined by Spark; rounds are interleaved in one session and the first is left out. The last line is a whole job in a
process of its own, from its start to its end, beside the twelve seconds that it may take.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that all of Spark's documentation uses

from broker_core.spark.session import SessionConfig, shared_cache, start
from tests.benchmarks.measure import Row
from tests.support.programs import Program
from tests.support.sales import FAULTS, write_sales

MESSAGES = 1_000_000
ROUNDS = 3
SEED = 137
TARGET_S = 12.0
_SIDES = {"left": {"topic": "ledger"}, "right": {"topic": "orders"}}


def joined(spark: SparkSession, folder: Path) -> float:
    """Return how long Spark takes to group both sides by key and to join them; check that it finds the faults."""

    def side(topic: str) -> DataFrame:
        values = F.sort_array(F.collect_list(F.xxhash64("body"))).alias(topic)
        return spark.read.parquet(str(folder / topic)).groupBy("key").agg(values)

    equal: Column = F.col("ledger").eqNullSafe(F.col("orders"))
    began = time.perf_counter()
    found = side("ledger").join(side("orders"), "key", "full_outer").where(~equal).count()
    if found != sum(FAULTS.values()):
        raise AssertionError(f"the join found {found} differences")
    return time.perf_counter() - began


def compared(program: Program, spark: SparkSession | None) -> float:
    """Return how long a reconciliation takes; in a given Spark without its start. Check that it finds the faults."""
    began = time.perf_counter()
    code = program.run(_SIDES) if spark is None else program.run_here(_SIDES, spark)
    took = time.perf_counter() - began
    tiles = program.read("report.json")["tiles"]
    found = {name: tiles[name] for name in FAULTS}
    if code or found != FAULTS or tiles["duplicate"] or tiles["reordered"] or tiles["late"]:
        raise AssertionError(f"status {code}, found {tiles}")
    return took


def run(messages: int = MESSAGES) -> list[Row]:
    """Return the rates of a comparison and of a whole job."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sales(folder / "store", messages, SEED)
        place = {"store": str(folder / "store"), "broker": "broker-a", "name_servers": []}
        cache = shared_cache()
        spark = start(SessionConfig(app_name="reconcile", work_dir=folder, cache=cache, master="local[2]"))
        for topic in ("ledger", "orders"):
            options = {"store": str(folder / "store"), "topic": topic, "columns": "key,body"}
            rows = spark.read.format("rocketmq").options(**options).load()
            rows.write.option("compression", "none").parquet(str(folder / topic))
        rounds = [
            (compared(Program(folder / f"job{number}", "reconcile", place, cache), spark), joined(spark, folder))
            for number in range(1 + ROUNDS)
        ][1:]
        spark.stop()
        ours, theirs = ([each[side] for each in rounds] for side in range(2))
        whole = compared(Program(folder / "whole", "reconcile", place, cache), None)
    median = statistics.median(theirs) / statistics.median(ours)
    beside = f"Spark's join from Parquet (median of rounds: {median:.2f})"
    size = f"{messages:,} with {messages:,}"
    return [
        Row(f"reconcile, {size}", messages / min(ours), "keys/s", beside, messages / min(theirs)),
        Row(
            f"reconcile, whole job of {whole:.1f} s", messages / whole, "keys/s", f"{TARGET_S:g} s", messages / TARGET_S
        ),
    ]


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES):
        print(row.text())
