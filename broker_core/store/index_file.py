"""One index file: the positions of messages by key (store/README.md#index-file).

::

    0   begin time int64 | 8  end time int64 | 16  begin log offset int64 | 24  end log offset int64
    32  slots in use int32 | 36  next entry number int32                                          40 bytes of header
    40  slots: number of the newest entry of each bucket, int32; 0 = none
        entries: 0  key hash int32 | 4  log offset int64 | 12  seconds since begin int32 | 16  next older entry int32

Entry 0 is never used. Entries of one slot form a chain from the newest to the oldest. Only a 31-bit hash is stored, so
an entry is a candidate until its record has been checked.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from typing import Final, NamedTuple, Self

from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.properties import parse_properties, split_keys
from broker_core.protocol.record import RecordHead
from broker_core.protocol.string_hash import key_hash
from broker_core.protocol.sys_flag import TRANSACTION_MASK, TRANSACTION_ROLLBACK
from broker_core.store.commit_log import CommitLog
from broker_core.store.errors import Corrupt
from broker_core.store.mapped_file import MappedFile

HEADER: Final = struct.Struct(">qqqqii")
ENTRY: Final = struct.Struct(">iqii")
SLOT: Final = struct.Struct(">i")
_END_TIME: Final = struct.Struct(">q")
_END_TIME_AT: Final = 8
_BLANK: Final = bytes(ENTRY.size)
_MAX_SECONDS: Final = 0x7FFFFFFF
_RESERVE_BYTES: Final = 1024 * 1024

KEY: Final = struct.Struct(">iqq")
"""A key to be added: its hash, the log offset of its record, and the record's store time (ms)."""


class Entry(NamedTuple):
    """One entry of a chain: a possible position of a key with this hash. `store_time` (ms) is in whole seconds."""

    number: int
    hash: int
    log_offset: int
    store_time: int


