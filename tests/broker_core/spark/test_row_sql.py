"""Conditions and transformations in SQL, given to a real Spark."""

from __future__ import annotations

from logging.handlers import MemoryHandler
from pathlib import Path
from typing import Any

import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from broker_core.spark.copies import COLUMNS
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import SourceOptions
from broker_core.spark.planned import planned_table
from broker_core.spark.reading import plan
from broker_core.spark.row_sql import RowSql, failing_expressions
from tests.support.stores import overwrite
from tests.support.topics import order, orders, write_topic

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten orders, {"n": 0} to {"n": 9}, and one that is no JSON, in one queue."""
    folder = tmp_path_factory.mktemp("store")
    write_topic(folder, [*orders(10), order(10, body=b"no json")], queues=1)
    return folder


def made(spark: SparkSession, store: Path, sql: RowSql) -> list[Any]:
    options = SourceOptions(topics=("orders",), stores=(store,), brokers=("broker-a",))
    rows = planned_table(spark, [plan(options)], options, sql.columns(COLUMNS))
    with failing_expressions():
        found: list[Any] = sql.apply(rows, COLUMNS).collect()
    return found


def test_a_condition_marks_the_rows_and_all_stay_in_their_order(spark: SparkSession, store: Path) -> None:
    rows = made(spark, store, RowSql(where="json:n::int % 3 = 0 and tag = 'A'"))
    assert [row.queue_offset for row in rows] == list(range(11))
    # What is null is not wanted
    assert [row.queue_offset for row in rows if row._wanted] == [0, 6]
    assert [row.body is None for row in rows] == [not row._wanted for row in rows]


def test_a_transformation_has_a_column_for_each_expression(spark: SparkSession, store: Path) -> None:
    sql = RowSql(
        where="json is not null",
        body="to_json(named_struct('id', json:n::int + 100))",
        tag="lower(tag)",
        keys="array('x', key)",
        properties={"twice": "json:n::int * 2", "gone": "null"},
    )
    first, *_, last = made(spark, store, sql)
    assert (bytes(first._body), first._tag, first._keys) == (b'{"id":100}', "a", ["x", "k0"])
    assert (first._property_0, first._property_1, first.body) == ("0", None, None)
    assert (last._wanted, last._body) == (False, None)


def test_keys_may_be_a_text_with_spaces(spark: SparkSession, store: Path) -> None:
    assert made(spark, store, RowSql(keys="'a b'"))[0]._keys == ["a", "b"]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (RowSql(where="tag = "), "source.where: [PARSE_SYNTAX_ERROR]"),
        (RowSql(where="amount > 1"), "source.where: [UNRESOLVED_COLUMN.WITH_SUGGESTION]"),
        (RowSql(where="queue = 1"), "`queue_id`"),
        (RowSql(where="tag"), "source.where: it is string; a condition is true or false"),
        (RowSql(where="count(1) > 1"), "source.where: has the function 'count', which reads several rows"),
        (RowSql(where="exists(select 1)"), "source.where: has the word 'select' of a query"),
        (RowSql(body="java_method('java.lang.System', 'exit', 0)"), "target.transform.body: has the function"),
        (RowSql(body="explode(keys)"), "target.transform.body: has the function 'explode', which makes several rows"),
        (RowSql(body="`current_user`"), "there is no column of this name"),
        (RowSql(tag="properties"), "make it a text"),
        (RowSql(tag="*"), "target.transform.tag: it has"),
        (RowSql(properties={"a": "nope(1)"}), "target.transform.properties.a: has the function 'nope'"),
    ],
)
def test_an_expression_that_is_wrong_is_refused_at_its_field_before_anything_is_read(
    spark: SparkSession, sql: RowSql, why: str
) -> None:
    with pytest.raises(BadRequest) as met:
        sql.check(spark, COLUMNS)
    assert str(met.value).startswith(why) or why in str(met.value)


@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("cast(decode(body, 'UTF-8') as int) > 1", 'CAST_INVALID_INPUT ("STRING" to "INT")'),
        ("to_timestamp(decode(body, 'UTF-8'), 'yyyy') is not null", "CANNOT_PARSE_TIMESTAMP"),
    ],
)
def test_a_value_that_cannot_be_computed_is_the_fault_of_the_request_and_is_told_in_the_log_alone(
    spark: SparkSession, store: Path, capsys: pytest.CaptureFixture[str], where: str, what: str
) -> None:
    traces = MemoryHandler(100)
    PySparkLogger.getLogger("SQLQueryContextLogger").addHandler(traces)
    with pytest.raises(BadRequest) as met:
        made(spark, store, RowSql(where=where))
    assert str(met.value) == f"an expression cannot be computed for a message: {what}; the log has the value"
    assert '{"n":0}' in capsys.readouterr().err
    # Not once more as a line of JSON
    assert traces.buffer == []


def test_a_damaged_row_is_neither_wanted_nor_computed(spark: SparkSession, store: Path, tmp_path: Path) -> None:
    write_topic(tmp_path, orders(3), queues=1)
    [file] = list((tmp_path / "commitlog").iterdir())
    overwrite(file, file.read_bytes().index(b'{"n":1}'), b"broken!")
    rows = made(spark, tmp_path, RowSql(where="json:n::int >= 0", body="body"))
    assert [(row._wanted, row._error is None) for row in rows] == [(True, True), (False, False), (True, True)]
