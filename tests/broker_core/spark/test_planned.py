"""Ranges planned by the driver, as a table."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from broker_core.spark.options import SourceOptions
from broker_core.spark.planned import planned_table
from broker_core.spark.reading import plan, plan_together
from broker_core.spark.session import run_tasks
from broker_core.spark.source import RocketMQReader
from tests.support.topics import order, orders, write_topic

pytestmark = pytest.mark.spark


def test_two_topics_that_grow_are_read_up_to_one_moment(spark: SparkSession, tmp_path: Path) -> None:
    # Given two topics that were planned together
    write_topic(tmp_path, [*orders(10), *(order(number, topic="copy") for number in range(10))], queues=2)
    sides = [SourceOptions(topics=(topic,), stores=(tmp_path,), brokers=("broker-a",)) for topic in ("orders", "copy")]
    planned = plan_together(sides)
    # When one of them grows
    write_topic(tmp_path, orders(5), queues=2)
    # Then both tables contain what was planned, however often they are read
    tables = [
        planned_table(spark, [[part] for part in parts], side, ("topic", "key"))
        for parts, side in zip(planned, sides, strict=True)
    ]
    assert [table.count() for table in tables] == [10, 10]
    assert [table.count() for table in tables] == [10, 10]
    assert sorted(row["key"] for row in tables[1].collect()) == sorted(f"k{number}" for number in range(10))


def test_nothing_planned_is_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    options = SourceOptions(topics=("orders",), stores=(tmp_path,), brokers=("broker-a",))
    assert planned_table(spark, [], options, ("body",)).count() == 0


def test_what_a_worker_has_imported_is_not_collected_after_each_task(spark: SparkSession, tmp_path: Path) -> None:
    write_topic(tmp_path, orders(3), queues=1)
    options = SourceOptions(topics=("orders",), stores=(tmp_path,), brokers=("broker-a",))
    reader, (part,) = RocketMQReader(options, ("key",)), plan(options)

    def read(_: int) -> tuple[int, int]:
        rows = sum(batch.num_rows for batch in reader.read(part))
        return rows, gc.get_freeze_count()

    ((rows, frozen),) = run_tasks(spark, [0], read)
    assert rows == 3
    assert frozen > 10_000
