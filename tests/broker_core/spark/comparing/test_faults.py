"""Faults of every kind, sown at random: all are found and none besides, by an oracle of plain dictionaries.

pandas says for the keys themselves, without their classes, what the oracle says: it was written by others.
"""

from __future__ import annotations

import json
import random
import secrets
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from pyspark.sql import SparkSession

from broker_core.spark.comparing import pipeline
from broker_core.spark.comparing.comparison import SIDES, Comparison, Field
from broker_core.spark.comparing.evidence import find_differences
from broker_core.spark.comparing.judging import Judge
from broker_core.spark.comparing.pipeline import (
    compared_side,
    find_suspects,
    group_count,
    read_suspects,
    same_types,
)
from broker_core.spark.errors import BadRequest
from tests.support.comparing import START_MS, MemorySide, Row, compare, messages
from tests.support.faulty import END_MS, LATENESS_MS, TOLERANCE, Oracle, Value, sow

FIELDS = (Field("body"), Field("tag"))


def body_and_tag(row: Row) -> Value:
    return row["body"], row["tag"]


COMPARISONS = [
    (Comparison(fields=FIELDS), Oracle(body_and_tag)),
    (Comparison(fields=FIELDS, ordered=True), Oracle(body_and_tag, ordered=True)),
    (Comparison(fields=FIELDS, multiset=False), Oracle(body_and_tag, multiset=False)),
    (Comparison(fields=FIELDS, lateness_ms=LATENESS_MS), Oracle(body_and_tag, lateness_ms=LATENESS_MS)),
]


@pytest.mark.parametrize(("comparison", "oracle"), COMPARISONS, ids=["multiset", "order", "set", "lateness"])
def test_faults_sown_at_random_are_found_and_none_besides(comparison: Comparison, oracle: Oracle) -> None:
    for _ in range(10):
        seed = secrets.randbelow(1 << 32)
        sown = sow(random.Random(seed), 300)
        found = compare(sown.left, sown.right, comparison, range_ms=_range(comparison))
        expected = oracle.classes(sown)
        assert found.classes == expected, f"seed {seed}"
        keys = {row["keys"][0] for row in (*sown.left, *sown.right)}
        if not comparison.lateness_ms:
            assert found.matched == len(keys) - len(expected), f"seed {seed}"


def test_pandas_finds_the_same_keys() -> None:
    seed = secrets.randbelow(1 << 32)
    sown = sow(random.Random(seed), 2_000)
    found = compare(sown.left, sown.right, COMPARISONS[0][0], range_ms=(None, None))
    assert set(found.classes) == keys_that_differ(sown.left, sown.right), f"seed {seed}"
    assert len(found.classes) > 300


def keys_that_differ(left: list[Row], right: list[Row]) -> set[str]:
    """Return the keys that do not have the same values equally often on both sides."""
    counted = [
        pd.DataFrame({"key": row["keys"][0], "body": row["body"], "tag": row["tag"]} for row in rows)
        .groupby(["key", "body", "tag"], dropna=False)
        .size()
        .rename(side)
        for side, rows in zip(SIDES, (left, right), strict=True)
    ]
    both = pd.concat(counted, axis=1).fillna(0).reset_index()
    return set(both.loc[both[SIDES[0]] != both[SIDES[1]], "key"])


def amount_state(row: Row) -> Value:
    content = json.loads(row["body"])
    amount = content["amount"]
    return None if amount is None else float(amount), content["state"]


def near(one: Value, other: Value) -> bool:
    if one[1] != other[1] or (one[0] is None) != (other[0] is None):
        return False
    amounts = [each[0] for each in (one, other)]
    return amounts[0] is None or abs(float(str(amounts[0])) - float(str(amounts[1]))) <= TOLERANCE * 1.0001


BY_EXPRESSION = Comparison(
    None,
    (
        Field("amount", "try_cast(json:amount::string AS double)", "json:amount::double", TOLERANCE),
        Field("state", "json:state::string", "get_json_object(cast(body AS string), '$.state')"),
    ),
    ("json:id::string", "element_at(keys, 1)"),
)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("comparison", "oracle", "many"),
    [
        (*COMPARISONS[0], 20_000),
        (*COMPARISONS[0], 10),
        (*COMPARISONS[3], 20_000),
        (BY_EXPRESSION, Oracle(amount_state, near), 20_000),
    ],
    ids=["words", "whole groups", "lateness", "expressions"],
)
def test_spark_finds_what_an_oracle_finds(
    spark: SparkSession, comparison: Comparison, oracle: Oracle, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "_MANY_SUSPECTS", many)
    seed = secrets.randbelow(1 << 32)
    sown = sow(random.Random(seed), 600)
    expected = oracle.classes(sown)
    assert compared(spark, sown.left, sown.right, comparison) == expected, f"seed {seed}"
    assert len(sown.kinds) == 11
    assert len(expected) > 50


