"""The units of a consume queue's files: their format and the end of the last one (store/README.md#consume-queue).

::

    0  log offset int64 | 8  size int32 | 12  tags code int64        20 bytes; unit number = queue offset

A unit with size 0 is unwritten. A unit with the largest size (a filler) represents a message that the log no longer had
when the queue was rebuilt.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from broker_core.store.layout import UNIT_BYTES
from broker_core.store.mapped_file import MappedFile
from broker_core.store.mapped_files import MappedFiles

UNIT: Final = struct.Struct(">qiq")
FILLER_SIZE: Final = 0x7FFFFFFF
FILLER: Final = UNIT.pack(0, FILLER_SIZE, 0)
# Log offset and size.
PLACE_BYTES: Final = 12

_UNWRITTEN: Final = bytes(40)
_FILLERS: Final = FILLER * 512


class Unit(NamedTuple):
    """The position of one message: log offset, size of its record, and the tag's hash or the delivery time."""

    log_offset: int
    size: int
    tags_code: int


def measure(files: MappedFiles, *, trusted: bool) -> int:
    """Measure the files up to the one in which the valid units end; return how many files have valid units.

    After a clean stop (`trusted`) there are no holes, so the end is found by bisection; otherwise the first unwritten
    unit ends the queue (store/README.md#consume-queue).
    """
    kept = max(0, len(files) - 1) if trusted else 0
    for number in range(kept, len(files)):
        file = files[number]
        file.wrote_to(valid_bytes(file, trusted=trusted))
        kept += 1 if file.wrote else 0
        if file.wrote < file.size:
            break
    return kept


def is_blank_behind(files: MappedFiles, kept: int) -> bool:
    """Return whether nothing follows the units that were found in the first `kept` files."""
    if kept < len(files):
        return False
    return not kept or files[kept - 1].is_blank_from(files[kept - 1].wrote)


def valid_bytes(file: MappedFile, *, trusted: bool) -> int:
    """Return how many bytes of a file are written units: all before the first unwritten one.

    A `trusted` file has no holes before its end, which is then found by bisection.
    """
    if trusted:
        return _search_end(file)
    # Between two written units there are at most 22 zero bytes; a lost page has at least 512.
    begin = max(0, file.find(_UNWRITTEN))
    count = file.size // UNIT_BYTES
    first = begin // UNIT_BYTES if begin or _is_unwritten(file, 0) else count - 1
    while first < count and not _is_unwritten(file, first):
        first += 1
    return first * UNIT_BYTES


def _is_unwritten(file: MappedFile, number: int) -> bool:
    log_offset, size, _ = UNIT.unpack_from(file.view, number * UNIT_BYTES)
    return bool(size <= 0 or log_offset < 0)


def _search_end(file: MappedFile) -> int:
    # Not beyond the data: reading a hole would use memory pages.
    low, high = 0, min(file.size, file.data_end()) // UNIT_BYTES
    while low < high:
        middle = (low + high) // 2
        if _is_unwritten(file, middle):
            high = middle
        else:
            low = middle + 1
    return low * UNIT_BYTES


def leading_fillers(units: memoryview) -> int:
    """Return how many fillers come first: a queue may begin with hundreds of thousands."""
    at = 0
    while bytes(units[at : at + len(_FILLERS)]) == _FILLERS:
        at += len(_FILLERS)
    while units[at : at + UNIT_BYTES] == FILLER:
        at += UNIT_BYTES
    return at // UNIT_BYTES


def ends_backwards(file: MappedFile | None) -> Iterator[int]:
    """Yield the end of the record of the last unit that is not a filler, if there is one."""
    position = file.wrote if file else 0
    while file and position:
        position -= UNIT_BYTES
        log_offset, size, _ = UNIT.unpack_from(file.view, position)
        if size != FILLER_SIZE:
            yield log_offset + size
            return