class IndexFile:
    """One file of hash slots and entries; the header is cached in memory and written with each batch of keys."""

    def __init__(self, file: MappedFile, *, slots: int, entries: int) -> None:
        """Hold an index in `file`; raise Corrupt if its length does not match the slots and entries."""
        if file.size != file_bytes(slots, entries):
            raise Corrupt(file.path, f"its length {file.size} is not that of {slots} slots and {entries} entries")
        self._file = file
        self.slots = slots
        self.capacity = entries
        self._entries_at = first_entry_at(slots)
        header: tuple[int, ...] = HEADER.unpack_from(file.view)
        self.begin_time, self.end_time, self.begin_log_offset, self.end_log_offset, self._slots_used, count = header
        # The number of the next entry; 0 is also possible in a file without entries.
        self.count = max(count, 1)
        self.is_synced = False
        # A file ends later than the one before, even if all its records were stored in the last millisecond of that:
        # recovery uses the end time to determine whether a file was finished (store/README.md#recovery).
        self._least_end = self.end_time + 1 if self.is_empty and self.end_time else 0

    @classmethod
    def create(cls, path: Path, *, slots: int, entries: int, scratch: Path, after: IndexFile | None) -> Self:
        """Create a file that continues after `after`, which is full; raise StoreFull."""
        size = file_bytes(slots, entries)
        header = HEADER.pack(*after.ends(), 0, 0) if after else bytes(HEADER.size)
        # Slots are written in random order, so all of them need their disk blocks before the first.
        slots_end = HEADER.size + slots * SLOT.size
        file = MappedFile.create(
            path, size=size, start=0, reserve_bytes=min(slots_end + _RESERVE_BYTES, size), scratch=scratch, data=header
        )
        return cls(file, slots=slots, entries=entries)

    @classmethod
    def load(cls, path: Path, *, slots: int, entries: int, writable: bool = True) -> Self:
        """Map an existing file."""
        file = MappedFile(path, start=0, wrote=0, reserve_bytes=_RESERVE_BYTES, writable=writable)
        try:
            return cls(file, slots=slots, entries=entries)
        except Corrupt:
            file.release()
            raise

    @property
    def view(self) -> memoryview:
        """The bytes of the file."""
        return self._file.view

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._file.path

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another entry."""
        return self.count >= self.capacity

    @property
    def is_empty(self) -> bool:
        """Whether the file has no entry yet."""
        return self.count <= 1

    def ends(self) -> tuple[int, int, int, int]:
        """Return the four header fields with which the next file begins."""
        return self.end_time, self.end_time, self.end_log_offset, self.end_log_offset

    # -- writing ------------------------------------------------------------------------------------------------------

    def put(self, keys: bytes, *, least_end: int = 0) -> int:
        """Add keys (each a KEY) of records in log order until the file is full; return how many. Raises StoreFull.

        The file's end time becomes that of the last key, but never decreases and is at least `least_end`.
        """
        keys = keys[
            : max(0, self.capacity - self.count) * KEY.size
        ]  # a damaged header may state more entries than possible
        if not keys:
            return 0
        count = len(keys) // KEY.size
        _, newest, newest_time = KEY.unpack_from(keys, len(keys) - KEY.size)
        self._reserve(count)
        # The end time is written first: a batch torn by a crash then appears newer than the checkpoint, and the file is
        # rebuilt (store/README.md#recovery).
        self.end_time = max(newest_time, self.end_time, self._least_end, least_end)
        self._file.write(_END_TIME_AT, _END_TIME.pack(self.end_time))
        self.count, self._slots_used, self.begin_time, self.begin_log_offset = put_entries(
            self._file.writable,
            self.slots,
            self._entries_at,
            self.count,
            self._slots_used,
            self.begin_time,
            self.begin_log_offset,
            keys,
        )
        self.end_log_offset = newest
        self._write_header()
        return count

    def cut(self, log_end: int) -> None:
        """Remove the keys of records at or after `log_end`, and let more keys follow.

        The end time stays: all keys are within the times that it ends, and recovery sees that the file is not finished.
        """
        self.is_synced = False
        left = 1 + bisect_left(range(1, self.count), log_end, key=self._entry_log_offset)
        if left == self.count:
            return
        for number in range(self.count - 1, left - 1, -1):
            self._remove_newest(number)
        self.count = left
        self.end_log_offset = self._entry_log_offset(left - 1)
        self._write_header()

    def _remove_newest(self, number: int) -> None:
        """Remove the last entry: its slot points to the one before it in its chain again."""
        at = self._entries_at + number * ENTRY.size
        hash_, _, _, older = ENTRY.unpack_from(self._file.view, at)
        self._file.write(HEADER.size + hash_ % self.slots * SLOT.size, SLOT.pack(older))
        self._file.write(at, _BLANK)
        if not older:
            self._slots_used -= 1

    def _reserve(self, entries: int) -> None:
        file = self._file
        upto = self._entries_at + (self.count + entries) * ENTRY.size
        if upto > file.reserved:
            file.reserve(upto)

    def _write_header(self) -> None:
        header = HEADER.pack(
            self.begin_time,
            self.end_time,
            self.begin_log_offset,
            self.end_log_offset,
            self._slots_used,
            self.count,
        )
        self._file.write(0, header)

    def sync(self) -> None:
        """Wait until everything put so far is on the disk; other threads run in the meantime."""
        self._file.sync()

    def finish(self) -> None:
        """Sync a file that gets no more keys, unless it was synced before."""
        if not self.is_synced:
            self._file.sync()
            self.is_synced = True

    # -- reading ------------------------------------------------------------------------------------------------------

    def agrees_with(self, log: CommitLog) -> bool:
        """Return whether the header matches the entries, and the store times of their records."""
        if not 0 < self.count <= self.capacity or not 0 <= self._slots_used < self.count:
            return False
        if self.is_empty:
            return self._is_blank(1)
        first, last = self._entry_log_offset(1), self._entry_log_offset(self.count - 1)
        return (
            first == self.begin_log_offset <= self.end_log_offset == last
            and (self.is_full or self._is_blank(self.count))
            and log.store_time(first) in (None, self.begin_time)
            and (log.store_time(last) or 0) <= self.end_time
        )

    def _entry_log_offset(self, number: int) -> int:
        return int(ENTRY.unpack_from(self._file.view, self._entries_at + number * ENTRY.size)[1])

    def _is_blank(self, number: int) -> bool:
        at = self._entries_at + number * ENTRY.size
        return self._file.view[at : at + ENTRY.size] == _BLANK

    def touches(self, begin: int, end: int) -> bool:
        """Return whether any entry's store time may be in [begin, end] (ms)."""
        return not self.is_empty and self.begin_time <= end and begin <= self.end_time

    def chain(self, key_hash: int) -> Iterator[Entry]:
        """Yield all entries of the slot of `key_hash`, newest first, whatever their hash.

        Raises Corrupt if the chain does not go strictly backwards.
        """
        return self._follow(key_hash % self.slots)

    def all_entries(self) -> Iterator[Entry]:
        """Yield the entries of all chains; raises like `chain`."""
        for slot in range(self.slots):
            yield from self._follow(slot)

    def _follow(self, slot: int) -> Iterator[Entry]:
        buffer = self._file.view
        (number,) = SLOT.unpack_from(buffer, HEADER.size + slot * SLOT.size)
        # Not only up to `count`: a reader's count is from its opening, and the writer may have added entries since.
        if not 0 < number < self.capacity:
            return
        while number > 0:
            at = self._entries_at + number * ENTRY.size
            found, log_offset, seconds, older = ENTRY.unpack_from(buffer, at)
            yield Entry(number, found, log_offset, self.begin_time + (seconds * 1000 if number > 1 else 0))
            if older >= number:
                raise Corrupt(self.path, f"entry {number} of a chain is followed by entry {older}")
            number = older

    def close(self) -> None:
        """Unmap the file."""
        self._file.release()

    def delete(self) -> None:
        """Remove the file."""
        self._file.delete()


