"""Which part of the log was written under which master: a small text file beside it (store/README.md#epochs).

::

    2                 how many entries
    1694929738        CRC-32 of the lines below, without its highest bit; 0: not checked
    1-0               epoch, and the log offset where it begins
    2-4096            it ends where the next one begins, the last one at the end of the log
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store.errors import Corrupt
from broker_core.store.layout import EPOCHS
from broker_core.store.replacing import replace_file

_CRC_MASK: Final = 0x7FFFFFFF
_UNCHECKED: Final = 0
_HEAD_LINES: Final = 2


class EpochFile:
    """The epochs of one store, which rise in both numbers. Every change is on the disk when its call returns.

    Without room on the disk it raises StoreFull; the same call, or the next one, makes up for it.
    """

    def __init__(self, folder: Path) -> None:
        """Read the file in `folder`, or its copy if that is damaged or missing; without either there are no epochs.

        Raises Corrupt if there is no whole one: nobody can tell then which records a master would not have.
        """
        self._folder = folder
        self._path = folder / EPOCHS
        self._copy = folder / f"{EPOCHS}.bak"
        self.entries: tuple[EpochStart, ...] = self._read()
        self._copied = self.entries

    def add(self, number: int, start: int) -> None:
        """Begin an epoch at log offset `start`, before its first byte is appended or sent.

        If the last one begins there too, nothing was written in it, and the new one takes its place. The last one once
        more changes nothing. Raises ValueError for numbers that do not rise, and OSError if the disk fails: the epoch
        must not be used then.
        """
        new = EpochStart(number, start)
        last = self.entries[-1] if self.entries else None
        if new == last:
            self._write(self.entries)
            return
        if last is not None and (number <= last.number or start < last.start):
            raise ValueError(
                f"epoch {number} at log offset {start} does not follow epoch {last.number} at {last.start}"
            )
        self._write(_without_empty((*self.entries, new)))

    def cut(self, log_offset: int) -> None:
        """Remove the epochs that begin at `log_offset` or behind it, where the log was cut. Raises OSError."""
        self._write(tuple(entry for entry in self.entries if entry.start < log_offset))

    def drop_before(self, log_begin: int) -> None:
        """Remove the epochs that end at the beginning of the log or before it. Raises OSError."""
        gone = sum(following.start <= log_begin for _, following in pairwise(self.entries))
        self._write(self.entries[gone:])

    def _read(self) -> tuple[EpochStart, ...]:
        problem = None
        for path in (self._path, self._copy):
            try:
                return _parse(path.read_text(encoding="ascii"))
            except FileNotFoundError:
                continue
            except ValueError as error:
                problem = problem or Corrupt(path, f"it does not tell the epochs of this log: {error}")
        if problem is not None:
            raise problem
        return ()

    def _write(self, entries: tuple[EpochStart, ...]) -> None:
        text = _format(entries).encode("ascii")
        if entries != self.entries:
            replace_file(self._path, text)
            self.entries = entries
        if entries != self._copied:
            # With what the file has, not with what it had: an older copy would count records to the epoch before.
            replace_file(self._copy, text)
            self._copied = entries


def _without_empty(entries: Sequence[EpochStart]) -> tuple[EpochStart, ...]:
    """Leave out the epochs in which nothing was written: the next one begins at the same place."""
    starts_after = [*(entry.start for entry in entries[1:]), None][: len(entries)]
    return tuple(entry for entry, after in zip(entries, starts_after, strict=True) if entry.start != after)


def _format(entries: Sequence[EpochStart]) -> str:
    lines = "".join([f"{entry.number}-{entry.start}\n" for entry in entries])
    return f"{len(entries)}\n{zlib.crc32(lines.encode()) & _CRC_MASK}\n{lines}"


def _parse(text: str) -> tuple[EpochStart, ...]:
    """Return the epochs of a file; raise ValueError with the reason if it is not whole."""
    lines = text.splitlines(keepends=True)
    if len(lines) < _HEAD_LINES or not all(line.strip().isdecimal() for line in lines[:_HEAD_LINES]):
        raise ValueError("it does not begin with a count and a checksum")
    count, crc = int(lines[0]), int(lines[1])
    body = lines[_HEAD_LINES:]
    if crc != _UNCHECKED and zlib.crc32("".join(body).encode()) & _CRC_MASK != crc:
        raise ValueError("its lines do not match its checksum")
    if len(body) != count:
        raise ValueError(f"it has {len(body)} entries and says {count}")
    entries = tuple(_parse_line(line) for line in body)
    if any(after.number <= entry.number or after.start < entry.start for entry, after in pairwise(entries)):
        raise ValueError("its epochs do not rise")
    return _without_empty(entries)


def _parse_line(line: str) -> EpochStart:
    number, _, start = line.rstrip("\r\n").partition("-")
    if not number.isdecimal() or not start.isdecimal():
        raise ValueError(f"{line.strip()!r} is not an epoch and a log offset")
    return EpochStart(int(number), int(start))
