"""Messages as one CSV, JSON lines or Parquet file: tasks write pieces, the driver joins them in their order."""

from __future__ import annotations

import base64
import csv
import io
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from broker_core.csv_text import guarded
from broker_core.spark.errors import StoreUnreadable
from broker_core.spark.forecast import moment
from broker_core.spark.schema import COLUMNS, arrow_schema

ENCODING: Final = "body_encoding"
"""The column beside `body` in text formats: `text`, or `base64` for bytes that are not UTF-8."""
_BODY: Final = "body"
_MAPS: Final = frozenset(name for name, kind in COLUMNS.items() if kind.startswith("map"))

Row = dict[str, Any]


def file_name(kind: str) -> str:
    """Return the name of the file of an export."""
    return f"messages.{kind}"


def write_piece(path: Path, kind: str, columns: Sequence[str], batches: Iterable[Any]) -> int:
    """Write Arrow batches with these columns into a piece; return how many rows it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = 0
    if kind == "parquet":
        schema = arrow_schema(columns)
        with pa.ipc.new_file(str(path), schema) as piece:
            for batch in batches:
                # Spark writes the zone and the fields of maps in its own way.
                piece.write_batch(batch.cast(schema))
                rows += batch.num_rows
        return rows
    text = _LINES[kind]
    with path.open("w", encoding="utf-8", newline="") as file:
        for batch in batches:
            file.write(text(_rows(batch)))
            rows += batch.num_rows
    return rows


def join_pieces(pieces: Sequence[Path], path: Path, kind: str, columns: Sequence[str]) -> None:
    """Write all pieces into one file, which gets its name when it is complete.

    Raises StoreUnreadable if executors have written them where this machine does not see them.
    """
    unseen = [piece for piece in pieces if not piece.exists()]
    if unseen:
        raise StoreUnreadable(
            f"executors do not share the folder {unseen[0].parent} with this machine, which an export needs"
        )
    beside = path.with_name(f"{path.name}.part")
    if kind == "parquet":
        with pq.ParquetWriter(beside, arrow_schema(columns), compression="zstd") as writer:
            for piece in pieces:
                with pa.memory_map(str(piece)) as mapped:
                    reader = pa.ipc.open_file(mapped)
                    for number in range(reader.num_record_batches):
                        writer.write_batch(reader.get_batch(number))
    else:
        with beside.open("wb") as file:
            if kind == "csv":
                file.write(_csv([dict.fromkeys(_names(columns))], header=True).encode())
            for piece in pieces:
                with piece.open("rb") as part:
                    shutil.copyfileobj(part, file)
    beside.replace(path)


def _names(columns: Sequence[str]) -> Iterator[str]:
    for name in columns:
        yield name
        if name == _BODY:
            yield ENCODING


def _rows(batch: Any) -> Iterator[Row]:
    """Yield rows with values that JSON has."""
    names = batch.schema.names
    for values in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
        row: Row = {}
        for name, value in zip(names, values, strict=True):
            if name == _BODY:
                row[name], row[ENCODING] = _text_of(value)
            elif isinstance(value, bytes):
                row[name] = value.decode(errors="replace")
            elif isinstance(value, datetime):
                row[name] = moment(value)
            else:
                row[name] = dict(value) if name in _MAPS and value is not None else value
        yield row


def _text_of(body: bytes | None) -> tuple[str | None, str | None]:
    if body is None:
        return None, None
    try:
        return body.decode(), "text"
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), "base64"


def _json_lines(rows: Iterable[Row]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _csv(rows: Iterable[Row], *, header: bool = False) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows(list(row) if header else [_cell(value) for value in row.values()] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a value for a CSV file: lists with spaces, maps as JSON, and no text that a spreadsheet would run."""
    if isinstance(value, Mapping):
        value = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, list):
        value = " ".join(value)
    elif isinstance(value, bool):
        return "true" if value else "false"
    return guarded(value) if isinstance(value, str) else value


_LINES: Final[Mapping[str, Callable[[Iterable[Row]], str]]] = {"csv": _csv, "jsonl": _json_lines}