def hashes_of(head: RecordHead, view: memoryview) -> list[int]:
    """Return the hashes that the index should have for a record, whose bytes `view` has at the positions of `head`."""
    if head.sys_flag & TRANSACTION_MASK == TRANSACTION_ROLLBACK:
        return []
    topic = str(view[head.topic_begin : head.topic_end], "utf-8", "replace")
    pairs = parse_properties(str(view[head.properties_begin : head.properties_end], "utf-8", "replace"))
    unique_id = pairs.get(names.UNIQ_KEY)
    keys = ([unique_id] if unique_id else []) + split_keys(pairs.get(names.KEYS))
    return [key_hash(f"{topic}#{key}") for key in keys]


def first_entry_at(slots: int) -> int:
    """Return where in a file its entries begin."""
    return HEADER.size + slots * SLOT.size


def file_bytes(slots: int, entries: int) -> int:
    """Return the length of an index file."""
    return first_entry_at(slots) + entries * ENTRY.size


def _put_entries(
    into: mmap,
    slots: int,
    entries_at: int,
    number: int,
    slots_used: int,
    begin_time: int,
    begin_log_offset: int,
    keys: bytes,
) -> tuple[int, int, int, int]:
    """Write entries from `number` on and make their slots point to them.

    `into` is the map of the whole file, which has room for them. Returns the new header fields: next number, slots in
    use, begin time (ms), begin log offset.
    """
    position = entries_at + number * ENTRY.size
    read_slot, write_slot, write_entry = SLOT.unpack_from, SLOT.pack_into, ENTRY.pack_into
    for hash_, log_offset, store_time in KEY.iter_unpack(keys):
        slot_at = hash_ % slots * SLOT.size + HEADER.size
        (older,) = read_slot(into, slot_at)
        if not 0 < older <= number:
            older = 0
            slots_used += 1
        seconds = (store_time - begin_time) // 1000 if 0 < begin_time <= store_time else 0
        write_entry(into, position, hash_, log_offset, min(seconds, _MAX_SECONDS), older)
        write_slot(into, slot_at, number)
        if number == 1:
            # After the seconds were computed: in a file that follows another they count from the end of that file.
            begin_time, begin_log_offset = store_time, log_offset
        number += 1
        position += ENTRY.size
    return number, slots_used, begin_time, begin_log_offset


put_entries: Final = native.put_entries if native else _put_entries
