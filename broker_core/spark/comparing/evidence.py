"""The second step of a comparison: the rows of the keys that do not match are read again, with their values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from broker_core.spark.comparing.comparison import SIDES
from broker_core.spark.comparing.fingerprints import group_of
from broker_core.spark.comparing.hashes import hash_column
from broker_core.spark.comparing.judging import ExactRow, Judge, Judged
from broker_core.spark.comparing.pipeline import (
    ComparedSide,
    Found,
    Wanted,
    numbers_of,
    pair_of,
    spark_schema,
    wanted_rows,
    work_table,
)
from broker_core.spark.comparing.sides import RowPlace, Side
from broker_core.spark.comparing.texts import shown_column
from broker_core.spark.tasks import map_in_arrow

_ROWS_OF_BUCKET: Final = 100_000
_ROWS_OF_FILE: Final = 50_000
_MOST_BUCKETS: Final = 1024
TAG: Final = "tag"

_EXACT: Final = pa.schema(
    [
        ("bucket", pa.int32()), ("key", pa.string()), ("key_hash", pa.uint64()), ("side", pa.int8()),
        ("outside", pa.bool_()), ("part", pa.int32()), ("offset", pa.int64()), ("time", pa.int64()),
        ("damage", pa.string()), ("note", pa.string()), ("tag", pa.string()),
        ("hashes", pa.list_(pa.int64())), ("texts", pa.list_(pa.string())),
    ]
)  # fmt: skip
# Spark has no unsigned numbers.
_SENT: Final = pa.schema([field.with_type(pa.int64()) if field.name == "key_hash" else field for field in _EXACT])

_SIDE_FIELDS: Final = (
    ("count", pa.int64()), ("broker", pa.string()), ("queue_id", pa.int32()), ("queue_offset", pa.int64()),
    ("place", pa.string()), ("store_timestamp", pa.timestamp("us", tz="UTC")),
)  # fmt: skip
_VALUES: Final = pa.map_(pa.string(), pa.string())
DIFFERENCES: Final = pa.schema(
    [
        ("class", pa.string()), ("key", pa.string()),
        *((f"{side}_{name}", kind) for side in SIDES for name, kind in _SIDE_FIELDS),
        ("fields", pa.list_(pa.string())), ("left_values", _VALUES), ("right_values", _VALUES),
        ("damage", pa.string()), ("note", pa.string()), ("tag", pa.string()),
        ("lost", pa.list_(pa.struct(
            [("broker", pa.string()), ("queue_id", pa.int32()), ("queue_offset", pa.int64())]
        ))),
    ]
)  # fmt: skip
"""The columns of the differences; `place` names the row of a side that has no queues, `lost` are all messages of the
left whose key the right does not have."""


@dataclass(frozen=True, slots=True)
class Exact:
    """Makes the rows of the second step of a side."""

    compared: ComparedSide
    wanted: Wanted
    buckets: int

    def make(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the wanted rows of batches, one for each key."""
        for batch in batches:
            for part in self._rows(batch):
                if part.num_rows:
                    yield part

    def _rows(self, batch: Any) -> Iterator[Any]:
        batch = self.compared.prints.within_reach(batch)
        damaged = pc.is_valid(batch.column("_error")).to_numpy(zero_copy_only=False)
        if damaged.any():
            yield self._damaged(batch.filter(pa.array(damaged)))
            batch = batch.filter(pa.array(~damaged))
        extractor = self.compared.prints.extractor
        keys = extractor.keys(batch)
        lengths = pc.list_value_length(keys).to_numpy(zero_copy_only=False).astype(np.int64)
        values, hashes = keys.flatten(), hash_column(keys.flatten())
        rows = np.repeat(np.arange(batch.num_rows), lengths)
        chosen = self._chosen(hashes, batch, rows)
        rows, texts = rows[chosen], [extractor.key_text(key) for key in values.filter(pa.array(chosen)).to_pylist()]
        yield self._assemble(batch.take(pa.array(rows)), pa.array(texts, pa.string()), hashes[chosen])

    def _chosen(self, hashes: Any, batch: Any, rows: Any) -> Any:
        parts, offsets = (batch.column(name).to_numpy()[rows] for name in ("_part", "_offset"))
        pairs, wanted = pair_of(hashes, parts, offsets), self.wanted.pairs
        at = np.minimum(np.searchsorted(wanted, pairs), max(0, len(wanted) - 1))
        chosen = wanted[at] == pairs if len(wanted) else np.zeros(len(pairs), bool)
        if self.wanted.whole_groups:
            groups = group_of(hashes, self.wanted.groups)
            chosen = chosen | np.isin(groups, list(self.wanted.whole_groups))
        return chosen

    def _damaged(self, batch: Any) -> Any:
        parts, offsets = (batch.column(name).to_numpy() for name in ("_part", "_offset"))
        # Each damaged row is a key of its own.
        side = np.uint64(1 + SIDES.index(self.compared.name))
        hashes = pair_of(np.full(batch.num_rows, side, np.uint64), parts, offsets)
        return self._assemble(batch, pa.nulls(batch.num_rows, pa.string()), hashes)

    def _assemble(self, batch: Any, keys: Any, hashes: Any) -> Any:
        extractor, count = self.compared.prints.extractor, batch.num_rows
        fields = range(len(extractor.comparison.fields))
        numbers = [column.view(np.int64) for column in extractor.hashes(batch)]
        texts = [shown_column(extractor.field(batch, number)) for number in fields]
        tag = batch.column(TAG) if TAG in batch.schema.names else pa.nulls(count, pa.string())
        buckets = (hashes >> np.uint64(20)) % np.uint64(self.buckets)
        arrays = {
            "bucket": pa.array(buckets.astype(np.int32)),
            "key": keys,
            "key_hash": pa.array(hashes.view(np.int64)),
            "side": pa.array(np.full(count, SIDES.index(self.compared.name), np.int8)),
            "outside": pa.array(self.compared.prints.is_outside(batch)),
            "part": batch.column("_part"),
            "offset": batch.column("_offset"),
            "time": pc.fill_null(batch.column("_time"), -1),
            "damage": batch.column("_error"),
            "note": batch.column("_note"),
            "tag": tag,
            "hashes": pa.array(list(zip(*(each.tolist() for each in numbers), strict=True)) or [()] * count,
                               pa.list_(pa.int64())),
            "texts": pa.array(list(zip(*texts, strict=True)) or [()] * count, pa.list_(pa.string())),
        }  # fmt: skip
        return pa.RecordBatch.from_arrays([arrays[field.name] for field in _SENT], schema=_SENT)


