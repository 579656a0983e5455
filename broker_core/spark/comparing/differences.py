"""The differences found by a reconciliation, as files for users: Parquet, CSV, and samples of each class.

Tasks wrote several sorted Parquet files; they are read as a stream, so that a million differences need little memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
from msgspec import UNSET, Struct, UnsetType

from broker_core.csv_text import GUARDED, NUL, guarded
from broker_core.spark.comparing.comparison import SIDES
from broker_core.spark.comparing.evidence import DIFFERENCES

PARQUET: Final = "differences.parquet"
CSV: Final = "differences.csv"
SAMPLES_PER_CLASS: Final = 100
MOST_CSV_ROWS: Final = 1_000_000
_FLAT: Final = [field for field in DIFFERENCES if field.name != "lost" and not pa.types.is_map(field.type)]
_GUARDED: Final = "^[{}]".format("".join(GUARDED).replace("-", r"\-"))


class SamplePlace(Struct, frozen=True, omit_defaults=True):
    """The position of a sample: a queue and its offset, or for other sides a text."""

    broker: str | None
    queue_id: int | None
    queue_offset: int | None
    place: str | None = None


class Sample(Struct, kw_only=True, rename={"kind": "class"}):
    """One difference, as the report shows it."""

    kind: str
    key: str | None
    left: SamplePlace | None
    right: SamplePlace | None
    left_count: int
    right_count: int
    fields: list[str]
    damage: str | None
    values: dict[str, dict[str, str | None]] | UnsetType = UNSET
    """Per field that differs, its text on each side; unset where no field differs."""
    note: str | UnsetType = UNSET
    """Why the partner does not count, where that is known."""


def batches_of(folder: Path) -> Iterator[Any]:
    """Yield the differences that the tasks wrote into a folder."""
    for file in sorted(folder.glob("*.parquet")):
        yield from pyarrow.parquet.ParquetFile(file).iter_batches()


def write_differences(batches: Iterable[Any], folder: Path, fields: Iterable[str]) -> tuple[list[Sample], bool]:
    """Write both files into `folder`, each complete or not at all.

    `fields` are the compared ones. Returns at most a hundred samples of each class, and whether the CSV has all rows.
    """
    samples: list[Sample] = []
    taken: Counter[str] = Counter()
    names = tuple(fields)
    with (
        pyarrow.parquet.ParquetWriter(folder / f"{PARQUET}.part", DIFFERENCES) as as_parquet,
        pyarrow.csv.CSVWriter(folder / f"{CSV}.part", _csv_schema(names)) as as_csv,
    ):
        rows = 0
        for batch in batches:
            as_parquet.write_batch(batch)
            if rows < MOST_CSV_ROWS:
                as_csv.write_batch(_csv_rows(batch.slice(0, MOST_CSV_ROWS - rows), names))
            rows += batch.num_rows
            samples += _samples(batch, taken)
    for name in (PARQUET, CSV):
        (folder / f"{name}.part").replace(folder / name)
    return sorted(samples, key=lambda sample: (sample.kind, sample.key or "")), rows <= MOST_CSV_ROWS


def _csv_schema(fields: tuple[str, ...]) -> Any:
    flat = [pa.field(field.name, _csv_type(field.type)) for field in _FLAT]
    return pa.schema([*flat, *(pa.field(f"{side}:{name}", pa.string()) for name in fields for side in SIDES)])


def _csv_type(kind: Any) -> Any:
    return pa.string() if pa.types.is_list(kind) or pa.types.is_timestamp(kind) else kind


def _csv_rows(batch: Any, fields: tuple[str, ...]) -> Any:
    columns = [_csv_column(batch.column(field.name)) for field in _FLAT]
    for name in fields:
        columns += [
            _harmless(pc.map_lookup(batch.column(f"{side}_values"), pa.scalar(name), "first")) for side in SIDES
        ]
    return pa.RecordBatch.from_arrays(columns, schema=_csv_schema(fields))


def _csv_column(values: Any) -> Any:
    if pa.types.is_list(values.type):
        return _harmless(pc.binary_join(values, " "))
    if pa.types.is_timestamp(values.type):
        return pc.strftime(values, "%Y-%m-%dT%H:%M:%SZ")
    return _harmless(values) if pa.types.is_string(values.type) else values


def _harmless(values: Any) -> Any:
    """Return texts as `csv_text.guarded` does."""
    if pc.any(pc.match_substring(values, NUL)).as_py():
        return pa.array([None if text is None else guarded(text) for text in values.to_pylist()], values.type)
    return pc.if_else(pc.match_substring_regex(values, _GUARDED), pc.binary_join_element_wise("'", values, ""), values)


def _samples(batch: Any, taken: Counter[str]) -> Iterator[Sample]:
    for name, place in zip(batch.column("class").to_pylist(), range(batch.num_rows), strict=True):
        if taken[name] < SAMPLES_PER_CLASS:
            taken[name] += 1
            yield _sample(batch.slice(place, 1).to_pylist()[0])


def _sample(row: dict[str, Any]) -> Sample:
    def place(side: str) -> SamplePlace | None:
        names = ("broker", "queue_id", "queue_offset", "place")
        found = SamplePlace(*(row[f"{side}_{name}"] for name in names))
        return None if found == SamplePlace(None, None, None) else found

    values = {side: dict(row[f"{side}_values"] or ()) for side in SIDES}
    return Sample(
        kind=row["class"],
        key=row["key"],
        left=place("left"),
        right=place("right"),
        left_count=row["left_count"],
        right_count=row["right_count"],
        fields=row["fields"],
        damage=row["damage"],
        values={name: {side: values[side].get(name) for side in SIDES} for name in row["fields"]} or UNSET,
        note=row["note"] or UNSET,
    )
