"""Keeps the log of a job within a limit while its program appends to it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LIMIT_BYTES: Final = 16 << 20
KEPT_END_BYTES: Final = 64 << 10
"""How much of the end is kept beside the beginning: the end says how a run failed."""


class BoundedLog:
    """The log of one run. What is beyond the limit is cut off, and its end is put back when the run is over.

    So positions in the log never change, and whoever follows it goes on reading.
    """

    def __init__(self, file: Path, limit: int = LIMIT_BYTES) -> None:
        """What earlier runs have written stays, and counts."""
        self._file = file
        self._limit = max(limit, self.size())
        self._end = b""
        self._left_out = 0

    def size(self) -> int:
        """Return how many bytes it has now."""
        return self._file.stat().st_size if self._file.exists() else 0

    def check(self) -> None:
        """Cut off what is beyond the limit. The program must have opened its log to append."""
        if self.size() <= self._limit:
            return
        with self._file.open("r+b") as file:
            file.seek(self._limit)
            beyond = file.read()
            file.truncate(self._limit)
        self._end = (self._end + beyond)[-KEPT_END_BYTES:]
        self._left_out += len(beyond)

    def close(self) -> None:
        """Put back the end, after a line that says how much is missing; the program must have ended."""
        self.check()
        if not self._left_out:
            return
        missing = self._left_out - len(self._end)
        note = f"\n[{missing:,} bytes of this log are left out: it may have {self._limit >> 20:,} MiB]\n"
        with self._file.open("ab") as file:
            file.write(note.encode() + self._end)