def find_differences(
    session: SparkSession, sides: Sequence[ComparedSide], found: Found, judge: Judge, folder: Path | None
) -> DataFrame | None:
    """Return the differences as a DataFrame of `DIFFERENCES`, or None if there is nothing to read again.

    With a folder the tasks write the differences there as Parquet files, and the DataFrame has no rows.
    """
    suspects = sum(map(len, found.keys)) + found.rows_of_groups
    buckets = max(1, min(_MOST_BUCKETS, -(-suspects // _ROWS_OF_BUCKET)))
    tables = []
    for number, side in enumerate(sides):
        wanted = wanted_rows(found, side.side, is_right=bool(number))
        if wanted.work:
            tables.append(_exact_rows(session, side, wanted, buckets))
    if not tables:
        return None
    rows = tables[0] if len(tables) == 1 else tables[0].union(tables[1])
    judging = Judging(judge, tuple(side.side for side in sides), frozenset(found.reordered), dict(found.left_out))

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        parts: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for batch in batches:
            for row in batch.to_pylist():
                parts[row["bucket"]].append(row)
        for bucket, content in parts.items():
            differences = judging.batches(content)
            if folder is None:
                yield from differences
            else:
                _write(folder, bucket, differences)

    return map_in_arrow(rows.repartitionById(buckets, rows["bucket"]), run, spark_schema(DIFFERENCES))


def _exact_rows(session: SparkSession, side: ComparedSide, wanted: Wanted, buckets: int) -> DataFrame:
    exact = Exact(side, wanted, buckets)
    has_tag = TAG in side.side.names()
    columns = tuple(dict.fromkeys((*side.columns, *([TAG] if has_tag else []))))
    if not side.sql.is_empty:
        return map_in_arrow(side.table(session, wanted.work, columns), exact.make, spark_schema(_SENT))
    read, work = side.side.read, wanted.work

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        yield from exact.make(
            batch for number in numbers_of(batches) for batch in read(work[number][0], columns, work[number][1])
        )

    return map_in_arrow(work_table(session, len(work)), run, spark_schema(_SENT))


@dataclass(frozen=True, slots=True)
class Judging:
    judge: Judge
    sides: tuple[Side, ...]
    reordered: frozenset[int]
    left_out: Mapping[int, int]

    def batches(self, rows: Sequence[dict[str, Any]]) -> Iterator[Any]:
        """Yield the differences of a bucket, sorted by class and key."""
        by_key: dict[tuple[int, str | None], list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            by_key[row["key_hash"], row["key"]].append(row)
        found = [difference for key, each in by_key.items() if (difference := self._difference(key, each)) is not None]
        found.sort(key=lambda row: (row["class"], row["key"] or ""))
        for begin in range(0, len(found), _ROWS_OF_FILE):
            yield pa.RecordBatch.from_pylist(found[begin : begin + _ROWS_OF_FILE], schema=DIFFERENCES)

    def _difference(self, key: tuple[int, str | None], rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
        number = key[0] % (1 << 64)
        left, right = ([_exact_row(row) for row in rows if row["side"] == side] for side in range(len(SIDES)))
        verdict = self.judge.judge(
            left, right, is_reordered=number in self.reordered, left_out=self.left_out.get(number, 0)
        )
        return None if verdict is None else self._row(key[1], verdict)

    def _row(self, key: str | None, verdict: Judged) -> dict[str, Any]:
        evidence = (verdict.left, verdict.right)
        tags = [row.tag for row in evidence if row is not None and row.tag is not None]
        whole: dict[str, Any] = {
            "class": verdict.kind, "key": key, "fields": list(verdict.fields), "damage": verdict.damage,
            "note": verdict.note, "tag": tags[0] if tags else None, "lost": self._lost(verdict),
        }  # fmt: skip
        counts = (verdict.left_count, verdict.right_count)
        for name, side, row, count in zip(SIDES, self.sides, evidence, counts, strict=True):
            place = RowPlace() if row is None else side.place_of(row.part, row.offset)
            whole |= {
                f"{name}_count": count, f"{name}_broker": place.broker, f"{name}_queue_id": place.queue_id,
                f"{name}_queue_offset": place.queue_offset, f"{name}_place": place.text,
                f"{name}_store_timestamp": None if row is None or row.time < 0 else row.time * 1000,
                f"{name}_values": self._values(verdict.fields, row),
            }  # fmt: skip
        return whole

    def _lost(self, verdict: Judged) -> list[tuple[str, int, int]]:
        # A note says that there is a partner, which does not count yet.
        lost = () if verdict.note is not None else verdict.lost
        places = (self.sides[0].place_of(row.part, row.offset) for row in lost)
        return [
            (place.broker, place.queue_id, place.queue_offset)
            for place in places
            if place.broker is not None and place.queue_id is not None and place.queue_offset is not None
        ]

    def _values(self, fields: Sequence[str], row: ExactRow | None) -> list[tuple[str, str | None]]:
        if row is None:
            return []
        texts = {field.name: text for field, text in zip(self.judge.comparison.fields, row.texts, strict=True)}
        return [(name, texts[name]) for name in fields]


def _exact_row(row: dict[str, Any]) -> ExactRow:
    return ExactRow(
        row["part"], row["offset"], row["time"], tuple(row["hashes"]), tuple(row["texts"]), row["outside"],
        row["note"], row["damage"], row["tag"],
    )  # fmt: skip


def _write(folder: Path, bucket: int, batches: Iterator[Any]) -> None:
    """Write a file, complete or not at all: a task may be tried again."""
    target = folder / f"{bucket:05}.parquet"
    beside = target.with_suffix(".part")
    with pyarrow.parquet.ParquetWriter(beside, DIFFERENCES) as writer:
        for batch in batches:
            writer.write_batch(batch)
    beside.replace(target)
