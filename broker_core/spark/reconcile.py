"""Comparing two topics key by key: transformations only, from DataFrame to DataFrame.

The messages of a key are compared as a multiset: how often each value occurs on either side. Bodies are not shuffled;
they are compared by hash, and can be found by queue and offset. One shuffle by key is enough
(spark/README.md#reconciliation)::

    left ─┐                        key, value → how often left, how often right
          ├─ union ─ by key ─────┤
    right ┘                        key → class, and one message of each side as evidence
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all of Spark's documentation uses

from broker_core.protocol.copies import NOT_COPIED, NOT_COPIED_PREFIXES, PROVENANCE

SIDES: Final = ("left", "right")
CLASSES: Final = (
    "matched",
    "missing_left",
    "missing_right",
    "different",
    "duplicate_left",
    "duplicate_right",
    "duplicate",
    "reordered",
)
"""The order of the classes in reports. `different`: one side has a value that the other lacks; `duplicate`: both
have the same values in several messages, but not equally often; `reordered`: equally often, in another order."""
DAMAGED: Final = ("damaged_left", "damaged_right")
"""Classes of messages that could not be compared."""

BY: Final = ("key", "unique_id", "body", "source")
FIELDS: Final = ("body", "tag", "keys", "properties")
"""The fields that can be compared; the properties are those that producers set themselves."""

_BY_COLUMNS: Final = {
    "key": ("keys",),
    "unique_id": ("unique_id",),
    "body": ("body",),
    "source": ("topic", "properties"),
}
_POSITION: Final = ("store_timestamp", "broker", "queue_id", "queue_offset")
_OWN_FIELDS: Final = ("KEYS", "TAGS", "PROPERTIES", *PROVENANCE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two topics are compared."""

    by: str = "key"
    fields: tuple[str, ...] = ("body",)
    """Some of `FIELDS`; none to search only for missing and duplicate messages."""
    ordered: bool = False
    """Whether the messages of a key must have the same order, by store time."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read of each message."""
        return tuple(dict.fromkeys((*_POSITION, "_error", *_BY_COLUMNS[self.by], *self.fields)))


def prepare(topic: DataFrame, comparison: Comparison, *, is_left: bool, copied_from: str | None = None) -> DataFrame:
    """Return each message of a side with its keys, the hashes of the compared fields, and its position.

    `by="source"` pairs originals with the copies of a replay: `copied_from` is the cluster's name on the side of the
    originals, None on the side of the copies.
    """
    is_damaged = F.col("_error").isNotNull()
    parts = [F.xxhash64(*_hashed(name)).alias(name) for name in comparison.fields]
    place = F.xxhash64(F.lit(is_left), "broker", "queue_id", "queue_offset")
    return topic.select(
        F.lit(is_left).alias("is_left"),
        _keys(comparison.by, copied_from).alias("keys"),
        # Each damaged message is a row of its own.
        F.when(is_damaged, place).otherwise(F.xxhash64(*parts) if parts else F.lit(0).cast("long")).alias("value"),
        F.struct(*(parts or [F.lit(0).alias("nothing")])).alias("parts"),
        F.struct(*_POSITION).alias("position"),
        F.col("_error").alias("damage"),
    )


def _keys(by: str, copied_from: str | None) -> Column:
    if by == "key":
        return F.array_distinct(F.coalesce("keys", F.array().cast("array<string>")))
    one = {"unique_id": F.col("unique_id"), "body": F.sha2("body", 256), "source": _source_key(copied_from)}[by]
    return F.array_compact(F.array(one))


def _source_key(copied_from: str | None) -> Column:
    if copied_from is None:
        return F.col("properties")["GANTRY_SRC"]
    return F.concat_ws("/", F.lit(copied_from), "broker", "topic", "queue_id", "queue_offset")


def _hashed(name: str) -> list[Column]:
    """Return the input of a field's hash: `xxhash64` ignores nulls, so null flags are hashed too."""
    if name == "body":
        return [F.col("body"), F.length("body")]
    if name == "tag":
        return [F.col("tag"), F.col("tag").isNull()]
    if name == "keys":
        return [F.array_sort("keys")]
    own = F.map_filter("properties", lambda key, _: ~_is_of_the_system(key))
    return [F.array_sort(F.map_entries(own))]


def _is_of_the_system(key: Column) -> Column:
    begins = [key.startswith(prefix) for prefix in NOT_COPIED_PREFIXES]
    return reduce(operator.or_, begins, key.isin(*NOT_COPIED, *_OWN_FIELDS))


def side_counts(name: str) -> list[Column]:
    """Return the aggregates that count the messages of a side: intact, without a key, damaged."""
    is_sound = F.col("damage").isNull()
    return [
        F.count_if(is_sound).alias(f"rows_{name}"),
        F.count_if(is_sound & (F.size("keys") == 0)).alias(f"keyless_{name}"),
        F.count_if(~is_sound).alias(f"damaged_{name}"),
    ]


