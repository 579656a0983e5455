"""Keeps the log of a job within a limit while its program appends to it, without taking a byte from under its hands.

Nothing is cut off while the program runs: what lies between the limit and the end of the log becomes a hole of the
file, which takes no room. The program only writes behind that. When it has ended, a shorter file takes its place::

    while it runs    [ beginning up to the limit | hole | the last 64 KiB and what is being written ]
    afterwards       [ beginning up to the limit | a line that says how much is missing | the last 64 KiB ]

``log.cut`` beside it has the limit of the run, up to which the log is shown meanwhile. If its launcher dies, the next
run finds the file and finishes the work.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
from pathlib import Path
from typing import Final

import orjson

from console.jobs.program import private_file

LIMIT_BYTES: Final = 16 << 20
KEPT_END_BYTES: Final = 64 << 10
"""How much of the end is kept beside the beginning: the end says how a run failed."""

_BLOCK: Final = 4096
_PIECE: Final = 1 << 20
# fallocate(2): FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE.
_HOLE: Final = 1 | 2

_log = logging.getLogger(__name__)


class BoundedLog:
    """The log of one run. What is beyond the limit is left out, and its end follows when the run is over.

    So positions in the log never change, and whoever follows it goes on reading.
    """

    def __init__(self, file: Path, limit: int = LIMIT_BYTES) -> None:
        """What earlier runs have written stays, and counts."""
        settle(file)
        self._file = file
        self._limit = max(limit, _size_of(file))
        self._hole_end = 0
        self._is_marked = self._grows = False

    def size(self) -> int:
        """Return how many bytes of it are shown now."""
        return min(_size_of(self._file), self._limit)

    def check(self) -> None:
        """Give back the room of what is left out. The program must have opened its log to append."""
        if not self._is_marked and self._file.exists():
            mark = {"limit": self._limit, "inode": self._file.stat().st_ino}
            beside = _mark_of(self._file).with_suffix(".part")
            beside.write_bytes(orjson.dumps(mark))
            beside.replace(_mark_of(self._file))
            self._is_marked = True
        begin = max(self._hole_end, _round_up(self._limit))
        end = (_size_of(self._file) - KEPT_END_BYTES) // _BLOCK * _BLOCK
        if self._grows or end - begin < KEPT_END_BYTES:
            return
        try:
            with self._file.open("r+b") as file:
                _punch(file.fileno(), begin, end - begin)
        except OSError as error:
            self._grows = True
            _log.warning("%s grows until its job ends: %s", self._file, error)
        self._hole_end = end

    def close(self) -> None:
        """Leave out what is beyond the limit, with a line that says how much; the program must have ended."""
        settle(self._file)


def settle(file: Path) -> None:
    """Finish the log of a run whose program has ended; nothing if it is finished. It may be interrupted at any time."""
    limit, size = _limit_of(file), _size_of(file)
    beside = file.with_name(f"{file.name}.part")
    if limit is not None and size > limit + KEPT_END_BYTES:
        missing = size - limit - KEPT_END_BYTES
        note = f"\n[{missing:,} bytes of this log are left out: it may have {limit >> 20:,} MiB]\n"
        with (
            file.open("rb") as whole,
            private_file(beside, os.O_TRUNC) as short,
        ):
            left = limit
            while piece := whole.read(min(left, _PIECE)):
                short.write(piece)
                left -= len(piece)
            short.write(note.encode())
            whole.seek(size - KEPT_END_BYTES)
            shutil.copyfileobj(whole, short)
        beside.replace(file)
    beside.unlink(missing_ok=True)
    _mark_of(file).unlink(missing_ok=True)


def shown_bytes(file: Path) -> int:
    """Return up to where a log is shown; raise FileNotFoundError."""
    size, limit = file.stat().st_size, _limit_of(file)
    return size if limit is None else min(size, limit)


def _limit_of(file: Path) -> int | None:
    """Return the limit of the run that writes a log; None if no run does, or if its log is finished."""
    try:
        mark = orjson.loads(_mark_of(file).read_bytes())
        is_this = file.stat().st_ino == mark["inode"]
    except FileNotFoundError:
        return None
    return int(mark["limit"]) if is_this else None


def _mark_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.cut")


def _size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _round_up(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _punch(file: int, begin: int, count: int) -> None:
    """Make a range of a file a hole; raise OSError where the system or the file system has none."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if call is None:
        raise OSError("this system makes no holes in files")
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if call(file, _HOLE, begin, count):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
