"""What RocketMQ keeps of the messages of a queue beside their units (store/README.md#extended-queues).

::

    0  size int16 | 2  tags code int64 | 10  store time int64 | 18  bytes of bits int16 | 20  bits

A unit of the queue then holds an address instead of the tags code: the position here, less 2^63, which is lower than
any tags code of 32 bits. A size of -1 ends a file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, Self

from broker_core.store.layout import extension_folder
from broker_core.store.mapped_file import MappedFile
from broker_core.store.mapped_files import MappedFiles

MOST_ADDRESS: Final = -(1 << 31) - 1
"""The greatest address; a greater number is a tags code or a time."""

_ADDRESS_BASE: Final = -(1 << 63)
_HEAD: Final = struct.Struct(">hqqh")
_SIZE: Final = struct.Struct(">h")
_END: Final = _SIZE.pack(-1)
# Of a file, left free for its end.
_END_BYTES: Final = 4
_RESERVE_BYTES: Final = 64 * 1024


class ExtensionUnit(NamedTuple):
    """What is kept of one message; `bits` are those of the filters that it passed, empty if none were computed."""

    tags_code: int
    store_time: int
    bits: bytes = b""

    def pack(self) -> bytes:
        """Return its bytes."""
        return _HEAD.pack(_HEAD.size + len(self.bits), self.tags_code, self.store_time, len(self.bits)) + self.bits


class QueueExtension:
    """The units of one queue's extension, in the order in which they were written."""

    __slots__ = ("_files", "_synced")

    def __init__(self, files: MappedFiles) -> None:
        self._files = files
        # The position up to which units are on the disk.
        self._synced = 0

    @classmethod
    def load(cls, root: Path, topic: str, queue_id: int, *, file_size: int, writable: bool = True) -> Self:
        """Return an extension with its existing files; every byte of them counts as written until `end_at`."""
        return cls(
            MappedFiles.load(
                extension_folder(root, topic, queue_id),
                file_size=file_size,
                reserve_bytes=_RESERVE_BYTES,
                scratch=root,
                writable=writable,
                lazy=writable,
            )
        )

    @property
    def is_empty(self) -> bool:
        """Whether it has no files."""
        return not len(self._files)

    # -- reading

    def find(self, address: int) -> ExtensionUnit | None:
        """Return the unit at an address, if there is one."""
        position = address - _ADDRESS_BASE
        file = self._files.find(position)
        if file is None:
            return None
        at = position - file.start
        if at + _HEAD.size > file.wrote:
            return None
        size, tags_code, store_time, bits = _HEAD.unpack_from(file.view, at)
        if size != _HEAD.size + bits or bits < 0 or at + size > file.wrote:
            return None
        return ExtensionUnit(tags_code, store_time, bytes(file.view[at + _HEAD.size : at + size]))

    # -- writing

    def append(self, units: Iterable[ExtensionUnit]) -> list[int]:
        """Append units and return their addresses; raises StoreFull."""
        return [self._append(unit.pack()) for unit in units]

    def _append(self, data: bytes) -> int:
        file = self._files.last
        if file is None or file.wrote == file.size:
            file = self._files.roll(data)
            return _ADDRESS_BASE + file.start
        if len(data) > file.size - file.wrote - _END_BYTES:
            file.append(_END.ljust(file.size - file.wrote, b"\0"))
            return self._append(data)
        file.append(data)
        return _ADDRESS_BASE + file.end - len(data)

    # -- opening

    def resume(self, last: int) -> bool:
        """Continue behind the unit at an address, as after a clean stop; return whether it is there."""
        if (unit := self.find(last)) is None:
            return False
        self._end_at(last - _ADDRESS_BASE + len(unit.pack()), trusted=True)
        return True

    def recover(self, *, trusted: bool) -> int:
        """Find the end of the units and clear what follows; return the first address that has no unit.

        Unless it is `trusted`, the last unit goes too: a crash may have torn it.
        """
        end = self._files.begin
        for file in self._files:
            last, behind = _end_of_units(file)
            end = file.start + (behind if trusted or _says_end(file, behind) else last)
            # A file in the middle that does not say that it ends was lost in part.
            if file is not self._files.last and not _says_end(file, behind):
                break
        self._end_at(end, trusted=False)
        return _ADDRESS_BASE + end

    def _end_at(self, position: int, *, trusted: bool) -> None:
        while (last := self._files.last) is not None and last.start > position:
            self._files.keep(len(self._files) - 1)
        if last is None:
            return
        wrote = position - last.start
        if trusted:
            last.resume(wrote)
        else:
            last.cut(wrote)
        self._synced = position if trusted else 0

    def truncate(self, last: int) -> None:
        """Drop everything behind the unit at an address, if it is there."""
        if (unit := self.find(last)) is not None:
            end = last - _ADDRESS_BASE + len(unit.pack())
            if end < self._files.end:
                self._end_at(end, trusted=False)

    def drop_before(self, address: int) -> int:
        """Remove the files, never the last, that end before an address; return how many."""
        dropped = 0
        while len(self._files) > 1 and self._files[0].start + self._files.file_size < address - _ADDRESS_BASE:
            self._files.drop_first()
            dropped += 1
        return dropped

    def restart(self) -> None:
        """Remove all units."""
        self._files.keep(0)
        self._synced = 0

    # -- files

    def sync(self) -> None:
        """Wait until all units written so far are on the disk; other threads run in the meantime."""
        end = self._files.end
        if end != self._synced:
            self._files.sync(min(end, self._synced))
            self._synced = end

    def release(self) -> None:
        """Unmap its files until they are needed again."""
        self._files.release()

    def close(self) -> None:
        """Close the files."""
        self._files.close()

    def delete(self) -> None:
        """Remove the files and the folder."""
        folder = self._files.folder
        self._files.keep(0)
        if folder.is_dir():
            folder.rmdir()


def is_address(tags_code: int) -> bool:
    """Return whether what a unit has for a tags code is the address of an extension's unit."""
    return tags_code <= MOST_ADDRESS


def _end_of_units(file: MappedFile) -> tuple[int, int]:
    """Return begin and end of the last unit that follows others from the beginning of a file on."""
    view, end, at, last = file.view, file.size - _HEAD.size, 0, 0
    while at <= end:
        size, _, _, bits = _HEAD.unpack_from(view, at)
        if size != _HEAD.size + bits or bits < 0 or at + size > file.size:
            break
        last, at = at, at + size
    return last, at


def _says_end(file: MappedFile, at: int) -> bool:
    return at + _SIZE.size <= file.size and bytes(file.view[at : at + _SIZE.size]) == _END
