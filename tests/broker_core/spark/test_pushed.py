"""What pushed filters leave of a read: less, and never too little."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, In, IsNotNull, LessThan, Not

from broker_core.spark import pushed
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition
from broker_core.spark.pushed import Narrowing, is_only_filter
from tests.support.stores import NOW
from tests.support.topics import orders, write_topic

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
READ = SourceOptions(topics=("orders",), stores=(Path("/store"),), brokers=("broker-a",))
PARTS = [FilePartition("/store", "broker-a", "orders", queue, 0, 100) for queue in range(3)]


def left(*filters: Filter) -> list[tuple[int, int, int]]:
    return [(p.queue_id, p.begin, p.end) for p in Narrowing.of(READ, filters).cut(PARTS)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("filters", "parts"),
    [
        ([EqualTo(("queue_id",), 1)], [(1, 0, 100)]),
        ([In(("queue_id",), (0, 2)), IsNotNull(("queue_id",))], [(0, 0, 100), (2, 0, 100)]),
        ([EqualTo(("queue_id",), 9)], []),
        ([EqualTo(("topic",), "payments")], []),
        ([GreaterThan(("queue_offset",), 97), EqualTo(("queue_id",), 0)], [(0, 97, 100)]),
        ([LessThan(("queue_offset",), 2), EqualTo(("queue_id",), 0)], [(0, 0, 3)]),
        ([Not(EqualTo(("queue_id",), 1))], [(0, 0, 100), (1, 0, 100), (2, 0, 100)]),
    ],
)
def test_ranges_shrink(filters: list[Filter], parts: list[tuple[int, int, int]]) -> None:
    assert left(*filters) == parts


def test_times_tags_and_keys_become_options() -> None:
    at = datetime.fromtimestamp(NOW / 1000, UTC)
    filters = [GreaterThan(("store_timestamp",), at), EqualTo(("tag",), "A"), In(("key",), ("k1", "k2"))]
    found = Narrowing.of(READ, filters).options
    assert (found.starting_timestamp, found.tags, found.keys) == (NOW, frozenset({"A"}), frozenset({"k1", "k2"}))
    assert Narrowing.of(READ, [EqualTo(("tag",), "A"), EqualTo(("tag",), "B")]).is_empty


def test_a_second_filter_for_keys_is_left_to_spark() -> None:
    # A message with the keys k1 and k2 passes an option for k2 and a filter for k1.
    found = Narrowing.of(SourceOptions(topics=("orders",), keys=frozenset({"k2"})), [EqualTo(("key",), "k1")])
    assert found.options.keys == frozenset({"k2"})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 40 orders in four queues."""
    folder = tmp_path_factory.mktemp("store")
    write_topic(folder, orders(40), queues=4)
    return folder


def load(spark: SparkSession, store: Path, **options: Any) -> DataFrame:
    pushed = {"store": str(store), "topic": "orders", "filterPushdown": "true", **options}
    return spark.read.format("rocketmq").options(**pushed).load()


@pytest.mark.spark
def test_a_filter_of_a_fresh_load_gives_its_rows(spark: SparkSession, store: Path) -> None:
    spark.conf.set(PUSHDOWN, "true")
    assert load(spark, store).filter("queue_id = 1 and tag = 'B'").count() == 10
    assert load(spark, store).filter("key = 'k7'").select("queue_id").collect() == [(3,)]
    assert load(spark, store).filter("queue_offset between 2 and 4").count() == 12
    # One load() for each filter; with a shared one, see below.
    one, other = load(spark, store).filter("queue_id = 1"), load(spark, store).filter("queue_id = 2")
    assert {row.queue_id for row in one.union(other).collect()} == {1, 2}


@pytest.mark.spark
def test_spark_still_mixes_up_the_filters_of_one_load(spark: SparkSession, store: Path) -> None:
    """When this fails, Spark has been repaired: filterPushdown may become the default."""
    spark.conf.set(PUSHDOWN, "true")
    table = load(spark, store)
    assert (table.filter("queue_id = 1").count(), table.count()) == (10, 10)


@pytest.mark.spark
def test_a_second_filter_of_one_load_narrows_nothing(spark: SparkSession, store: Path) -> None:
    spark.conf.set(PUSHDOWN, "true")
    table = load(spark, store)
    one, other = table.filter("queue_id = 1"), table.filter("queue_id = 2")
    assert sorted(row.queue_id for row in one.union(other).collect()) == [1] * 10 + [2] * 10
    assert (one.count(), other.count(), one.crossJoin(other).count()) == (10, 10, 100)
    assert table.count() == 40


def test_filters_of_a_load_are_remembered_and_of_many_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushed, "_MOST_LOADS", 2)
    one, other = [EqualTo(("queue_id",), 1), IsNotNull(("tag",))], [EqualTo(("queue_id",), 2)]
    assert [is_only_filter("a", each) for each in (one, one[::-1], other, one)] == [True, True, False, False]
    assert is_only_filter("b", other)
    assert not is_only_filter("a", one)
    assert is_only_filter("c", one)
    # The one that was not used for longest is forgotten
    assert not is_only_filter("a", one)
    assert is_only_filter("b", one)


@pytest.mark.spark
def test_pushing_must_be_allowed_by_the_session(spark: SparkSession, store: Path) -> None:
    spark.conf.set(PUSHDOWN, "false")
    with pytest.raises(PySparkException, match="filterPushdown"):
        load(spark, store).count()
