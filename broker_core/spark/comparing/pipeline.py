"""The comparison as Spark work, in three steps (spark/README.md#reconciliation).

::

    read both sides → 32 bytes a row → by key's hash → which keys do not match        `find_suspects`
    read the rows of these keys again, with their values → by key → a verdict each    `find_differences`

Rows pass through Java only where an SQL expression asks for it; between the tasks travel packed rows, not messages.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from broker_core.spark.comparing.comparison import SIDES, Comparison
from broker_core.spark.comparing.expressions import (
    SideSql,
    check_tolerance,
    common_key_type,
    common_type,
    side_sql,
)
from broker_core.spark.comparing.fingerprints import (
    ROW,
    Fingerprints,
    SideCounts,
    judge,
    split,
    unpack_places,
)
from broker_core.spark.comparing.hashes import Hashes, mix
from broker_core.spark.comparing.keys import Extractor, field_column
from broker_core.spark.comparing.sides import PLACE_FIELDS, Ranges, Side
from broker_core.spark.failed_values import Expression
from broker_core.spark.tasks import map_in_arrow

# A group is sorted in the memory of one task.
_ROWS_OF_GROUP: Final = 500_000
_MOST_GROUPS: Final = 1024
_SEND_ROWS: Final = 1_000_000
_MANY_SUSPECTS: Final = 20_000
_GAP: Final = 64
_MOST_RANGES: Final = 200

Batches = Iterable[Any]


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side, and what is made of its rows; travels to the tasks."""

    name: str
    side: Side
    prints: Fingerprints
    sql: SideSql

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns to read."""
        names = self.side.names()
        return tuple(dict.fromkeys((*self.prints.extractor.columns, *self.sql.columns(names))))

    def expressions(self, session: SparkSession) -> list[Expression]:
        """Return the expressions, so that the one that fails on a value can be found."""
        return [
            Expression(part, text, partial(replace(self.again(), sql=only)._alone, session))
            for part, text, only in self.sql.each_alone()
        ]

    def _alone(self, session: SparkSession) -> DataFrame:
        work = [(number, None) for number in range(len(self.side.parts))]
        return self.table(session, work, self.sql.columns(self.side.names()))

    def again(self) -> ComparedSide:
        """Return this side for a second read, which is not counted as progress."""
        return replace(self, side=self.side.again())

    def table(
        self, session: SparkSession, work: Sequence[tuple[int, Ranges | None]], columns: Sequence[str]
    ) -> DataFrame:
        """Return the rows of these parts as a DataFrame with the columns of the expressions, one task each."""
        side, items, read = self.side, list(work), tuple(columns)

        def run(batches: Batches) -> Iterator[Any]:
            for number in numbers_of(batches):
                yield from side.read(items[number][0], read, items[number][1])

        schema = pa.schema([*PLACE_FIELDS, *side.fields(read)])
        return self.sql.select(map_in_arrow(work_table(session, len(items)), run, spark_schema(schema)))


def compared_side(
    name: str,
    side: Side,
    comparison: Comparison,
    *,
    range_ms: tuple[int | None, int | None] = (None, None),
    where: str | None = None,
    copied_from: str | None = None,
) -> ComparedSide:
    """Return how a side is compared.

    `range_ms` is what is judged of it, `where` an SQL condition, `copied_from` as in `Extractor`.
    """
    extractor = Extractor(name, comparison, copied_from)
    sql = side_sql(name, comparison, where, extractor.columns)
    return ComparedSide(name, side, Fingerprints(extractor, *range_ms), sql)


def same_types(session: SparkSession, sides: Sequence[ComparedSide]) -> tuple[ComparedSide, ...]:
    """Return the sides with casts that give the key and the values of each expression one type on both.

    Raises BadRequest for an expression that is wrong, and for values that cannot be compared.
    """
    if all(side.sql.is_empty for side in sides):
        return tuple(sides)
    # All columns, so that Spark can suggest the one that was meant.
    columns = [tuple(dict.fromkeys((*side.columns, *side.side.names()))) for side in sides]
    schemas = [side.table(session, [], names).schema for side, names in zip(sides, columns, strict=True)]
    casts: list[str | None] = []
    for number, each in enumerate(sides[0].prints.extractor.comparison.fields):
        if each.left is None:
            casts.append(None)
            continue
        kinds = [schema[field_column(number)].dataType for schema in schemas]
        casts.append(common_type(each.name, *kinds))
        if each.tolerance is not None:
            check_tolerance(each.name, *kinds)
    key = _key_type(session, sides, columns)
    return tuple(replace(side, sql=replace(side.sql, types=tuple(casts), key_type=key)) for side in sides)


def _key_type(session: SparkSession, sides: Sequence[ComparedSide], columns: Sequence[tuple[str, ...]]) -> str | None:
    if any(side.sql.key is None for side in sides):
        return None
    # As a field the key is what its expression makes of it: as a key it is a text.
    alone = [replace(side, sql=SideSql(side.name, fields=(side.sql.key,), names=("key",))) for side in sides]
    tables = [side.table(session, [], names) for side, names in zip(alone, columns, strict=True)]
    return common_key_type(*(table.schema[field_column(0)].dataType for table in tables))


@dataclass(slots=True)
class Found:
    """What the first step found."""

    matched: int = 0
    minutes: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Matched keys by the minute (since 1970) of their first row; -1 without a time."""
    counts: dict[str, SideCounts] = field(default_factory=lambda: {name: SideCounts(name) for name in SIDES})
    places: list[Hashes] = field(default_factory=list)
    keys: list[Hashes] = field(default_factory=list)
    reordered: set[int] = field(default_factory=set)
    left_out: dict[int, int] = field(default_factory=dict)
    whole_groups: set[int] = field(default_factory=set)
    """Groups with so many suspects that all their rows are compared."""
    groups: int = 1
    rows_of_groups: int = 0
    """How many rows the whole groups have."""
    keys_judged: int = 0
    """How many keys do not match by their hashes."""


