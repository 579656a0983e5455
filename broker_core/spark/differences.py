"""The differences found by a reconciliation, as files for users: Parquet, CSV, and samples of each class.

Spark writes several sorted Parquet parts; they are read as a stream, so that a million differences need little memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
from msgspec import UNSET, Struct, UnsetType

PARQUET: Final = "differences.parquet"
CSV: Final = "differences.csv"
SAMPLES_PER_CLASS: Final = 100
MOST_CSV_ROWS: Final = 1_000_000
# A spreadsheet treats a text with such a beginning as a formula and runs it.
_FORMULA: Final = r"^[=+\-@\t\r]"


class SamplePlace(Struct, frozen=True):
    """The position of a sample message."""

    broker: str
    queue_id: int
    queue_offset: int


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


def write_differences(parts: Path, folder: Path) -> list[Sample]:
    """Write both files into `folder`, each complete or not at all; return at most a hundred samples of each class."""
    dataset = pyarrow.dataset.dataset(parts, format="parquet")
    samples: list[Sample] = []
    taken: Counter[str] = Counter()
    with (
        pyarrow.parquet.ParquetWriter(folder / f"{PARQUET}.part", dataset.schema) as as_parquet,
        pyarrow.csv.CSVWriter(folder / f"{CSV}.part", _csv_schema(dataset.schema)) as as_csv,
    ):
        rows = 0
        for batch in dataset.to_batches():
            as_parquet.write_batch(batch)
            if rows < MOST_CSV_ROWS:
                as_csv.write_batch(_csv_rows(batch.slice(0, MOST_CSV_ROWS - rows)))
            rows += batch.num_rows
            samples += _samples(batch, taken)
    for name in (PARQUET, CSV):
        (folder / f"{name}.part").replace(folder / name)
    return sorted(samples, key=lambda sample: (sample.kind, sample.key or ""))


def _csv_schema(schema: Any) -> Any:
    return pa.schema([pa.field(field.name, _csv_type(field.type)) for field in schema])


def _csv_type(kind: Any) -> Any:
    return pa.string() if pa.types.is_list(kind) or pa.types.is_timestamp(kind) else kind


def _csv_rows(batch: Any) -> Any:
    columns = [_csv_column(name, batch.column(name)) for name in batch.schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=_csv_schema(batch.schema))


def _csv_column(name: str, values: Any) -> Any:
    if pa.types.is_list(values.type):
        return pc.binary_join(values, " ")
    if pa.types.is_timestamp(values.type):
        return pc.strftime(values, "%Y-%m-%dT%H:%M:%SZ")
    if name == "key":
        return pc.if_else(
            pc.match_substring_regex(values, _FORMULA), pc.binary_join_element_wise("'", values, ""), values
        )
    return values


def _samples(batch: Any, taken: Counter[str]) -> Iterator[Sample]:
    for name, place in zip(batch.column("class").to_pylist(), range(batch.num_rows), strict=True):
        if taken[name] < SAMPLES_PER_CLASS:
            taken[name] += 1
            yield _sample(batch.slice(place, 1).to_pylist()[0])


def _sample(row: dict[str, Any]) -> Sample:
    def place(side: str) -> SamplePlace | None:
        if row[f"{side}_broker"] is None:
            return None
        return SamplePlace(row[f"{side}_broker"], row[f"{side}_queue_id"], row[f"{side}_queue_offset"])

    return Sample(
        kind=row["class"],
        key=row["key"],
        left=place("left"),
        right=place("right"),
        left_count=row["left_count"],
        right_count=row["right_count"],
        fields=row["fields"],
        damage=row["damage"],
    )
