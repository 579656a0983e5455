"""One queue of one topic: fixed-size units with the positions of its messages (store/README.md#consume-queue).

A queue is derived from the commit log and can be rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple, Self

from broker_core.protocol.record import MAX_TOPIC_BYTES, MIN_RECORD_BYTES, encode_topic
from broker_core.store.extension import QueueExtension, is_address
from broker_core.store.layout import UNIT_BYTES, queue_folder
from broker_core.store.mapped_files import MappedFiles
from broker_core.store.queue_search import first_from
from broker_core.store.units import (
    FILLER,
    FILLER_SIZE,
    PLACE_BYTES,
    UNIT,
    Unit,
    ends_backwards,
    is_blank_behind,
    measure,
)

_RESERVE_BYTES: Final = 64 * 1024
_LIGHT: Final = "%LMQ%"


class ClosedQueue(NamedTuple):
    """Begin and end of a cleanly closed queue, in queue offsets, and its last record in the log."""

    first_kept: int
    end: int
    min_offset: int
    max_physical: int


class QueueEnd(NamedTuple):
    """The next offset of a queue, and place and size of the record before it; that of a filler if it is not known."""

    next_offset: int
    log_offset: int
    size: int


class ConsumeQueue:
    """The units of one queue. `next_offset` is that of the next put; consumers can read up to `max_offset`."""

    __slots__ = (
        "_files",
        "_synced",
        "encoded_topic",
        "extend",
        "extension",
        "is_gone",
        "max_offset",
        "max_physical",
        "min_offset",
        "next_offset",
        "purged_before",
        "queue_id",
        "record_topic",
        "topic",
    )

    def __init__(self, topic: str, queue_id: int, files: MappedFiles, extension: QueueExtension | None = None) -> None:
        """Hold a queue in `files`, in which every written byte belongs to a valid unit."""
        # What it has beside its units, and what adds to that when units are written: it returns them with addresses.
        self.extension = extension
        self.extend: Callable[[ConsumeQueue, bytes], bytes] | None = None
        self.topic = topic
        self.queue_id = queue_id
        # The topic as encoded in a new record; empty if it is too long to be put.
        self.encoded_topic = encode_topic(topic) if len(topic.encode()) <= MAX_TOPIC_BYTES else b""
        # The topic that the records of this queue must have; empty if they may have another one (light queues).
        self.record_topic = b"" if topic.startswith(_LIGHT) else self.encoded_topic
        self._files = files
        self.max_physical = -1
        self.min_offset = 0
        self.max_offset = 0
        self.next_offset = 0
        # The log offset before which the messages of this queue were purged.
        self.purged_before = 0
        # The position in the files up to which units are on the disk.
        self._synced = 0
        # Set before its files go: another thread may just be syncing them.
        self.is_gone = False

    @classmethod
    def load(
        cls,
        root: Path,
        topic: str,
        queue_id: int,
        *,
        file_units: int,
        writable: bool = True,
        extension: QueueExtension | None = None,
    ) -> Self:
        """Return the queue with its existing files; `recover` must follow."""
        files = MappedFiles.load(
            queue_folder(root, topic, queue_id),
            file_size=file_units * UNIT_BYTES,
            reserve_bytes=_RESERVE_BYTES,
            scratch=root,
            writable=writable,
            lazy=writable,
        )
        return cls(topic, queue_id, files, extension)

    # -- writing ------------------------------------------------------------------------------------------------------

    def append(self, units: bytes, *, first: int, physical_end: int) -> None:
        """Append units of records in log order; the first has queue offset `first`.

        Units that the queue already has are skipped, so that the same records may be dispatched again; a gap before
        `first` is filled. `physical_end` is the log offset after the last record. Raises StoreFull; units already
        written stay.
        """
        if physical_end <= self.max_physical:
            self._rewrite_damaged(units[: max(0, self.max_offset - first) * UNIT_BYTES], first)
            return
        if first != self.max_offset:
            units = self._fit(units, first)
        if units:
            self._write(units)
        self.max_physical = physical_end

    def _fit(self, units: bytes, first: int) -> bytes:
        if first == 0:
            # The topic was deleted and created again; the existing units belong to the deleted one.
            self.restart()
            return units
        if first < self.max_offset:
            known = (self.max_offset - first) * UNIT_BYTES
            self._rewrite_damaged(units[:known], first)
            return units[known:]
        if first - self.max_offset > UNIT.unpack_from(units)[0] // MIN_RECORD_BYTES:
            # The log before this message has no room for so many messages: its queue offset is damaged.
            return b""
        if not len(self._files):
            # A queue rebuilt after its first messages left the log begins in the file that would have held them.
            file_units = self._files.file_size // UNIT_BYTES
            self._files_begin_at(first)
            return FILLER * (first % file_units) + units
        return FILLER * (first - self.max_offset) + units

    def _rewrite_damaged(self, units: bytes, first: int) -> None:
        """Rewrite existing units that name another record: the unit was damaged, not the log.

        The tags code may differ: a put may set its own, and RocketMQ may store it elsewhere.
        """
        for at in range(0, len(units), UNIT_BYTES):
            unit = units[at : at + UNIT_BYTES]
            position = first * UNIT_BYTES + at
            file = self._files.find(position)
            if file is not None and file.view[position - file.start :][:PLACE_BYTES] != unit[:PLACE_BYTES]:
                file.write(position - file.start, unit)

    def _files_begin_at(self, first: int) -> None:
        file_units = self._files.file_size // UNIT_BYTES
        self.min_offset = first
        self.max_offset = self.next_offset = first // file_units * file_units

    def _write(self, data: bytes) -> None:
        if self.extend is not None:
            data = self.extend(self, data)
        position = 0
        while position < len(data):
            file = self._files.last
            if file is None or file.wrote == file.size:
                # A file is created with its first units: an empty file would count as a message in Apache RocketMQ.
                part = data[position : position + self._files.file_size]
                self._files.roll(part, at=self.max_offset * UNIT_BYTES)
            else:
                part = data[position : position + file.size - file.wrote]
                file.append(part)
            position += len(part)
            self.max_offset += len(part) // UNIT_BYTES
        if self.next_offset < self.max_offset:
            self.next_offset = self.max_offset

    # -- reading ------------------------------------------------------------------------------------------------------

    def units_from(self, queue_offset: int) -> memoryview:
        """Return the written units from `queue_offset` to the end of their file; nothing if there are none."""
        file = self._files.find(queue_offset * UNIT_BYTES)
        if file is None or not self.min_offset <= queue_offset < self.max_offset:
            return memoryview(b"")
        return file.view[queue_offset * UNIT_BYTES - file.start : file.wrote]

    def is_whole_at(self, queue_offset: int) -> bool:
        """Return whether the file with a unit still has its length."""
        file = self._files.find(queue_offset * UNIT_BYTES)
        return file is None or file.is_whole

    def find_unit(self, queue_offset: int) -> Unit | None:
        """Return one unit, if the queue has it."""
        units = self.units_from(queue_offset)
        if not units:
            return None
        unit = Unit._make(UNIT.unpack_from(units))
        if self.extension is not None and is_address(unit.tags_code) and (more := self.extension.find(unit.tags_code)):
            return unit._replace(tags_code=more.tags_code)
        return unit

    def backwards(self) -> Iterator[tuple[int, int]]:
        """Yield log offset and size of each unit in the files, from the last one on."""
        for file in reversed(self._files):
            for position in range(file.wrote - UNIT_BYTES, -1, -UNIT_BYTES):
                yield UNIT.unpack_from(file.view, position)[:2]

    def with_tags_codes(self, units: memoryview) -> memoryview:
        """Return units of this queue with the tags codes of its extension in place of their addresses."""
        extension = self.extension
        if extension is None:
            return units
        told = bytearray(units)
        for at, (log_offset, size, code) in zip(range(0, len(units), UNIT_BYTES), UNIT.iter_unpack(units), strict=True):
            if is_address(code) and (more := extension.find(code)) is not None:
                UNIT.pack_into(told, at, log_offset, size, more.tags_code)
        return memoryview(bytes(told))

    @property
    def first_of_next_file(self) -> int:
        """The first queue offset after the first file; the place to continue when that file is removed."""
        return (self._files.begin + self._files.file_size) // UNIT_BYTES

    @property
    def first_kept(self) -> int:
        """The queue offset of the first unit in a file, whether its message still exists or not."""
        return self._files.begin // UNIT_BYTES

    @property
    def tip(self) -> QueueEnd | None:
        """Where the queue ends, whether the log still has its last message or not; None without units."""
        last = self._files.last
        if last is None:
            return None
        log_offset, size, _ = UNIT.unpack(last.read(last.wrote - UNIT_BYTES, UNIT_BYTES))
        return QueueEnd(self.max_offset, log_offset, size)

    @property
    def size_bytes(self) -> int:
        """Bytes of all units written."""
        return self._files.end - self._files.begin

    # -- opening ------------------------------------------------------------------------------------------------------

    def measure_all(self) -> None:
        """Measure up to the last written unit, valid or not, without changing a file."""
        while (last := self._files.last) is not None:
            last.wrote_to(-(-last.written_end() // UNIT_BYTES) * UNIT_BYTES)
            if last.wrote:
                break
            self._files.forget_last()
        self._take_measure()

    def resume(self, span: ClosedQueue) -> bool:
        """Continue from a clean stop, checking only the last unit; return whether the queue is unchanged.

        If not, nothing was modified, and `recover` must follow.
        """
        files, end = self._files, span.end * UNIT_BYTES
        last = files.last
        if last is None or not last.start < end <= last.start + last.size or self.first_kept != span.first_kept:
            return False
        log_offset, size, code = UNIT.unpack(last.read(end - UNIT_BYTES - last.start, UNIT_BYTES))
        if size in (0, FILLER_SIZE) or log_offset + size != span.max_physical:
            return False
        if self._is_extended and not self._resume_extension(code):
            return False
        last.resume(end - last.start)
        self.min_offset = span.min_offset
        self.max_offset = self.next_offset = span.end
        self.max_physical = span.max_physical
        self._synced = end
        return True

    @property
    def span(self) -> ClosedQueue:
        """The data from which `resume` continues."""
        return ClosedQueue(self.first_kept, self.max_offset, self.min_offset, self.max_physical)

    def recover(self, *, trusted: bool) -> bool:
        """Find the end of the valid units, and clear or remove what follows; return whether nothing followed."""
        kept = measure(self._files, trusted=trusted)
        is_all = is_blank_behind(self._files, kept)
        if trusted and not is_all:
            # An unwritten unit in the middle is damage, since a clean stop leaves no holes.
            trusted = False
            kept = measure(self._files, trusted=False)
            is_all = is_blank_behind(self._files, kept)
        self._files.keep(kept)
        self._take_measure()
        self._synced = self._files.end if trusted else 0
        if self._files.last:
            self._files.last.cut(self._files.last.wrote)
        return self._recover_extension(trusted=trusted) and is_all

    @property
    def _is_extended(self) -> bool:
        """Whether what is written goes into an extension too: its end must be known then."""
        return self.extend is not None and self.extension is not None

    def _resume_extension(self, code: int | None) -> bool:
        """Let the extension go on behind the address of the last unit; return whether it can."""
        extension = self.extension
        if extension is None:
            return True
        return extension.resume(code) if code is not None and is_address(code) else extension.is_empty

    def _recover_extension(self, *, trusted: bool) -> bool:
        """Find the end of the extension and drop the units whose addresses are behind it; return whether none was."""
        extension = self.extension
        if extension is None or self.extend is None:
            return True
        if trusted and self._resume_extension(self._last_address()):
            return True
        end = extension.recover(trusted=trusted)
        first: tuple[int, int] | None = None
        for number, file in reversed(list(enumerate(self._files))):
            for position in range(file.wrote - UNIT_BYTES, -1, -UNIT_BYTES):
                code = UNIT.unpack_from(file.view, position)[2]
                if is_address(code):
                    if code < end:
                        return self._cut_at(first)
                    first = number, position
        return self._cut_at(first)

    def _cut_at(self, place: tuple[int, int] | None) -> bool:
        """Drop the units from a place on, in the file of a number; return whether there is no such place."""
        if place is None:
            return True
        number, position = place
        self._files.keep(number + 1)
        if position:
            self._files[number].cut(position)
        else:
            self._files.keep(number)
        self._take_measure()
        return False

    def _last_address(self) -> int | None:
        """Return the last address in the last file."""
        if last := self._files.last:
            for position in range(last.wrote - UNIT_BYTES, -1, -UNIT_BYTES):
                code: int = UNIT.unpack_from(last.view, position)[2]
                if is_address(code):
                    return code
        return None

    def restart(self) -> None:
        """Remove all units, to be rebuilt from the log."""
        self._files.keep(0)
        if self.extension is not None:
            self.extension.restart()
        self._take_measure()

    def mark_suspect(self, log_end: int) -> None:
        """Mark units of records after `log_end` as suspect: records that are appended again replace them."""
        self.max_physical = log_end

    def truncate(self, log_end: int) -> None:
        """Drop the units of records at or after `log_end`, where the log ends; the queue offset of the first one stays.

        `correct_min` must follow.
        """
        files, first_kept = self._files, self.first_kept
        end = files.end
        while (last := files.last) and UNIT.unpack_from(last.view)[0] >= log_end:
            files.keep(len(files) - 1)
        if last:
            wrote = last.wrote
            while wrote and UNIT.unpack_from(last.view, wrote - UNIT_BYTES)[0] >= log_end:
                wrote -= UNIT_BYTES
            if wrote < last.wrote:
                last.cut(wrote)
        elif first_kept:
            self._fill_until(first_kept)
        self._take_measure()
        if files.end < end:
            # Whatever was synced before: what was cut off is on the disk until this is.
            self._synced = files.end - 1
        if self._is_extended and self.extension is not None and (address := self._last_address()) is not None:
            self.extension.truncate(address)

    def begin_behind(self, end: QueueEnd) -> None:
        """Let a queue without units go on behind a message that the log does not have."""
        self._fill_until(end.next_offset, UNIT.pack(end.log_offset, end.size, 0))
        self._take_measure()
        self.min_offset = self.max_offset

    def _fill_until(self, queue_offset: int, last: bytes = FILLER) -> None:
        """Let a queue without units go on at `queue_offset`: its earlier messages left the log, later ones were cut."""
        begin = (queue_offset - 1) * UNIT_BYTES
        fillers = begin % self._files.file_size // UNIT_BYTES
        self._files.roll(FILLER * fillers + last, at=begin)

    def purge(self, log_offset: int) -> None:
        """Move the minimum to the first message at `log_offset` or behind it, or past the last one."""
        self.purged_before = max(self.purged_before, log_offset)
        self.min_offset = first_from(self, self.purged_before)

    def correct_min(self, log_begin: int) -> None:
        """Move the minimum to the first message that the log still has and nobody purged, or past the last one."""
        self.min_offset = first_from(self, max(log_begin, self.purged_before))

    def drop_before(self, log_begin: int) -> int:
        """Remove leading files, never the last, whose last unit is of a record before `log_begin`; return how many."""
        dropped = 0
        files = self._files
        while len(files) > 1 and UNIT.unpack_from(files[0].view, files.file_size - UNIT_BYTES)[0] < log_begin:
            files.drop_first()
            dropped += 1
        self.min_offset = max(self.min_offset, files.begin // UNIT_BYTES)
        self.correct_min(log_begin)
        return dropped + self._drop_from_extension()

    def _drop_from_extension(self) -> int:
        """Remove the files of the extension that no readable unit names; return how many."""
        if self.extension is not None:
            for _, _, code in UNIT.iter_unpack(self.units_from(self.min_offset)):
                if is_address(code):
                    return self.extension.drop_before(code)
        return 0

    @property
    def unsynced_end(self) -> int | None:
        """The end of the written units, if some of them may not be on the disk."""
        end = self._files.end
        return end if end != self._synced else None

    def sync(self) -> None:
        """Wait until all units written so far are on the disk; other threads run in the meantime."""
        try:
            self._sync_files()
        except FileNotFoundError:
            if not self.is_gone:
                raise

    def _sync_files(self) -> None:
        if self._is_extended and self.extension is not None:
            self.extension.sync()
        end = self.unsynced_end
        if end is not None:
            before = self._synced
            self._files.sync(max(0, min(end, before)))
            if self._synced == before:  # it was not cut in the meantime
                self._synced = end

    @property
    def files_added(self) -> int:
        """How many files were created since the queue was opened, or cut off."""
        return self._files.added

    def mark_synced(self, end: int, files_added: int) -> None:
        """Record that everything up to `end`, and the names of this many new files, are on the disk."""
        self._files.mark_named(files_added)
        if end <= self._files.end:  # it was not cut in the meantime
            self._synced = end

    @property
    def mapped_files(self) -> int:
        """How many of its files are currently mapped."""
        return sum(file.is_mapped for file in self._files)

    def release(self) -> None:
        """Unmap its files until they are needed again."""
        self._files.release()
        if self.extension is not None:
            self.extension.release()

    def close(self) -> None:
        """Close the files."""
        self._files.close()
        if self.extension is not None:
            self.extension.close()

    def delete(self) -> None:
        """Remove the files and the folder of this queue."""
        self.is_gone = True
        folder = self._files.folder
        self._files.keep(0)
        if folder.is_dir():
            folder.rmdir()
        if self.extension is not None:
            self.extension.delete()

    def _take_measure(self) -> None:
        self.min_offset = self._files.begin // UNIT_BYTES
        self.max_offset = self.next_offset = self._files.end // UNIT_BYTES
        self.max_physical = next(ends_backwards(self._files.last), -1)