def find_suspects(session: SparkSession, sides: Sequence[ComparedSide], comparison: Comparison) -> DataFrame:
    """Return the verdicts of the hashes, a row for each group of keys (`read_suspects`)."""
    groups = group_count(sides)
    packed = [_packed(session, side, groups) for side in sides if len(side.side.parts)]
    if not packed:
        return session.createDataFrame([], spark_schema(VERDICTS))
    rows = packed[0] if len(packed) == 1 else packed[0].union(packed[1])

    def run(batches: Batches) -> Iterator[Any]:
        parts: dict[int, list[Any]] = defaultdict(list)
        for batch in batches:
            for group, counts, content in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                if counts is not None:
                    yield make_batch(VERDICTS, [(None, counts, 0, None, None, None, False, 0, 0)])
                else:
                    parts[group].append(np.frombuffer(content, ROW))
        for group, found in parts.items():
            yield verdict_batch(group, np.concatenate(found), comparison)
            found.clear()

    return map_in_arrow(rows.repartitionById(groups, rows["group"]), run, spark_schema(VERDICTS))


def group_count(sides: Sequence[ComparedSide]) -> int:
    """Return into how many groups the keys are divided."""
    known = [side.side.known_rows for side in sides]
    rows = sum(each or 0 for each in known) if None not in known else 20 * _ROWS_OF_GROUP
    return max(2, min(_MOST_GROUPS, -(-rows // _ROWS_OF_GROUP)))


PACKED: Final = pa.schema([("group", pa.int32()), ("counts", pa.string()), ("rows", pa.binary())])
VERDICTS: Final = pa.schema(
    [
        ("group", pa.int32()), ("counts", pa.string()), ("matched", pa.int64()), ("minutes", pa.binary()),
        ("suspects", pa.binary()), ("special", pa.string()), ("is_whole", pa.bool_()), ("rows", pa.int64()),
        ("unmatched", pa.int64()),
    ]
)  # fmt: skip


def _packed(session: SparkSession, side: ComparedSide, groups: int) -> DataFrame:
    """Return the packed rows of a side by group, and its counts."""
    columns, prints, read = side.columns, side.prints, side.side.read

    def pack(batches: Batches) -> Iterator[Any]:
        waiting: list[Any] = []
        total = SideCounts(prints.extractor.side)
        for batch in batches:
            rows, counts = prints.make(batch)
            waiting.append(rows)
            total += counts
            if sum(map(len, waiting)) > _SEND_ROWS:
                yield from _grouped(waiting, groups)
        yield from _grouped(waiting, groups)
        content = json.dumps([total.side, total.rows, total.keyless, total.damaged])
        yield make_batch(PACKED, [(0, content, None)])

    def run(batches: Batches) -> Iterator[Any]:
        yield from pack(batch for number in numbers_of(batches) for batch in read(number, columns))

    count = len(side.side.parts)
    if side.sql.is_empty:
        return map_in_arrow(work_table(session, count), run, spark_schema(PACKED))
    table = side.table(session, [(number, None) for number in range(count)], columns)
    return map_in_arrow(table, pack, spark_schema(PACKED))


def _grouped(waiting: list[Any], groups: int) -> Iterator[Any]:
    if waiting:
        rows = np.concatenate(waiting)
        waiting.clear()
        for group, part in split(rows, groups):
            yield make_batch(PACKED, [(group, None, part.tobytes())])


def verdict_batch(group: int, rows: Any, comparison: Comparison) -> Any:
    """Return the verdict on a group as a row of `VERDICTS`."""
    verdict = judge(rows, comparison)
    minutes, numbers = np.unique(verdict.minutes, return_counts=True)
    is_whole = len(verdict.suspects) > max(_MANY_SUSPECTS, len(rows) // 10)
    suspects = np.empty((0 if is_whole else len(verdict.suspects), 2), "<u8")
    if not is_whole:
        suspects[:, 0], suspects[:, 1] = verdict.suspects["key"], verdict.suspects["place"]
    special = json.dumps([verdict.reordered.tolist(), list(verdict.left_out.items())])
    by_minute = np.stack((minutes, numbers)).astype("<i8")
    content = (verdict.matched, by_minute.tobytes(), suspects.tobytes(), special, is_whole, len(rows))
    return make_batch(VERDICTS, [(group, None, *content, verdict.unmatched)])


def read_suspects(verdicts: Any, groups: int) -> Found:
    """Return what `find_suspects` found, from its rows as an Arrow table."""
    found = Found(groups=groups)
    for row in verdicts.to_pylist():
        if row["counts"] is not None:
            counts = SideCounts(*json.loads(row["counts"]))
            found.counts[counts.side] += counts
            continue
        reordered, left_out = json.loads(row["special"])
        found.reordered |= set(reordered)
        if row["is_whole"]:
            found.whole_groups.add(row["group"])
            found.rows_of_groups += row["rows"]
        else:
            found.left_out |= dict(left_out)
        found.matched += row["matched"]
        found.keys_judged += row["unmatched"]
        minutes = np.frombuffer(row["minutes"], "<i8").reshape(2, -1)
        for minute, number in minutes.T.tolist():
            found.minutes[minute] += number
        suspects = np.frombuffer(row["suspects"], "<u8").reshape(-1, 2)
        found.keys.append(suspects[:, 0])
        found.places.append(suspects[:, 1])
    return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of one side the second step needs."""

    pairs: Hashes
    """For each row, `pair_of` its key and place, sorted."""
    groups: int
    whole_groups: frozenset[int]
    work: tuple[tuple[int, Ranges | None], ...]
    """Which parts to read, and what of them."""


def pair_of(keys: Hashes, parts: Any, offsets: Any) -> Hashes:
    """Return one number for each pair of a key and a place."""
    places = (np.asarray(parts).astype(np.uint64) << np.uint64(43)) | np.asarray(offsets).astype(np.uint64)
    return np.asarray(keys + mix(places))


def wanted_rows(found: Found, side: Side, *, is_right: bool) -> Wanted:
    """Return what to read again of a side."""
    places = unpack_places(np.concatenate([*found.places, np.zeros(0, np.uint64)]))
    keys = np.concatenate([*found.keys, np.zeros(0, np.uint64)])
    mine = places.is_right == is_right
    parts, offsets = places.part[mine], places.offset[mine]
    if found.whole_groups:
        work: list[tuple[int, Ranges | None]] = [(number, None) for number in range(len(side.parts))]
    else:
        work = [(int(part), _ranges(np.unique(offsets[parts == part]))) for part in np.unique(parts)]
    pairs = np.sort(pair_of(keys[mine], parts, offsets))
    return Wanted(pairs, found.groups, frozenset(found.whole_groups), tuple(work))


def _ranges(offsets: NDArray[np.int64]) -> Ranges | None:
    """Return few ranges that contain the offsets; None if these are too many to be read one by one."""
    breaks = np.flatnonzero(np.diff(offsets) > _GAP) + 1
    if len(breaks) >= _MOST_RANGES:
        return None
    begins, ends = offsets[np.append(0, breaks)], offsets[np.append(breaks - 1, len(offsets) - 1)] + 1
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def numbers_of(batches: Batches) -> Iterator[int]:
    """Yield the numbers that the tasks of `work_table` get."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def work_table(session: SparkSession, count: int) -> DataFrame:
    """Return a DataFrame of so many numbers, a task for each."""
    return session.range(0, count, 1, max(1, count))


def make_batch(schema: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Return rows as a batch of a schema."""
    columns = [pa.array(list(column), kind.type) for column, kind in zip(zip(*rows, strict=True), schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def spark_schema(schema: Any) -> Any:
    """Return an Arrow schema as Spark's."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