def keyed_by(left: str, right: str, *fields: Field) -> Comparison:
    return Comparison(None, fields, (left, right))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("json:n::bigint", "json:n::double"),
        ("json:n::decimal(12,2)", "json:n::int"),
        ("json:n::decimal(12,2)", "json:n::decimal(20,5)"),
        ("json:d::date", "cast(json:d::string as timestamp)"),
        ("json:n::bigint", "json:n::string"),
        ("json:n::double", "concat(json:n::string, '.0')"),
    ],
)
def test_equal_keys_of_two_types_are_one_key(spark: SparkSession, left: str, right: str) -> None:
    """docs/http-api.md: both keys get one type, and a text is compared with what the other key is written as."""
    rows = messages([("a", '{"n": 1, "d": "2026-01-02"}'), ("b", '{"n": 2, "d": "2026-01-03"}')])
    # Two keys of the first row would be missing on both sides
    assert list(compared(spark, rows, rows[:1], keyed_by(left, right)).values()) == ["missing_right"]


@pytest.mark.spark
def test_keys_of_types_that_have_nothing_in_common_are_refused(spark: SparkSession) -> None:
    comparison = keyed_by("json:n::bigint", "json:n::boolean")
    with pytest.raises(BadRequest, match="by: the left side is bigint, the right side boolean; cast one of them"):
        compared(spark, [], [], comparison)


@pytest.mark.spark
@pytest.mark.parametrize(
    ("kind", "tolerance", "one", "near", "far"),
    [
        ("decimal(38,3)", 0.01, "90071992547409931.01", "90071992547409931.02", "90071992547409931.09"),
        ("bigint", 1, "1764230000000000001", "1764230000000000002", "1764230000000000101"),
        ("double", 0.01, "0.29", "0.30", "0.3000001"),
        ("double", 0.5, "1e17", "1e17", "100000000000000016"),
        ("int", 5, "-3", "2", "3"),
    ],
)
def test_a_tolerance_holds_for_numbers_of_any_size(
    spark: SparkSession, kind: str, tolerance: float, one: str, near: str, far: str
) -> None:
    value = f"cast(get_json_object(cast(body as string), '$.v') as {kind})"
    comparison = Comparison(fields=(Field("v", value, value, tolerance),))
    left = messages([("near", f'{{"v": "{one}"}}'), ("far", f'{{"v": "{one}"}}'), ("none", "{}")])
    right = messages([("near", f'{{"v": "{near}"}}'), ("far", f'{{"v": "{far}"}}'), ("none", "{}")])
    assert compared(spark, left, right, comparison) == {"far": "different"}


@pytest.mark.spark
@pytest.mark.parametrize("value", ["tag", "timestamp_millis(queue_offset)", "body"])
def test_a_tolerance_of_what_is_no_number_is_refused(spark: SparkSession, value: str) -> None:
    comparison = Comparison(fields=(Field("v", value, value, 1),))
    with pytest.raises(BadRequest, match="compare v: a tolerance is for numbers, and the left side is "):
        compared(spark, [], [], comparison)


def compared(spark: SparkSession, left: list[Row], right: list[Row], comparison: Comparison) -> dict[Any, str]:
    """Return the class of each key that does not match, as both steps in Spark find it."""
    range_ms = _range(comparison)
    sides = [
        compared_side(name, MemorySide(rows), comparison, range_ms=range_ms)
        for name, rows in zip(SIDES, (left, right), strict=True)
    ]
    sides = list(same_types(spark, sides))
    found = read_suspects(find_suspects(spark, sides, comparison).toArrow(), group_count(sides))
    assert [found.counts[name].rows for name in SIDES] == [
        sum(range_ms[1] is None or row["_time"] < range_ms[1] for row in rows) for rows in (left, right)
    ]
    table = find_differences(spark, sides, found, Judge(comparison, range_ms[1], range_ms[1]), None)
    return {} if table is None else {row["key"]: row["class"] for row in table.toArrow().to_pylist()}


def _range(comparison: Comparison) -> tuple[int | None, int | None]:
    return (START_MS, END_MS) if comparison.lateness_ms else (None, None)
