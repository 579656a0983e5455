"""Comparing two topics key by key: transformations only, a DataFrame in and a DataFrame out (spark.md 7.3).

A side is grouped by key before the join, so a key that comes twice makes one row, not four. Bodies do not travel: they
are compared by hash and length, and whoever wants to see them goes by queue and offset.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all of Spark's documentation uses

CLASSES: Final = (
    "matched",
    "missing_left",
    "missing_right",
    "different",
    "duplicate_left",
    "duplicate_right",
    "duplicate",
)
"""In the order in which they are told; `duplicate`: more than once on both sides, and not equally often."""

BY: Final = ("key", "unique_id", "body", "source")
COMPARE: Final = ("body", "none")

SOURCE_COLUMNS: Final = {
    "key": ("key",),
    "unique_id": ("unique_id",),
    "body": (),
    "source": ("topic", "broker", "properties"),
}
"""What must be read for each way to pair messages, besides `POSITION_COLUMNS` and `body`."""
POSITION_COLUMNS: Final = ("queue_id", "queue_offset", "store_timestamp", "body", "_error")


def side(topic: DataFrame, *, by: str, compare: str, copied_from: str | None = None) -> DataFrame:
    """Return key, value, time and position of each sound message of a topic; the key may be null.

    `by="source"` pairs originals with the copies that a replay made: `copied_from` is the cluster's name on the side of
    the originals, None on the side of the copies.
    """
    value = F.struct(F.xxhash64("body").alias("hash"), F.length("body").alias("length"))
    nothing = F.struct(F.lit(0).cast("long").alias("hash"), F.lit(0).alias("length"))
    return topic.where("_error is null").select(
        _key(by, copied_from).alias("key"),
        (value if compare == "body" and by != "body" else nothing).alias("value"),
        F.struct("store_timestamp", "queue_id", "queue_offset").alias("position"),
    )


def _key(by: str, copied_from: str | None) -> Column:
    if by == "body":
        return F.sha2("body", 256)
    return _source_key(copied_from) if by == "source" else F.col(by)


def _source_key(copied_from: str | None) -> Column:
    if copied_from is None:
        return F.col("properties")["GANTRY_SRC"]
    return F.concat_ws("/", F.lit(copied_from), "broker", "topic", "queue_id", "queue_offset")


def group(rows: DataFrame) -> DataFrame:
    """Return one row per key that is not null: how often it comes, its last value by store time, where that is."""
    return (
        rows.where("key is not null")
        .groupBy("key")
        .agg(
            F.count("*").alias("count"),
            F.max_by("value", "position").alias("value"),
            F.max("position").alias("position"),
        )
        .select("key", "count", "value", "position")
    )


def classify(left: DataFrame, right: DataFrame) -> DataFrame:
    """Return one row per key of either side with its class; both sides as `group` makes them, so keys are unique."""
    sides = left.alias("l").join(right.alias("r"), on="key", how="full_outer")
    same = F.col("l.value").eqNullSafe(F.col("r.value"))
    left_count, right_count = F.col("l.count"), F.col("r.count")
    found = (
        F.when(left_count.isNull(), "missing_left")
        .when(right_count.isNull(), "missing_right")
        .when((left_count > 1) & (right_count > 1) & (left_count != right_count), "duplicate")
        .when((left_count > 1) & (right_count == 1), "duplicate_left")
        .when((right_count > 1) & (left_count == 1), "duplicate_right")
        .when(~same, "different")
        .otherwise("matched")
    )
    both = left_count.isNotNull() & right_count.isNotNull()
    return sides.select(
        found.alias("class"),
        F.col("key"),
        *_place("l", "left"),
        *_place("r", "right"),
        F.when(both & ~same, F.array(F.lit("body"))).otherwise(F.array().cast("array<string>")).alias("fields"),
    )


def _place(alias: str, name: str) -> list[Column]:
    return [
        F.coalesce(F.col(f"{alias}.count"), F.lit(0)).alias(f"{name}_count"),
        F.col(f"{alias}.position.queue_id").alias(f"{name}_queue_id"),
        F.col(f"{alias}.position.queue_offset").alias(f"{name}_queue_offset"),
        F.col(f"{alias}.position.store_timestamp").alias(f"{name}_store_timestamp"),
    ]


def class_counts() -> list[Column]:
    """Return the aggregates that count each class, named by it."""
    return [F.count_if(F.col("class") == name).alias(name) for name in CLASSES]


def side_counts(name: str) -> list[Column]:
    """Return the aggregates that count what a side has: rows, rows without a key."""
    return [F.count("*").alias(f"rows_{name}"), F.count_if(F.col("key").isNull()).alias(f"keyless_{name}")]
