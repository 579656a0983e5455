"""A store full of hard cases, read by files and by wire: row by row what an independent reader says.

What differs by wire is said here too: a broker does not send a record that cannot be read, and nothing tells why.
"""

from __future__ import annotations

import logging
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from broker_core.spark.options import Mode, SourceOptions
from broker_core.spark.reading import Partition, plan, read_rows
from broker_core.spark.schema import COLUMNS, asks_for_bodies
from broker_core.spark.source import RocketMQSource
from broker_core.store.columns import DAMAGE_TEXT, Damage
from tests.compat import java_build
from tests.compat.java_store import visit
from tests.support import plain_reader
from tests.support.cluster import RunningBroker, started_broker
from tests.support.hard_store import QUEUES, TOPIC, HardStore, write_hard_store
from tests.support.plain_reader import Row, as_sent, read_topic
from tests.support.stores import small

pytestmark = pytest.mark.spark

ALL = tuple(COLUMNS)
SEED = 20261126
WAYS = ("store", "nameServer")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a broker."""
    return tmp_path_factory.mktemp("hard")


@pytest.fixture(scope="module")
def hard(data: Path) -> HardStore:
    """The store of the broker, full of hard cases."""
    return write_hard_store(data / "broker", SEED)


@pytest.fixture(scope="module")
def rows(hard: HardStore) -> list[Row]:
    """What the independent reader says of it."""
    return read_topic(hard.folder, TOPIC, ALL)


@pytest.fixture(scope="module")
def running(data: Path, hard: HardStore, rows: list[Row]) -> Iterator[RunningBroker]:
    """A broker that serves the store; it has removed nothing, and changed nothing that is read."""
    with started_broker(data) as broker:
        yield broker
    assert read_topic(hard.folder, TOPIC, ALL) == rows


def ways(hard: HardStore, running: RunningBroker) -> dict[str, str]:
    return {"store": str(hard.folder), "nameServer": running.name_server}


def read(spark: SparkSession, way: str, place: str, **options: str) -> list[Row]:
    """Return the rows of a read by Spark, by queue and offset."""
    spark.dataSource.register(RocketMQSource)
    table = spark.read.format("rocketmq").option(way, place).option("topic", TOPIC).option("columns", ",".join(ALL))
    found: list[Row] = table.options(**options).load().toArrow().to_pylist()
    for row in found:
        row["properties"] = plain("properties", row["properties"])
    return sorted(found, key=lambda row: (row["queue_id"], row["queue_offset"]))


def shown(rows: list[Row]) -> list[dict[str, Any]]:
    """Return rows whose `_error` is what the independent reader can know: not the reason that a library gives."""
    known = [plain_reader.NOT_UNPACKED, plain_reader.UNKNOWN]
    return [
        row | {"_error": next((each for each in known if each in (row["_error"] or "")), row["_error"])} for row in rows
    ]


def assert_equal(found: list[Row], wanted: list[Row]) -> None:
    """Compare row by row, so that a failure names the column."""
    assert [place_of(row) for row in found] == [place_of(row) for row in wanted]
    for row, other in zip(shown(found), wanted, strict=True):
        assert {name: row[name] for name in row if row[name] != other[name]} == {}, place_of(row)


def place_of(row: Row) -> tuple[int, int]:
    return row["queue_id"], row["queue_offset"]


def as_read(rows: list[Row], way: str) -> list[Row]:
    return rows if way == "store" else [as_sent(row) for row in rows]


def test_every_kind_of_damage_is_there_and_the_independent_reader_finds_it(hard: HardStore, rows: list[Row]) -> None:
    assert set(hard.damage.values()) == set(Damage) - {Damage.NONE, Damage.NOT_SENT}
    of_records = {place_of(row): row["_error"] for row in rows if row["_error"] in plain_reader.OF_RECORDS}
    assert of_records == {place: DAMAGE_TEXT[kind] for place, kind in hard.damage.items()}
    inside = Counter(row["_error"] for row in rows if place_of(row) not in hard.damage)
    assert inside[plain_reader.NOT_UTF8] == 12
    assert inside[plain_reader.NOT_UNPACKED] == 15
    assert inside[plain_reader.UNKNOWN] == 1
    assert {row["queue_id"] for row in rows} == set(range(QUEUES))
    assert {0, 4 << 20} <= {row["body_size"] for row in rows}


@pytest.mark.parametrize("way", WAYS)
def test_all_columns_of_all_rows_are_what_the_independent_reader_says(
    spark: SparkSession, hard: HardStore, running: RunningBroker, rows: list[Row], way: str
) -> None:
    assert_equal(read(spark, way, ways(hard, running)[way]), as_read(rows, way))


@pytest.mark.parametrize("way", WAYS)
def test_malformed_rows_are_dropped_and_counted(
    spark: SparkSession,
    hard: HardStore,
    running: RunningBroker,
    rows: list[Row],
    way: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    wanted = [row for row in rows if row["_error"] is None]
    assert_equal(read(spark, way, ways(hard, running)[way], mode="dropMalformed"), wanted)
    # The workers warn on their standard error; here the same reading is done in this process.
    options = options_of(way, ways(hard, running)[way], mode=Mode.DROP_MALFORMED)
    with caplog.at_level(logging.WARNING, "broker_core.spark.reading"):
        left = sum(batch.num_rows for part in plan(options) for batch in read_rows(part, options, ALL))
    assert left == len(wanted)
    told = [re.match(r"mode=dropMalformed left out (\d+) damaged messages", text) for text in caplog.messages]
    assert sum(int(each[1]) for each in told if each) == len(rows) - len(wanted)


@pytest.mark.parametrize("way", WAYS)
def test_fail_fast_names_the_first_malformed_message(
    spark: SparkSession, hard: HardStore, running: RunningBroker, rows: list[Row], way: str
) -> None:
    first = next(row for row in as_read(rows, way) if row["queue_id"] == 1 and row["_error"])
    with pytest.raises(PySparkException) as raised:
        read(spark, way, ways(hard, running)[way], mode="failFast", queues="1")
    text = f"DamagedRecord: broker-a topic={TOPIC} queue=1 offset={first['queue_offset']}: "
    assert text in str(raised.value)
    assert first["_error"] in str(raised.value)


def options_of(way: str, place: str, **changes: Any) -> SourceOptions:
    where: dict[str, Any] = (
        {"stores": (Path(place),), "brokers": ("broker-a",)} if way == "store" else {"name_servers": (place,)}
    )
    return SourceOptions(topics=(TOPIC,), **where, **changes)


@pytest.mark.parametrize("way", WAYS)
def test_a_column_alone_is_what_it_is_among_all(
    hard: HardStore, running: RunningBroker, rows: list[Row], way: str
) -> None:
    options = options_of(way, ways(hard, running)[way], decompress=False)
    parts = plan(options)
    unchecked = read_topic(hard.folder, TOPIC, ALL, checks_bodies=False)
    # A body is as stored here, and what is wrong depends on what is decoded beside it.
    for name in set(ALL) - {"body", "_error"}:
        batches = [batch for part in parts for batch in read_rows(part, options, (name,))]
        found = [plain(name, value) for batch in batches for value in batch.column(0).to_pylist()]
        known = rows if way == "nameServer" or asks_for_bodies([name]) else unchecked
        assert found == [row[name] for row in as_read(known, way)], name


@pytest.mark.parametrize("way", WAYS)
def test_any_range_and_any_columns_are_what_they_are_among_all(
    hard: HardStore, running: RunningBroker, rows: list[Row], way: str
) -> None:
    """Also of each message alone: what is decoded in one pass, and what is not, depends on its neighbours."""
    options = options_of(way, ways(hard, running)[way])
    # A broker compares checksums whatever is asked for.
    unchecked = read_topic(hard.folder, TOPIC, ALL, checks_bodies=False) if way == "store" else as_read(rows, way)
    by_place = {place_of(row): row for row in unchecked}
    rng = random.Random(SEED)
    for part in plan(options):
        known = [row for row in as_read(rows, way) if row["queue_id"] == part.queue_id]
        for row in known:
            alone = replace(part, begin=row["queue_offset"], end=row["queue_offset"] + 1)
            assert_equal(rows_of(alone, options, ALL), [row])
        for _ in range(40):
            begin, length = rng.randrange(len(known)), rng.choice((2, 5, 40))
            # What `_error` says depends on what is decoded beside it.
            columns = tuple(rng.sample(sorted(set(ALL) - {"_error"}), rng.choice((1, 2, 6))))
            some = known[begin : begin + length]
            if not asks_for_bodies(columns):
                some = [by_place[place_of(row)] for row in some]
            found = rows_of(replace(part, begin=begin, end=begin + len(some)), options, columns)
            assert found == [{name: row[name] for name in columns} for row in some], (begin, columns)


def rows_of(part: Partition, options: SourceOptions, columns: tuple[str, ...]) -> list[Row]:
    """Return the rows of a range, read in this process."""
    found = [row for batch in read_rows(part, options, columns) for row in batch.to_pylist()]
    return [{name: plain(name, value) for name, value in row.items()} for row in found]


def test_what_the_store_of_apache_rocketmq_wrote_is_read_alike(tmp_path: Path) -> None:
    missing = java_build.missing_tool()
    if missing is not None:
        pytest.skip(
            f"left out: Apache RocketMQ's store needs a JDK with a compiler and Maven, and there is no {missing}"
        )
    java_build.CLIENT.build()
    sizes = {"commit_log_file_size": 64 * 1024, "consume_queue_file_units": 100}
    visit(small(tmp_path, **sizes, index_slots=100, index_entries=400), put=500, keys=[])
    wanted = read_topic(tmp_path, "Java", ALL)
    assert len(wanted) == 500
    options = replace(options_of("store", str(tmp_path)), topics=("Java",))
    assert_equal([row for part in plan(options) for row in rows_of(part, options, ALL)], wanted)


def plain(name: str, value: Any) -> Any:
    return dict(value) if name == "properties" and value is not None else value
