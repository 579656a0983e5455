"""Many keys looked up at once in index files, and for which part of the log the answer is complete.

All chains are followed side by side, one entry of each in a step. Only hashes are stored (store/README.md#index-file),
so what is found are places in the log where a record may have one of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from broker_core.protocol.string_hash import key_hash
from broker_core.spark.bytes_read import BytesRead
from broker_core.store.columns import Ints
from broker_core.store.index_file import ENTRY, HEADER, SLOT, IndexFile, first_entry_at

_ENTRY: Final = np.dtype([("hash", ">i4"), ("log_offset", ">i8"), ("seconds", ">i4"), ("older", ">i4")])
# How many entries of a file are looked at to see whether its slots and entries belong together.
_PROBES: Final = 64
# With fewer chains than this a step in Python is cheaper than one over arrays.
_FEW_CHAINS: Final = 16

Span = tuple[int, int]
"""Log offsets between which, without the two themselves, every record with a key is known to the index."""


class _Unsound(Exception):
    """The file contradicts itself."""


class TooCommon(Exception):
    """The keys have more entries than there are messages to read."""


@dataclass(slots=True)
class IndexFound:
    """The places of records that may have one of the keys, and where the index could tell."""

    log_offsets: Ints
    covered: list[Span] = field(default_factory=list)
    """In ascending order, without overlaps."""
    notes: list[str] = field(default_factory=list)
    """Which files could not be used, and why."""


@lru_cache(maxsize=8)
def hash_keys(topic: str, keys: frozenset[str]) -> Ints:
    """Return the distinct hashes of the keys of a topic; the last few are kept, since a read asks for each range."""
    return np.unique(np.array([key_hash(f"{topic}#{key}") for key in keys], np.int64))


def search_index(
    files: Sequence[IndexFile], hashes: Ints, *, begin: int, end: int, most_entries: int, read: BytesRead
) -> IndexFound:
    """Look up hashes in the files that touch the log offsets from `begin` to `end`; adds the bytes read to `read`.

    Raises TooCommon after `most_entries` entries.
    """
    places: list[Ints] = [np.zeros(0, np.int64)]
    found = IndexFound(places[0])
    sound_before = False
    for file in files:
        if file.is_empty:
            continue
        if file.end_log_offset < begin or file.begin_log_offset > end:
            sound_before = False
            continue
        try:
            places.append(_search_file(file, hashes, most_entries, read))
        except _Unsound as reason:
            found.notes.append(f"index file {file.path.name}: {reason}")
            sound_before = False
            continue
        # The first record's other keys may be in the file before, and the last one's in the next.
        first, last = file.begin_log_offset, file.end_log_offset
        if sound_before and found.covered[-1][1] == first:
            found.covered[-1] = (found.covered[-1][0], last)
        else:
            found.covered.append((first, last))
        sound_before = True
    found.log_offsets = np.unique(np.concatenate(places))
    return found


def _search_file(file: IndexFile, hashes: Ints, most_entries: int, read: BytesRead) -> Ints:
    slots: NDArray[Any] = np.ndarray((file.slots,), ">i4", buffer=file.view, offset=HEADER.size)
    entries: NDArray[Any] = np.ndarray((file.capacity,), _ENTRY, buffer=file.view, offset=first_entry_at(file.slots))
    read.index += HEADER.size
    _probe(file, slots, entries, read)
    numbers = slots[hashes % file.slots].astype(np.int64)
    read.index += len(hashes) * SLOT.size
    places: list[Ints] = []
    visited = 0
    wanted = hashes
    while True:
        alive = numbers > 0
        if (numbers >= file.capacity).any():
            raise _Unsound("a slot or an entry names one behind its end")
        numbers, wanted = numbers[alive], wanted[alive]
        if not len(numbers):
            break
        if len(numbers) < _FEW_CHAINS:
            visited += _follow_each(file, numbers, wanted, places, most_entries - visited)
            break
        here = entries[numbers]
        visited += len(numbers)
        if visited > most_entries:
            raise TooCommon
        found, older = here["hash"].astype(np.int64), here["older"].astype(np.int64)
        if (older >= numbers).any() or (found % file.slots != wanted % file.slots).any():
            raise _Unsound("an entry is in a chain where it does not belong")
        places.append(here["log_offset"].astype(np.int64)[found == wanted])
        numbers = older
    read.index += visited * ENTRY.size
    return np.concatenate(places) if places else np.zeros(0, np.int64)


def _follow_each(file: IndexFile, numbers: Ints, wanted: Ints, places: list[Ints], most_entries: int) -> int:
    """Follow a few chains to their ends, one after the other; return how many entries they have."""
    entries_at, slots, visited = first_entry_at(file.slots), file.slots, 0
    view, read_entry, size = file.view, ENTRY.unpack_from, ENTRY.size
    for start, hash_ in zip(numbers.tolist(), wanted.tolist(), strict=True):
        number, mine, slot = start, [], hash_ % slots
        while number > 0:
            if visited >= most_entries:
                raise TooCommon
            visited += 1
            found, log_offset, _, older = read_entry(view, entries_at + number * size)
            if older >= number or found % slots != slot:
                raise _Unsound("an entry is in a chain where it does not belong")
            if found == hash_:
                mine.append(log_offset)
            number = older
        places.append(np.array(mine, np.int64))
    return visited


def _probe(file: IndexFile, slots: NDArray[Any], entries: NDArray[Any], read: BytesRead) -> None:
    """Raise _Unsound if some entries are not where the slots and the header say that they are."""
    numbers = np.unique(np.linspace(1, file.count - 1, min(_PROBES, file.count - 1)).astype(np.int64))
    if file.count > file.capacity:
        raise _Unsound("its header counts more entries than it has room for")
    here = entries[numbers]
    read.index += len(numbers) * (ENTRY.size + SLOT.size)
    places, hashes = here["log_offset"].astype(np.int64), here["hash"].astype(np.int64)
    if (hashes < 0).any() or (slots[hashes % file.slots] < numbers).any():
        raise _Unsound("a slot does not lead to its entries")
    inside = (places >= file.begin_log_offset) & (places <= file.end_log_offset)
    if not inside.all() or (np.diff(places) < 0).any() or (here["older"] >= numbers).any():
        raise _Unsound("an entry is not in its order")
    if places[0] != file.begin_log_offset or places[-1] != file.end_log_offset:
        raise _Unsound("its header names other records than its entries")
