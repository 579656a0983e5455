"""``format("rocketmq")`` inside a real Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from broker_core.spark.schema import BY_REQUEST_ONLY, COLUMNS
from tests.support.topics import orders, write_topic

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 400 orders in four queues."""
    folder = tmp_path_factory.mktemp("store")
    write_topic(folder, orders(400), queues=4)
    return folder


def load(spark: SparkSession, store: Path, **options: Any) -> DataFrame:
    return spark.read.format("rocketmq").options(store=str(store), topic="orders", **options).load()


def test_a_topic_is_a_table(spark: SparkSession, store: Path) -> None:
    table = load(spark, store)
    assert table.columns == [name for name in COLUMNS if name not in BY_REQUEST_ONLY]
    row = table.where("queue_id = 1 and queue_offset = 2").first()
    assert row is not None
    assert (row.topic, row.broker, row["key"], row.keys, row.tag) == ("orders", "broker-a", "k9", ["k9", "all"], "B")
    assert bytes(row.body) == b'{"n":9}'
    assert row.properties["TAGS"] == "B"
    assert row["_error"] is None


def test_columns_can_be_chosen_by_option_and_by_schema(spark: SparkSession, store: Path) -> None:
    assert load(spark, store, columns="tag,offset_id").columns == ["tag", "offset_id"]
    table = (
        spark.read.format("rocketmq")
        .schema("queue_offset bigint, body binary")
        .options(store=str(store), topic="orders")
    )
    assert table.load().count() == 400


def test_aggregates_agree_with_what_was_written(spark: SparkSession, store: Path) -> None:
    table = load(spark, store, columns="queue_id,tag", minPartitions="8")
    counts = {(row.queue_id, row.tag): row["count"] for row in table.groupBy("queue_id", "tag").count().collect()}
    assert counts == {(0, "A"): 100, (1, "B"): 100, (2, "A"): 100, (3, "B"): 100}


def test_one_table_may_be_filtered_in_several_ways_in_one_query(spark: SparkSession, store: Path) -> None:
    # With pushed filters each of these gives wrong rows (broker_core/spark/README.md#what-pyspark-does).
    table = load(spark, store, columns="queue_id")
    assert (table.filter("queue_id = 1").count(), table.count()) == (100, 400)
    union = table.filter("queue_id = 1").union(table.filter("queue_id = 2"))
    assert sorted(row.queue_id for row in union.distinct().collect()) == [1, 2]
    assert (table.filter("queue_id = 3").count(), table.filter("queue_id = 1 or queue_id = 2").count()) == (100, 200)


def test_a_table_is_a_snapshot_and_a_fresh_load_sees_more(spark: SparkSession, tmp_path: Path) -> None:
    write_topic(tmp_path, orders(10))
    table = load(spark, tmp_path)
    assert table.count() == 10
    write_topic(tmp_path, orders(5))
    assert (table.count(), load(spark, tmp_path).count()) == (10, 15)


def test_an_empty_range_is_an_empty_table(spark: SparkSession, store: Path) -> None:
    assert load(spark, store, startingOffsets="latest").count() == 0


def test_only_some_rows_may_be_wanted(spark: SparkSession, store: Path) -> None:
    assert len(load(spark, store).limit(3).collect()) == 3


def test_a_misspelt_option_is_an_error_that_names_the_right_one(spark: SparkSession, store: Path) -> None:
    with pytest.raises(AnalysisException, match="did you mean 'startingTimestamp'"):
        load(spark, store, startingTimestmap="1")


def test_an_unknown_topic_is_an_error(spark: SparkSession, store: Path) -> None:
    table = spark.read.format("rocketmq").options(store=str(store), topic="oders").load()
    with pytest.raises(PySparkException, match="did you mean 'orders'"):
        table.count()


def test_sql_reads_a_topic_too(spark: SparkSession, store: Path) -> None:
    spark.sql(f"create temporary view orders using rocketmq options (store '{store}', topic 'orders', columns 'tag')")
    assert spark.sql("select count(*) from orders where tag = 'A'").first() == (200,)
