"""Comparing two sides key by key, on a few rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from broker_core.spark.reconcile import Comparison, class_counts, classify, prepare, side_counts

pytestmark = pytest.mark.spark

SCHEMA = (
    "topic string, broker string, queue_id int, queue_offset bigint, store_timestamp timestamp, keys array<string>,"
    " tag string, unique_id string, body binary, properties map<string,string>, _error string"
)
START = datetime(2026, 5, 1, tzinfo=UTC)
Messages = Sequence[tuple[str | None, str]]


def topic(spark: SparkSession, messages: Messages, **changes: Any) -> DataFrame:
    """Return a topic with these keys, separated by spaces, and bodies; one message per second."""
    rows = [
        {
            "topic": "orders", "broker": "broker-a", "queue_id": 0, "queue_offset": number,
            "store_timestamp": START + timedelta(seconds=number), "keys": key.split() if key else [], "tag": None,
            "unique_id": f"U{key}", "body": bytearray(body.encode()), "properties": {}, "_error": None, **changes,
        }
        for number, (key, body) in enumerate(messages)
    ]  # fmt: skip
    return spark.createDataFrame([Row(**row) for row in rows], SCHEMA)


def rows_of(left: DataFrame, right: DataFrame, how: Comparison, copied_from: str | None = None) -> list[Row]:
    sides = (prepare(left, how, is_left=True, copied_from=copied_from), prepare(right, how, is_left=False))
    return classify(*sides, how).collect()


def compared(left: DataFrame, right: DataFrame, how: Comparison | None = None) -> dict[str, str]:
    return {row["key"]: row["class"] for row in rows_of(left, right, how or Comparison())}


def test_each_key_is_in_one_class(spark: SparkSession) -> None:
    left = topic(spark, [
        ("same", "x"), ("only-left", "x"), ("other", "x"), ("twice-left", "x"), ("twice-left", "x"),
        ("twice-right", "x"), ("twice", "x"), ("twice", "x"), ("many", "x"), ("many", "x"),
    ])  # fmt: skip
    right = topic(spark, [
        ("same", "x"), ("only-right", "x"), ("other", "y"), ("twice-left", "x"), ("twice-right", "x"),
        ("twice-right", "x"), ("twice", "x"), ("twice", "x"), ("many", "x"), ("many", "x"), ("many", "x"),
    ])  # fmt: skip
    assert compared(left, right) == {
        "same": "matched",
        "only-left": "missing_right",
        "only-right": "missing_left",
        "other": "different",
        "twice-left": "duplicate_left",
        "twice-right": "duplicate_right",
        "twice": "matched",
        "many": "duplicate",
    }


def test_all_messages_of_a_key_are_compared_and_not_the_last_alone(spark: SparkSession) -> None:
    left = topic(spark, [("k", "old"), ("k", "new"), ("j", "a"), ("j", "b"), ("i", "a"), ("i", "b")])
    right = topic(spark, [("k", "new"), ("k", "old"), ("j", "c"), ("j", "b"), ("i", "b")])
    assert compared(left, right) == {"k": "matched", "j": "different", "i": "different"}


def test_the_order_of_the_messages_of_a_key_may_count(spark: SparkSession) -> None:
    left = topic(spark, [("k", "old"), ("k", "new"), ("j", "a"), ("j", "b"), ("j", "a")])
    right = topic(spark, [("k", "new"), ("k", "old"), ("j", "a"), ("j", "b"), ("j", "a")])
    assert compared(left, right, Comparison(ordered=True)) == {"k": "reordered", "j": "matched"}


def test_positions_and_fields_are_reported(spark: SparkSession) -> None:
    left, right = topic(spark, [("a", "1"), ("b", "1"), ("b", "2")]), topic(spark, [("b", "1"), ("b", "3")])
    rows = {row["key"]: row for row in rows_of(left, right, Comparison())}
    assert (rows["b"].left_count, rows["b"].left_queue_offset, rows["b"].right_queue_offset) == (2, 2, 1)
    assert (rows["b"].left_broker, list(rows["b"].fields)) == ("broker-a", ["body"])
    assert (rows["a"].right_count, rows["a"].right_queue_id, list(rows["a"].fields)) == (0, None, [])


def test_a_message_without_a_partner_is_not_shown_next_to_one_that_both_sides_have(spark: SparkSession) -> None:
    left = topic(spark, [("k", "a"), ("k", "b"), ("k", "c")])
    (row,) = rows_of(left, topic(spark, [("k", "a"), ("k", "c")]), Comparison())
    assert (row["class"], row["left_count"], row["right_count"]) == ("different", 3, 2)
    assert (row["left_queue_offset"], row["right_queue_offset"], row["fields"]) == (1, None, ["body"])
    assert (row["right_broker"], row["right_store_timestamp"]) == (None, None)


@pytest.mark.parametrize(
    ("field", "left", "right"),
    [
        ("tag", {"tag": "A"}, {"tag": "B"}),
        ("tag", {"tag": None}, {"tag": "B"}),
        ("keys", {"keys": ["k", "j"]}, {"keys": ["k", "i"]}),
        ("properties", {"properties": {"color": "red"}}, {"properties": {"color": "blue"}}),
        ("properties", {"properties": {}}, {"properties": {"color": "blue"}}),
    ],
)
def test_what_is_compared_is_chosen(
    spark: SparkSession, field: str, left: dict[str, Any], right: dict[str, Any]
) -> None:
    sides = (topic(spark, [("k", "1")], **left), topic(spark, [("k", "1")], **right))
    by_body, by_field = (Comparison("unique_id", fields) for fields in (("body",), ("body", field)))
    assert compared(*sides, by_body) == {"Uk": "matched"}
    (row,) = rows_of(*sides, by_field)
    assert (row["class"], list(row.fields)) == ("different", [field])


def test_what_is_different_in_every_copy_is_not_reported(spark: SparkSession) -> None:
    own = {"color": "red", "UNIQ_KEY": "1", "GANTRY_JOB": "j", "TRANSACTION_X": "1", "KEYS": "k"}
    sides = (topic(spark, [("k", "1")], properties=own), topic(spark, [("k", "1")], properties={"color": "red"}))
    assert compared(*sides, Comparison(fields=("properties", "keys"))) == {"k": "matched"}


def test_every_key_of_a_message_is_looked_at(spark: SparkSession) -> None:
    left, right = topic(spark, [("a b b", "1")]), topic(spark, [("a c", "1")])
    assert compared(left, right) == {"a": "matched", "b": "missing_right", "c": "missing_left"}


def test_nothing_but_the_keys_need_be_compared(spark: SparkSession) -> None:
    sides = (topic(spark, [("k", "1")]), topic(spark, [("k", "2")]))
    assert compared(*sides, Comparison(fields=())) == {"k": "matched"}


def test_an_empty_body_is_not_a_missing_one(spark: SparkSession) -> None:
    assert compared(topic(spark, [("k", "")]), topic(spark, [("k", "x")])) == {"k": "different"}


def test_messages_can_be_paired_by_unique_id_and_by_body(spark: SparkSession) -> None:
    left, right = topic(spark, [("k", "1")]), topic(spark, [("k", "1"), ("j", "2")])
    assert compared(left, right, Comparison("unique_id")) == {"Uk": "matched", "Uj": "missing_left"}
    assert sorted(compared(left, right, Comparison("body", ())).values()) == ["matched", "missing_left"]


def test_copies_are_paired_with_their_originals(spark: SparkSession) -> None:
    originals = topic(spark, [("a", "1"), ("b", "2")])
    copies = topic(spark, [("a", "1")], properties={"GANTRY_SRC": "local/broker-a/orders/0/0"})
    rows = rows_of(originals, copies, Comparison("source"), copied_from="local")
    assert {row["key"]: row["class"] for row in rows} == {
        "local/broker-a/orders/0/0": "matched",
        "local/broker-a/orders/0/1": "missing_right",
    }


def test_messages_without_a_key_and_damaged_ones_are_counted_apart_and_the_damaged_named(spark: SparkSession) -> None:
    reason = "no record begins here"
    nothing = {"keys": None, "body": None, "unique_id": None, "properties": None, "store_timestamp": None}
    damaged = topic(spark, [(None, ""), (None, "")], **nothing, _error=reason)
    left = topic(spark, [("k", "1"), (None, "2")]).union(damaged)
    right = topic(spark, [("k", "1")])
    counts = prepare(left, Comparison(), is_left=True).agg(*side_counts("left")).first()
    assert counts == Row(rows_left=2, keyless_left=1, damaged_left=2)
    found = rows_of(left, right, Comparison())
    assert sorted((row["class"], row.left_queue_offset, row.damage) for row in found if row.damage) == [
        ("damaged_left", 0, reason),
        ("damaged_left", 1, reason),
    ]
    assert [row["class"] for row in found if not row.damage] == ["matched"]


def test_classes_are_counted_under_their_names(spark: SparkSession) -> None:
    left, right = (prepare(topic(spark, [("k", b)]), Comparison(), is_left=b == "1") for b in ("1", "2"))
    counts = classify(left, right, Comparison()).agg(*class_counts()).first()
    assert counts is not None
    assert counts["different"] == 1
    assert counts["matched"] == 0