def classify(left: DataFrame, right: DataFrame, comparison: Comparison) -> DataFrame:
    """Return one row per key of either side with its class, and one per damaged message; sides come from `prepare`.

    A message counts for each of its keys.
    """
    no_keys = F.array(F.lit(None).cast("string"))
    both = left.union(right).withColumn(
        "key", F.explode(F.when(F.col("damage").isNull(), F.col("keys")).otherwise(no_keys))
    )
    return _by_key(_by_value(both.repartition("key"), comparison), comparison)


def _by_value(rows: DataFrame, comparison: Comparison) -> DataFrame:
    is_left = F.col("is_left")
    totals: list[Column] = []
    for name, of_side in zip(SIDES, (is_left, ~is_left), strict=True):
        totals += [F.count_if(of_side).alias(name), F.max(F.when(of_side, F.col("position"))).alias(f"{name}_position")]
    if comparison.ordered:
        rows = rows.withColumn("place", _place_in_order())
        for name, of_side in zip(SIDES, (is_left, ~is_left), strict=True):
            totals.append(F.bit_xor(F.when(of_side, F.xxhash64("place"))).alias(f"{name}_order"))
    return rows.groupBy("key", "value", "damage").agg(F.first("parts").alias("parts"), *totals)


def _place_in_order() -> Column:
    from pyspark.sql import Window

    return F.row_number().over(Window.partitionBy("key", "is_left", "damage").orderBy("position"))


def _by_key(values: DataFrame, comparison: Comparison) -> DataFrame:
    left, right = F.col("left"), F.col("right")
    unordered = ~F.col("left_order").eqNullSafe(F.col("right_order")) if comparison.ordered else F.lit(False)
    of_damage = F.when(F.col("damage").isNotNull(), F.col("value")).alias("damaged")
    keys = values.groupBy("key", of_damage).agg(
        F.first("damage").alias("damage"),
        F.sum("left").alias("left_count"),
        F.sum("right").alias("right_count"),
        F.count_if((left == 0) | (right == 0)).alias("alone"),
        F.count_if(left != right).alias("unequal"),
        F.count_if(unordered).alias("unordered"),
        *(_evidence(name, other).alias(f"{name}_evidence") for name, other in (SIDES, SIDES[::-1])),
        *(F.max(F.col(name) > F.col(other)).alias(f"{name}_has_more") for name, other in (SIDES, SIDES[::-1])),
    )
    named = keys.withColumn("class", _class())
    places = [column for name in SIDES for column in _place(name)]
    return named.select("class", "key", *places, _different_fields(comparison.fields).alias("fields"), "damage")


def _evidence(name: str, other: str) -> Column:
    """Return the last message of a side, preferably one that the other side has fewer of."""
    position = F.col(f"{name}_position")
    order = F.when(F.col(name) > 0, F.struct(F.col(name) > F.col(other), position))
    return F.max_by(F.struct(position.alias("position"), F.col("parts").alias("parts")), order)


def _class() -> Column:
    left, right = F.col("left_count"), F.col("right_count")
    is_damaged = F.col("damage").isNotNull()
    return (
        F.when(is_damaged & (left > 0), DAMAGED[0])
        .when(is_damaged, DAMAGED[1])
        .when(left == 0, "missing_left")
        .when(right == 0, "missing_right")
        .when((F.col("unequal") == 0) & (F.col("unordered") > 0), "reordered")
        .when(F.col("unequal") == 0, "matched")
        .when(F.col("alone") > 0, "different")
        .when((left > 1) & (right > 1), "duplicate")
        .when(left > 1, "duplicate_left")
        .otherwise("duplicate_right")
    )


def _different_fields(fields: Sequence[str]) -> Column:
    """Return the fields in which two messages of a key differ; all fields if one message has no partner."""
    nothing = F.array().cast("array<string>")
    names = [
        F.when(F.col(f"left_evidence.parts.{name}") != F.col(f"right_evidence.parts.{name}"), name) for name in fields
    ]
    if not names:
        return nothing
    is_pair = F.col("left_has_more") & F.col("right_has_more")
    differing = F.when(is_pair, F.array_compact(F.array(*names))).otherwise(F.array(*map(F.lit, fields)))
    return F.when(F.col("class") == "different", differing).otherwise(nothing)


def _place(name: str) -> list[Column]:
    # Next to a message without a partner, a message that both sides have would look like its other version.
    is_shown = (F.col("class") != "different") | F.col(f"{name}_has_more")
    parts = ("broker", "queue_id", "queue_offset", "store_timestamp")
    return [
        F.col(f"{name}_count"),
        *(F.when(is_shown, F.col(f"{name}_evidence.position.{part}")).alias(f"{name}_{part}") for part in parts),
    ]


def class_counts() -> list[Column]:
    """Return the aggregates that count each class, under its name."""
    return [F.count_if(F.col("class") == name).alias(name) for name in CLASSES]
