"""Conditions and transformations in SQL, given to a real Spark."""

from __future__ import annotations

from logging.handlers import MemoryHandler
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from broker_core.spark.copies import COLUMNS
from broker_core.spark.errors import BadRequest
from broker_core.spark.failed_values import Expression, failing_expressions
from broker_core.spark.options import SourceOptions
from broker_core.spark.planned import planned_table
from broker_core.spark.reading import plan
from broker_core.spark.row_sql import RowSql, ValueRefused, Values
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
    parts = [plan(options)]
    rows = planned_table(spark, parts, options, sql.columns(COLUMNS))
    with failing_expressions(spark, sql.expressions(lambda names: planned_table(spark, parts, options, names))):
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
        (RowSql(where="x -> x"), "source.where: Spark does not understand it: INTERNAL_ERROR; the log says more"),
        (RowSql(tag="upper(x -> tag)"), "target.transform.tag: "),
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


TEXT = "decode(body, 'UTF-8')"


@pytest.mark.parametrize(
    ("where", "what"),
    [
        (f"cast({TEXT} as int) > 1", 'CAST_INVALID_INPUT ("STRING" to "INT")'),
        (f"to_timestamp({TEXT}, 'yyyy') is not null", "CANNOT_PARSE_TIMESTAMP"),
        ("1 / 0 = 1", "DIVIDE_BY_ZERO"),
        ("1 / (queue_offset - 3) = 1", "DIVIDE_BY_ZERO"),
        (f"parse_json({TEXT}) is not null", "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"),
        (f"date_format(store_timestamp, {TEXT}) = ''", "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER"),
        (f"regexp_extract(tag, '(' || {TEXT}) = ''", "INVALID_PARAMETER_VALUE.PATTERN"),
        ("date_format(store_timestamp, 'YY' || json:n::string) = ''", "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_"),
        ("keys[7] = ''", "INVALID_ARRAY_INDEX"),
        ("element_at(keys, 7) = ''", "INVALID_ARRAY_INDEX_IN_ELEMENT_AT"),
        ("size(map_from_arrays(array(tag, tag), array(1, 2))) = 1", "DUPLICATED_MAP_KEY"),
        ("size(map_from_arrays(array(tag), array(1, 2))) = 1", ""),
        (f"format_string({TEXT} || '%d', tag) = ''", "IllegalFormatConversionException"),
        ("size(sequence(1, 3000000000 + queue_offset)) = 1", "COLLECTION_SIZE_LIMIT_EXCEEDED"),
    ],
)
def test_a_value_that_cannot_be_computed_is_the_fault_of_the_request_and_is_told_in_the_log_alone(
    spark: SparkSession, store: Path, capsys: pytest.CaptureFixture[str], where: str, what: str
) -> None:
    traces = MemoryHandler(100)
    PySparkLogger.getLogger("SQLQueryContextLogger").addHandler(traces)
    with pytest.raises(BadRequest) as met:
        made(spark, store, RowSql(where=where))
    told = str(met.value)
    assert told.startswith(f"source.where: it cannot be computed for a message: {what}"), told
    assert told.endswith("; the log has what Spark said")
    assert '{"n' not in told
    said = capsys.readouterr().err
    assert "Spark says: " in said
    assert "CAST" not in what or '{"n":0}' in said
    # Not once more as a line of JSON
    assert traces.buffer == []


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"where": "queue_offset >= 0", "tag": f"{TEXT}::int"}, "target.transform.tag"),
        (
            {"body": "upper(tag)", "properties": {"a": "tag", "b": "format_string('%d', tag)"}},
            "target.transform.properties.b",
        ),
        ({"where": "format_string('%d', tag) = ''", "tag": "lower(tag)"}, "source.where"),
    ],
)
def test_of_several_expressions_the_one_that_fails_is_named(
    spark: SparkSession, store: Path, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadRequest, match=f"^{field}: it cannot be computed"):
        made(spark, store, RowSql(**fields))


@pytest.mark.parametrize(
    ("found", "fault"),
    [
        ({"_tag": "a||b"}, "target.transform.tag: A tag must not be '*'"),
        ({"_tag": "*"}, "target.transform.tag: A tag must not be '*'"),
        ({"_tag": "a\x01b"}, r"target.transform.tag: U\+0001"),
        ({"_keys": ["a\x02b"]}, r"target.transform.keys: U\+0001"),
        ({"_property_0": "a\x01b"}, r"target.transform.properties.color: U\+0001"),
    ],
)
def test_what_sending_refuses_is_refused_of_an_expression_by_its_field(found: dict[str, Any], fault: str) -> None:
    sql = RowSql(tag="t", keys="k", properties={"color": "p"})
    usual: dict[str, Any] = {"_tag": "", "_keys": ["a"], "_property_0": None}
    assert Values(sql, usual).properties({"TAGS": "old"}) == {"KEYS": "a"}
    with pytest.raises(ValueRefused, match=fault):
        Values(sql, usual | found).properties({})


def test_what_else_fails_is_not_the_fault_of_an_expression(spark: SparkSession, store: Path) -> None:
    def raising(_rows: Any) -> Any:
        raise ValueError("[DIVIDE_BY_ZERO] SQLSTATE: 22012")

    with (
        pytest.raises(PythonException),
        failing_expressions(spark, [Expression("source.where", "true", lambda: spark.range(1))]),
    ):
        spark.range(1).mapInArrow(raising, "id long").collect()


def test_a_damaged_row_is_neither_wanted_nor_computed(spark: SparkSession, store: Path, tmp_path: Path) -> None:
    write_topic(tmp_path, orders(3), queues=1)
    [file] = list((tmp_path / "commitlog").iterdir())
    overwrite(file, file.read_bytes().index(b'{"n":1}'), b"broken!")
    rows = made(spark, tmp_path, RowSql(where="json:n::int >= 0", body="body"))
    assert [(row._wanted, row._error is None) for row in rows] == [(True, True), (False, False), (True, True)]
