"""Determines the numbers of slots and entries of index files; a file itself states only its length.

The entries follow the slots, so the number of slots determines the position of entry 1. The header names the first and
the last entry, and the last one is the head of its slot: the number of slots with which all three agree is the right
one. For files with RocketMQ's own ratio the first guess is right. For others, the last non-zero byte belongs to the
last entry, which leaves few numbers to try.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Final

from broker_core.store.errors import Corrupt
from broker_core.store.index_file import ENTRY, HEADER, SLOT, file_bytes

ENTRIES_PER_SLOT: Final = 4
"""The default of RocketMQ and `StoreConfig`."""

_CHUNK: Final = 1024 * 1024
_MOST_NEWER: Final = 4096
"""The maximum number of entries that a writer may have added since the header was read."""

Sizes = tuple[int, int]
"""Slots and entries."""


def measure(paths: Iterable[Path], left_out: list[str] | None = None) -> Sizes | None:
    """Return the sizes of index files, None if there are none; raise Corrupt for a file that matches no sizes.

    With `left_out` such a file is passed over, and the reason added to it.
    """
    empty: Sizes | None = None
    for path in paths:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:
                continue
            try:
                with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
                    sizes, is_sure = _measure_one(data, path)
            except Corrupt as damage:
                if left_out is None:
                    raise
                left_out.append(str(damage))
                continue
        if is_sure:
            return sizes
        empty = empty or sizes
    return empty


def _measure_one(data: mmap, path: Path) -> tuple[Sizes, bool]:
    """Return the sizes of one file, and whether they follow from its entries; without entries any sizes that match the
    length."""
    if len(data) < HEADER.size + SLOT.size:
        raise Corrupt(path, f"its length of {len(data)} bytes is not that of an index file")
    _, _, first, last, _, following = HEADER.unpack_from(data)
    usual = (len(data) - HEADER.size) // (SLOT.size + ENTRIES_PER_SLOT * ENTRY.size)
    if following <= 1:
        return _fitting(len(data), usual, path), False
    for slots in _candidates(data, usual, following - 1):
        if _holds(data, slots, following - 1, first, last):
            return (slots, _entries(len(data), slots)), True
    raise Corrupt(
        path,
        "its numbers of slots and entries are unknown; a broker takes them from maxHashSlotNum and maxIndexNum, a"
        " command from --index-slots and --index-entries",
    )


def _fitting(length: int, usual: int, path: Path) -> Sizes:
    for slots in range(max(usual, 1), 0, -1):
        if file_bytes(slots, _entries(length, slots)) == length:
            return slots, _entries(length, slots)
    raise Corrupt(path, f"its length of {length} bytes is not that of an index file")


def _candidates(data: mmap, usual: int, last_number: int) -> Iterator[int]:
    """Yield the numbers of slots to try: the usual one, then those that the last non-zero byte allows."""
    yield usual
    end = _last_byte(data)
    # Entries are at multiples of their size before the end of the file, so only one of them can contain that byte.
    last_at = end - (end - len(data)) % ENTRY.size
    for newer in range(_MOST_NEWER):
        slots, rest = divmod(last_at - HEADER.size - ENTRY.size * (last_number + newer), SLOT.size)
        if slots > 0 and not rest:
            yield slots


def _last_byte(data: mmap) -> int:
    """Return the position of the last non-zero byte."""
    end = len(data)
    while end > 0:
        begin = max(end - _CHUNK, 0)
        used = data[begin:end].rstrip(b"\0")
        if used:
            return begin + len(used) - 1
        end = begin
    return 0


def _holds(data: mmap, slots: int, last_number: int, first: int, last: int) -> bool:
    """Return whether the first and last entries are where the header says, given this number of slots."""
    entries = _entries(len(data), slots)
    if slots < 1 or last_number >= entries or file_bytes(slots, entries) != len(data):
        return False
    begin = HEADER.size + slots * SLOT.size
    _, first_offset, _, older_than_first = ENTRY.unpack_from(data, begin + ENTRY.size)
    last_at = begin + last_number * ENTRY.size
    if not any(data[last_at : last_at + ENTRY.size]):
        return False  # in unwritten space there would appear to be a first entry at log offset 0
    key_hash, last_offset, _, older_than_last = ENTRY.unpack_from(data, last_at)
    (head,) = SLOT.unpack_from(data, HEADER.size + key_hash % slots * SLOT.size)
    return (
        (first_offset, older_than_first) == (first, 0)
        and 0 <= older_than_last < last_number <= head < entries
        and last_offset >= last
    )


def _entries(length: int, slots: int) -> int:
    return (length - HEADER.size - slots * SLOT.size) // ENTRY.size
