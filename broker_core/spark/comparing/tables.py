"""Sides that are no topics: Parquet files as they are, CSV files and databases as a copy in the folder of the job.

A copy fixes what is compared: both steps read the same rows, whatever becomes of the source in the meantime.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.comparing.sides import Ranges, RowPlace, placed
from broker_core.spark.comparing.table_types import Columns, columns_of, difference_of, spark_type, times_in_ms
from broker_core.spark.comparing.whole_csv import CutOff, fault_of, header_of, whole_batches
from broker_core.spark.counting import RowReporter
from broker_core.spark.errors import BadRequest

_ROWS_OF_BATCH: Final = 16_384
_ROWS_OF_GROUP: Final = 250_000
# A part is a row group, and a place has 18 bits for its part.
_MOST_GROUPS: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class TablePart:
    """A row group of a Parquet file."""

    path: str
    group: int
    rows: int
    first: int
    """The number of its first row in the file, from 1."""
    label: str
    """How the file is called in places; its rows are numbered unless it is empty."""
    version: tuple[int, int]
    """Size and time of change of the file when it was planned."""


@dataclass(frozen=True, slots=True)
class TableSide:
    """The rows of Parquet files of one schema."""

    name: str
    """How the side is called in messages: `left` or `right`."""
    parts: tuple[TablePart, ...]
    schema: Any
    time: str | None = None
    """The column with the time of a row."""
    count_to: str | None = None

    @property
    def known_rows(self) -> int:
        """The number of rows of all files."""
        return sum(part.rows for part in self.parts)

    def names(self) -> Sequence[str]:
        """Return the columns whose type Spark has."""
        return [field.name for field in self.schema if spark_type(field.type) is not None]

    def fields(self, columns: Sequence[str]) -> list[Any]:
        """Return the Arrow fields of columns."""
        return [pa.field(name, self._type_of(name)) for name in columns]

    def _type_of(self, name: str) -> Any:
        number = self.schema.get_field_index(name)
        kind = None if number < 0 else spark_type(self.schema.field(number).type)
        if kind is None:
            known = ", ".join(self.names())
            raise BadRequest(f"{self.name}: there is no column {name!r} that can be compared; there are: {known}")
        return kind

    def read(self, number: int, columns: Sequence[str], ranges: Ranges | None = None) -> Iterator[Any]:
        """Yield the rows of a row group."""
        part = self.parts[number]
        if ranges is not None and not ranges:
            return
        kinds = {name: self._type_of(name) for name in columns}
        wanted = list(dict.fromkeys((*columns, *([self.time] if self.time else [])))) or self.schema.names[:1]
        read = BytesRead()
        reporter = None if self.count_to is None else RowReporter(self.count_to, f"{self.name}/{number}", read)
        try:
            yield from self._batches(number, part, wanted, kinds, reporter, read)
        finally:
            if reporter is not None:
                reporter.close()

    def _batches(
        self, number: int, part: TablePart, wanted: list[str], kinds: dict[str, Any],
        reporter: RowReporter | None, read: BytesRead,
    ) -> Iterator[Any]:  # fmt: skip
        if _version(Path(part.path)) != part.version:
            raise BadRequest(f"{self.name}: {part.label} was changed while it was compared")
        offset = 0
        with pyarrow.parquet.ParquetFile(part.path) as file:
            read.table = _bytes_of(file.metadata.row_group(part.group), wanted)
            for batch in file.iter_batches(_ROWS_OF_BATCH, row_groups=[part.group], columns=wanted):
                offsets = pa.array(range(offset, offset + batch.num_rows), pa.int64())
                times = self._times(batch)
                values = {name: _cast(batch.column(name), kind) for name, kind in kinds.items()}
                yield placed(number, offsets, times, None, None, values)
                offset += batch.num_rows
                if reporter is not None:
                    reporter.add(batch.num_rows)

    def _times(self, batch: Any) -> Any:
        if self.time is None:
            return pa.nulls(batch.num_rows, pa.int64())
        try:
            return times_in_ms(batch.column(self.time))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise BadRequest(f"{self.name}.time: column {self.time!r} has no times: {error}") from error

    def place_of(self, number: int, offset: int) -> RowPlace:
        """Return file and number of a row."""
        part = self.parts[number]
        return RowPlace(text=f"row {part.first + offset} of {part.label}" if part.label else None)

    def again(self) -> TableSide:
        """Return this side, not counted."""
        return replace(self, count_to=None)


def parquet_side(
    name: str, files: Sequence[tuple[Path, str]], time: str | None, count_to: str | None = None
) -> TableSide:
    """Return the side of Parquet files, each with its label; raise BadRequest for files that make no table."""
    parts: list[TablePart] = []
    schema = None
    for path, label in files:
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                found, sizes = file.schema_arrow, _sizes(file)
        except (OSError, pa.ArrowInvalid) as error:
            raise BadRequest(f"{name}.path: {label} cannot be read as Parquet: {error}") from error
        schema = found if schema is None else schema
        _check_like_first(name, files, label, columns_of(found), columns_of(schema))
        first, version = 1, _version(path)
        for group, rows in enumerate(sizes):
            parts.append(TablePart(str(path), group, rows, first, label, version))
            first += rows
    if len(parts) > _MOST_GROUPS:
        raise BadRequest(f"{name}.path: {len(parts):,} row groups; at most {_MOST_GROUPS:,} are compared")
    side = TableSide(name, tuple(part for part in parts if part.rows), schema, time, count_to)
    if time is not None and time not in side.names():
        raise BadRequest(f"{name}.time: there is no column {time!r}; there are: {', '.join(side.names())}")
    return side


def _check_like_first(
    name: str, files: Sequence[tuple[Path, str]], label: str, found: Columns, expected: Columns
) -> None:
    """Raise BadRequest unless a file has the columns of the first one."""
    fault = difference_of(found, expected)
    if fault is not None:
        raise BadRequest(f"{name}.path: {label} has other columns than {files[0][1]}: it {fault}")


def csv_side(
    name: str, files: Sequence[tuple[Path, str]], time: str | None, copies: Path,
    choose: Callable[[Sequence[str]], Sequence[str]], each_batch: Callable[[int], None], count_to: str | None = None,
) -> TableSide:  # fmt: skip
    """Return the side of CSV files, from copies in a folder; all values are texts, and an empty one is null.

    The first line names the columns. `choose` says which of them are needed; `each_batch` is called with its rows.
    Raises BadRequest for files that are no CSV.
    """
    made: list[tuple[Path, str]] = []
    first: list[str] | None = None
    for number, (path, label) in enumerate(files):
        names = _header(name, path, label)
        first = first or names
        _check_like_first(name, files, label, dict.fromkeys(names), dict.fromkeys(first))
        if time is not None and time not in names:
            raise BadRequest(f"{name}.time: there is no column {time!r}; there are: {', '.join(names)}")
        wanted = list(dict.fromkeys((*choose(names), *([time] if time else [])))) or names[:1]
        target = copies / f"{name}-{number}.parquet"
        schema = pa.schema([(column, pa.string()) for column in wanted])
        try:
            batches = whole_batches(path, len(names), csv_parsing(len(names)), text_options(schema))
            write_copy(target, schema, batches, each_batch)
        except CutOff as error:
            raise BadRequest(f"{name}.path: {label} ends inside quotes: it may be cut off") from error
        except pa.ArrowInvalid as error:
            raise BadRequest(f"{name}.path: {label} is no sound CSV: {fault_of(error)}") from error
        made.append((target, label))
    return parquet_side(name, made, time, count_to)


def _header(name: str, path: Path, label: str) -> list[str]:
    try:
        names = header_of(path)
    except CutOff as error:
        raise BadRequest(f"{name}.path: {label} ends inside quotes, in the names of its columns") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadRequest(f"{name}.path: {label} cannot be read: {error}") from error
    twice = sorted({each for each in names if names.count(each) > 1})
    if not names or twice:
        fault = f"names the column {twice[0]!r} twice" if twice else "is empty"
        raise BadRequest(f"{name}.path: {label}: its first line {fault}")
    return names


def csv_parsing(columns: int) -> Any:
    """Return how CSV with so many columns is cut into rows: an empty line is a null of a single column, else none."""
    return pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=columns > 1)


def text_options(schema: Any, **more: Any) -> Any:
    """Return how CSV is read as these columns: an empty value is null, an empty one in quotes an empty text."""
    return pyarrow.csv.ConvertOptions(
        column_types=schema, include_columns=schema.names, null_values=[""], strings_can_be_null=True,
        quoted_strings_can_be_null=False, **more,
    )  # fmt: skip


def write_copy(target: Path, schema: Any, batches: Iterable[Any], each_batch: Callable[[int], None]) -> None:
    """Write rows as Parquet, in groups that one task each reads."""
    waiting: list[Any] = []
    with pyarrow.parquet.ParquetWriter(target, schema, compression="lz4") as writer:
        for batch in batches:
            waiting.append(batch.cast(schema))
            each_batch(batch.num_rows)
            if sum(each.num_rows for each in waiting) >= _ROWS_OF_GROUP:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting.clear()
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))


def _bytes_of(group: Any, columns: Sequence[str]) -> int:
    """Return how many bytes the columns of a row group take in the file."""
    chunks = map(group.column, range(group.num_columns))
    wanted = tuple(f"{name}." for name in columns)
    return sum(each.total_compressed_size for each in chunks if f"{each.path_in_schema}.".startswith(wanted))


def _sizes(file: Any) -> list[int]:
    return [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]


def _version(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _cast(values: Any, kind: Any) -> Any:
    return values if values.type == kind else pc.cast(values, kind, safe=False)
