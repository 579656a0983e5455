"""Comparing two sides key by key, on a few rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from broker_core.spark.reconcile import class_counts, classify, group, side, side_counts

pytestmark = pytest.mark.spark

SCHEMA = (
    "topic string, broker string, queue_id int, queue_offset bigint, store_timestamp timestamp, key string,"
    " unique_id string, body binary, properties map<string,string>, _error string"
)
START = datetime(2026, 5, 1, tzinfo=UTC)


def topic(spark: SparkSession, *messages: tuple[str | None, str], **changes: Any) -> DataFrame:
    """Return a topic with these keys and bodies, one message a second."""
    rows = [
        {
            "topic": "orders", "broker": "broker-a", "queue_id": 0, "queue_offset": number,
            "store_timestamp": START + timedelta(seconds=number), "key": key, "unique_id": f"U{key}",
            "body": bytearray(body.encode()), "properties": {}, "_error": None, **changes,
        }
        for number, (key, body) in enumerate(messages)
    ]  # fmt: skip
    return spark.createDataFrame([Row(**row) for row in rows], SCHEMA)


def compared(left: DataFrame, right: DataFrame, *, by: str = "key", compare: str = "body") -> dict[str, str]:
    sides = [group(side(each, by=by, compare=compare)) for each in (left, right)]
    return {row["key"]: row["class"] for row in classify(*sides).collect()}


def test_each_key_is_in_one_class(spark: SparkSession) -> None:
    left = topic(
        spark, ("same", "x"), ("only-left", "x"), ("other", "x"), ("twice-left", "x"), ("twice-left", "x"),
        ("twice-right", "x"), ("twice", "x"), ("twice", "x"), ("many", "x"), ("many", "x"),
    )  # fmt: skip
    right = topic(
        spark, ("same", "x"), ("only-right", "x"), ("other", "y"), ("twice-left", "x"), ("twice-right", "x"),
        ("twice-right", "x"), ("twice", "x"), ("twice", "x"), ("many", "x"), ("many", "x"), ("many", "x"),
    )  # fmt: skip
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


def test_the_last_message_of_a_key_is_the_one_that_is_compared(spark: SparkSession) -> None:
    left = topic(spark, ("k", "old"), ("k", "new"))
    assert compared(left, topic(spark, ("k", "old"), ("k", "new"))) == {"k": "matched"}
    assert compared(left, topic(spark, ("k", "new"), ("k", "old"))) == {"k": "different"}


def test_places_and_fields_are_told(spark: SparkSession) -> None:
    sides = [
        group(side(topic(spark, *messages), by="key", compare="body"))
        for messages in ([("a", "1"), ("b", "1"), ("b", "2")], [("b", "3")])
    ]
    rows = {row["key"]: row for row in classify(*sides).collect()}
    assert (rows["b"].left_count, rows["b"].left_queue_offset, rows["b"].right_queue_offset) == (2, 2, 0)
    assert list(rows["b"].fields) == ["body"]
    assert (rows["a"].right_count, rows["a"].right_queue_id, list(rows["a"].fields)) == (0, None, [])


def test_bodies_need_not_be_compared(spark: SparkSession) -> None:
    assert compared(topic(spark, ("k", "1")), topic(spark, ("k", "2")), compare="none") == {"k": "matched"}


def test_an_empty_body_is_not_a_missing_one(spark: SparkSession) -> None:
    assert compared(topic(spark, ("k", "")), topic(spark, ("k", "x"))) == {"k": "different"}


def test_messages_can_be_paired_by_unique_id_and_by_body(spark: SparkSession) -> None:
    left, right = topic(spark, ("k", "1")), topic(spark, ("k", "1"), ("j", "2"))
    assert compared(left, right, by="unique_id") == {"Uk": "matched", "Uj": "missing_left"}
    assert sorted(compared(left, right, by="body").values()) == ["matched", "missing_left"]


def test_copies_are_paired_with_their_originals(spark: SparkSession) -> None:
    originals = topic(spark, ("a", "1"), ("b", "2"))
    copies = topic(spark, ("a", "1"), properties={"GANTRY_SRC": "local/broker-a/orders/0/0"})
    left = group(side(originals, by="source", compare="body", copied_from="local"))
    right = group(side(copies, by="source", compare="body"))
    assert {row["key"]: row["class"] for row in classify(left, right).collect()} == {
        "local/broker-a/orders/0/0": "matched",
        "local/broker-a/orders/0/1": "missing_right",
    }


def test_messages_without_a_key_are_counted_apart_and_damaged_ones_not_at_all(spark: SparkSession) -> None:
    rows = side(topic(spark, ("k", "1"), (None, "2")), by="key", compare="body")
    damaged = side(topic(spark, ("z", "1"), _error="no record begins here"), by="key", compare="body")
    assert rows.union(damaged).agg(*side_counts("left")).first() == Row(rows_left=2, keyless_left=1)
    assert group(rows).count() == 1


def test_classes_are_counted_under_their_names(spark: SparkSession) -> None:
    left, right = (group(side(topic(spark, ("k", body)), by="key", compare="body")) for body in ("1", "2"))
    counts = classify(left, right).agg(*class_counts()).first()
    assert counts is not None
    assert counts["different"] == 1
    assert counts["matched"] == 0
