"""CSV files that are read to their end: one that is cut off inside quotes is no table.

To the reader such a file ends like any other: what comes after the quote becomes one value, and its rows are gone.
Quote characters cannot be counted instead, for inside a value that does not begin with one they are text (`5" nail`).
So a row that no table has is read behind the last one: within quotes it is part of a value, and not found.
"""

from __future__ import annotations

import csv
import io
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv

_LINE_ENDS: Final = (b"\n", b"\r")
# A row lies in two blocks at most; the body of a message has up to 4 MiB.
_BLOCK: Final = 8 << 20


class CutOff(ValueError):
    """A file ends inside quotes."""


def header_of(path: Path) -> list[str]:
    """Return the values of the first line.

    Raises CutOff if they do not end, and OSError, UnicodeDecodeError or csv.Error.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = _Lines(file)
        names = next(csv.reader(lines), [])
    if names and lines.ended:
        raise CutOff
    return names


class _Lines:
    """The lines of a file; tells if one more was asked for than there are."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        yield from self._file
        self.ended = True


def whole_batches(path: Path, columns: int, parsing: Any, converting: Any) -> Iterator[Any]:
    """Yield the rows of a file with so many columns; raise CutOff, or ArrowInvalid for other faults."""
    mark = secrets.token_hex(16) + "," * columns
    found = False

    def judge(row: Any) -> str:
        nonlocal found
        if row.text != mark:
            return "error"
        found = True
        return "skip"

    parsing.invalid_row_handler = judge
    with path.open("rb", buffering=0) as file:
        source = pa.PythonFile(_Marked(file, mark.encode()), mode="r")
        reading = pyarrow.csv.ReadOptions(block_size=_BLOCK)
        with pyarrow.csv.open_csv(source, reading, parsing, converting) as reader:
            yield from reader
    if not found:
        raise CutOff


def fault_of(error: pa.ArrowInvalid) -> str:
    """Return what is wrong with a file, for the user; how large the blocks are is no setting."""
    if "straddling" in str(error):
        return f"a row has more than {_BLOCK >> 20} MiB; quotes may not be closed"
    return str(error)


class _Marked(io.RawIOBase):
    """A file with one more line behind its last one."""

    def __init__(self, file: io.FileIO, line: bytes) -> None:
        self._file = file
        self._left = line
        self._last = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes of the file, then those of the line."""
        found = self._file.read(size)
        if found:
            self._last = found[-1:]
            return found
        line, self._left = self._left, b""
        return line if not line or self._last in _LINE_ENDS else b"\n" + line
