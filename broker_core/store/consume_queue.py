"""One queue of one topic: a row of fixed units that say where its messages are (store-format.md 3).

::

    0  log offset int64 | 8  size int32 | 12  tags code int64        20 bytes; unit number = queue offset

A queue is derived from the commit log and can be made again from it. A unit with size 0 has not been written. A unit
with the largest size (a filler) stands for a message that the log no longer held when the queue was made again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, Self

from broker_core.store.layout import UNIT_BYTES, queue_folder
from broker_core.store.mapped_file import MappedFile
from broker_core.store.mapped_files import MappedFiles

UNIT: Final = struct.Struct(">qiq")
FILLER_SIZE: Final = 0x7FFFFFFF
FILLER: Final = UNIT.pack(0, FILLER_SIZE, 0)

_LOG_OFFSET: Final = struct.Struct(">q")
_RESERVE_BYTES: Final = 64 * 1024
_UNWRITTEN: Final = bytes(40)


class Unit(NamedTuple):
    """Where one message is: log offset, bytes of its record, and the tag's hash or the time of delivery."""

    log_offset: int
    size: int
    tags_code: int


class ConsumeQueue:
    """The units of one queue. `next_offset` is what the next put gets; `max_offset` what consumers can read up to."""

    __slots__ = (
        "_files",
        "_synced",
        "encoded_topic",
        "max_offset",
        "max_physical",
        "min_offset",
        "next_offset",
        "queue_id",
        "topic",
    )

    def __init__(self, topic: str, queue_id: int, files: MappedFiles) -> None:
        """Hold a queue over `files`, of which every byte written is a valid unit."""
        self.topic = topic
        self.queue_id = queue_id
        encoded = topic.encode()
        # The topic as a record carries it, ready for every put.
        self.encoded_topic = bytes((len(encoded),)) + encoded if len(encoded) < 128 else b""
        self._files = files
        self.max_physical = -1
        self.min_offset = 0
        self.max_offset = 0
        self.next_offset = 0
        # The position in the files up to which units are on the disk.
        self._synced = 0

    @classmethod
    def load(cls, root: Path, topic: str, queue_id: int, *, file_units: int, writable: bool = True) -> Self:
        """Return the queue with the files it has; `recover` must follow."""
        files = MappedFiles.load(
            queue_folder(root, topic, queue_id),
            file_size=file_units * UNIT_BYTES,
            reserve_bytes=_RESERVE_BYTES,
            scratch=root,
            writable=writable,
        )
        return cls(topic, queue_id, files)

    # -- writing ------------------------------------------------------------------------------------------------------

    def append(self, units: list[bytes], *, first: int, physical_end: int) -> None:
        """Append units of records in log order, of which the first has queue offset `first`.

        Units the queue already has are left out, so that the same records may be dispatched again; a gap before `first`
        is filled. `physical_end` is the log offset behind the last record. Raises StoreFull; units already written
        stay.
        """
        if physical_end <= self.max_physical:
            return
        if first != self.max_offset:
            units = self._fit(units, first)
        if units:
            self._write(b"".join(units))
        self.max_physical = physical_end

    def _fit(self, units: list[bytes], first: int) -> list[bytes]:
        if first == 0:
            # The topic was deleted and made again; what is here belongs to its former life.
            self._files.drop_all()
            self._take_measure()
            return units
        if first < self.max_offset:
            return units[self.max_offset - first :]
        if not self._files.files:
            # A queue made again after its first messages left the log begins in the file they would have been in.
            file_units = self._files.file_size // UNIT_BYTES
            self._files_begin_at(first)
            return [FILLER] * (first % file_units) + units
        return [FILLER] * (first - self.max_offset) + units

    def _files_begin_at(self, first: int) -> None:
        file_units = self._files.file_size // UNIT_BYTES
        self.min_offset = first
        self.max_offset = self.next_offset = first // file_units * file_units

    def _write(self, data: bytes) -> None:
        position = 0
        while position < len(data):
            file = self._files.last
            if file is None or file.wrote == file.size:
                # The file comes with its first units: one without any would count as a message in Apache RocketMQ.
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

    def find_unit(self, queue_offset: int) -> Unit | None:
        """Return one unit, if the queue has it."""
        units = self.units_from(queue_offset)
        return Unit._make(UNIT.unpack_from(units)) if units else None

    @property
    def first_of_next_file(self) -> int:
        """The first queue offset behind the first file; where to go on when that file is gone."""
        return (self._files.begin + self._files.file_size) // UNIT_BYTES

    @property
    def size_bytes(self) -> int:
        """Bytes of all units written."""
        return self._files.end - self._files.begin

    # -- opening ------------------------------------------------------------------------------------------------------

    def measure(self, *, trusted: bool) -> None:
        """Find the end of the valid units without changing a file.

        After a clean stop (`trusted`) units are written without holes, so the end is searched for; otherwise the first
        unit that was never written ends the queue (store-format.md 3.4).
        """
        files = self._files.files
        kept = max(0, len(files) - 1) if trusted else 0
        for file in files[kept:]:
            file.wrote = _valid_bytes(file, trusted=trusted)
            kept += 1 if file.wrote else 0
            if file.wrote < file.size:
                break
        del files[kept:]
        self._take_measure()

    def recover(self, *, trusted: bool) -> None:
        """Find the end of the valid units, and overwrite or remove what is behind it."""
        before = list(self._files.files)
        self.measure(trusted=trusted)
        self._synced = self._files.end if trusted else 0
        for file in before[len(self._files.files) :]:
            file.delete()
        if self._files.last:
            self._files.last.cut(self._files.last.wrote)

    def truncate(self, log_end: int) -> None:
        """Drop the units of records at or behind `log_end`, the end of the recovered log (store-format.md 3.5)."""
        files = self._files
        while (last := files.last) and UNIT.unpack_from(last.view)[0] >= log_end:
            files.files.pop().delete()
        if last:
            wrote = last.wrote
            while wrote and UNIT.unpack_from(last.view, wrote - UNIT_BYTES)[0] >= log_end:
                wrote -= UNIT_BYTES
            if wrote < last.wrote:
                last.cut(wrote)
        self._take_measure()

    def correct_min(self, log_begin: int) -> None:
        """Move the minimum to the first message that the log still holds, or behind the last (store-format.md 3.3)."""
        first = self._files.files[0] if self._files.files else None
        if first is None:
            return
        begin = first.start // UNIT_BYTES
        count = first.wrote // UNIT_BYTES
        position = max(0, self.min_offset - begin)
        while position < count and UNIT.unpack_from(first.view, position * UNIT_BYTES)[0] < log_begin:
            position += 1
        self.min_offset = begin + position

    def drop_before(self, log_begin: int) -> int:
        """Remove leading files whose last unit is of a record before `log_begin`, never the last; return how many."""
        dropped = 0
        files = self._files
        while (
            len(files.files) > 1 and UNIT.unpack_from(files.files[0].view, files.file_size - UNIT_BYTES)[0] < log_begin
        ):
            files.drop_first()
            dropped += 1
        self.min_offset = max(self.min_offset, files.begin // UNIT_BYTES)
        self.correct_min(log_begin)
        return dropped

    def sync(self) -> None:
        """Wait until all units written so far are on the disk; other threads run meanwhile."""
        end = self._files.end
        if end != self._synced:
            self._files.sync(min(end, self._synced))
            self._synced = end

    def close(self) -> None:
        """Give up the files."""
        self._files.close()

    def delete(self) -> None:
        """Remove the files and the folder of this queue."""
        folder = self._files.folder
        self._files.drop_all()
        if folder.is_dir():
            folder.rmdir()

    def _take_measure(self) -> None:
        self.min_offset = self._files.begin // UNIT_BYTES
        self.max_offset = self.next_offset = self._files.end // UNIT_BYTES
        self.max_physical = next(_ends_backwards(self._files.last), -1)


def _valid_bytes(file: MappedFile, *, trusted: bool) -> int:
    if trusted:
        return _search_end(file)
    # Between two written units there are at most 22 zero bytes, a page that was lost has at least 512.
    begin = max(0, file.map.find(_UNWRITTEN))
    count = file.size // UNIT_BYTES
    first = begin // UNIT_BYTES if begin or _is_unwritten(file, 0) else count - 1
    while first < count and not _is_unwritten(file, first):
        first += 1
    return first * UNIT_BYTES


def _is_unwritten(file: MappedFile, number: int) -> bool:
    log_offset, size, _ = UNIT.unpack_from(file.view, number * UNIT_BYTES)
    return bool(size <= 0 or log_offset < 0)


def _search_end(file: MappedFile) -> int:
    low, high = 0, file.size // UNIT_BYTES
    while low < high:
        middle = (low + high) // 2
        if _is_unwritten(file, middle):
            high = middle
        else:
            low = middle + 1
    return low * UNIT_BYTES


def _ends_backwards(file: MappedFile | None) -> Iterator[int]:
    """Yield where the record of the last unit ends that is no filler."""
    position = file.wrote if file else 0
    while file and position:
        position -= UNIT_BYTES
        log_offset, size, _ = UNIT.unpack_from(file.view, position)
        if size != FILLER_SIZE:
            yield log_offset + size
            return
