"""One memory-mapped file of fixed length; only this module maps files for writing and tracks how much of one is data.

::

    0 ............ wrote ............ reserved ............ size
    | data         | zeros, on disk   | zeros, a hole       |

A file has its full length as soon as its name appears (it is created under another name and renamed), since RocketMQ
refuses files of another length. Disk blocks are reserved in steps ahead of the writes: writing into a hole on a full
disk would kill the process, whereas a failed reservation is an error (StoreFull). What is `reserved` is in memory, too,
where it is written in one sequence.

`view` is for reading only. `writable` exposes the same bytes to the functions that write records or keys in place
(appender.py, index_file.py). A `LazyFile` is mapped when one of the two is first used, until `release`. The only
descriptor kept is the one inside the map. `sync` opens the file again, so a flushing thread never uses a descriptor
that the owner closed; a file that was removed in the meantime needs no sync.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from time import perf_counter_ns
from typing import Any, ClassVar, Final, Self

from broker_core.native import native
from broker_core.store.errors import Corrupt, StoreFull
from broker_core.store.layout import LATEST_MS, NEW_PREFIX

# The disk, a quota, or the maximum file size of a process leaves no room.
FULL_ERRORS: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_SCAN_BYTES: Final = 1024 * 1024
_ZEROS: Final = bytes(_SCAN_BYTES)
_numbers = count()
# Unmapping a removed file takes 20 ms for each 256 MiB of it, in which a caller on an event loop would answer nobody.
_unmapping: Final = ThreadPoolExecutor(1, "unmap")


class MappedFile:
    """A file of `size` bytes whose first byte has the given `start` position in its row."""

    __slots__ = (
        "_allocated",
        "_is_writable",
        "_reserve_bytes",
        "is_mapped",
        "path",
        "reserved",
        "size",
        "start",
        "view",
        "writable",
        "wrote",
    )

    view: memoryview
    writable: mmap.mmap
    _ready_bytes: ClassVar[int] = 256 * 1024
    """How many bytes are brought into memory ahead of the writes, at least."""

    def __init__(
        self, path: Path, *, start: int, wrote: int, reserve_bytes: int, writable: bool, size: int | None = None
    ) -> None:
        """Take an existing file with `wrote` bytes of data. If its `size` is given, it is not mapped yet."""
        self.path = path
        self.start = start
        self.wrote = wrote
        self.reserved = self._allocated = wrote
        self.is_mapped = False
        self._reserve_bytes = reserve_bytes
        self._is_writable = writable
        if size is None:
            self._map()
            self.size = len(self.view)
        else:
            self.size = size

    def _map(self) -> None:
        descriptor = os.open(self.path, os.O_RDWR if self._is_writable else os.O_RDONLY)
        try:
            self.writable = mmap.mmap(
                descriptor, 0, access=mmap.ACCESS_WRITE if self._is_writable else mmap.ACCESS_READ
            )
        except ValueError as error:
            raise Corrupt(self.path, "the file is empty") from error
        finally:
            os.close(descriptor)
        self.view = memoryview(self.writable).toreadonly()
        self.is_mapped = True

    @classmethod
    def create(cls, path: Path, *, size: int, start: int, reserve_bytes: int, scratch: Path, data: bytes = b"") -> Self:
        """Create a file with `data` and zeros, and map it; raise StoreFull if the disk has no room for the data.

        It appears under its name with its full length: `scratch` is a folder of the same file system.
        """
        reserved = min(max(len(data), reserve_bytes), size)
        new = scratch / f"{NEW_PREFIX}{os.getpid()}-{next(_numbers)}"
        try:
            with new.open("xb") as fresh:
                fresh.truncate(size)
                os.posix_fallocate(fresh.fileno(), 0, reserved)
                fresh.write(data)
            path.parent.mkdir(parents=True, exist_ok=True)
            new.rename(path)
        except OSError as error:
            new.unlink(missing_ok=True)
            if error.errno in FULL_ERRORS:
                raise StoreFull(path, reserved) from error
            raise
        file = cls(path, start=start, wrote=len(data), reserve_bytes=reserve_bytes, writable=True)
        file._allocated = reserved
        file.reserve(min(reserved, max(len(data), cls._ready_bytes)))
        return file

    @property
    def end(self) -> int:
        """The position after the data."""
        return self.start + self.wrote

    @property
    def is_whole(self) -> bool:
        """Whether the file still has its length: to read the map of one that was cut off kills the process."""
        return not self.is_mapped or self.writable.size() >= self.size

    def reserve(self, upto: int) -> None:
        """Ensure that the first `upto` bytes have disk blocks; raise StoreFull if that fails."""
        if upto <= self.reserved:
            return
        descriptor = os.open(self.path, os.O_RDWR)
        try:
            if upto > self._allocated:
                self._allocate(descriptor, upto)
            end = min(max(upto, self.reserved + self._ready_bytes), self._allocated)
            self._bring(descriptor, self.reserved, end)
        finally:
            os.close(descriptor)
        self.reserved = end

    def _allocate(self, descriptor: int, upto: int) -> None:
        begin = self._allocated
        end = min(max(upto, begin + self._reserve_bytes), self.size)
        try:
            os.posix_fallocate(descriptor, begin, end - begin)
        except OSError as error:
            if error.errno in FULL_ERRORS:
                raise StoreFull(self.path, end - begin) from error
            raise
        self._allocated = end

    def _bring(self, descriptor: int, begin: int, end: int) -> None:
        # At the first write into a page that is not in memory the system reads ahead what the disk is set to, which may
        # be 8 MiB: 15 ms of zeros, in which a caller on an event loop answers nobody.
        os.posix_fadvise(descriptor, begin, end - begin, os.POSIX_FADV_WILLNEED)

    def append(self, data: bytes | memoryview) -> None:
        """Append `data`, for which there must be room."""
        begin = self.wrote
        end = begin + len(data)
        if end > self.reserved:
            self.reserve(end)
        self.writable[begin:end] = data
        # Only now: a flush on another thread treats everything before this position as written.
        self.wrote = end

    def write(self, position: int, data: bytes) -> None:
        """Overwrite bytes that have disk blocks; the amount of data in the file does not change."""
        self.writable[position : position + len(data)] = data

    def wrote_to(self, end: int) -> None:
        """Treat the first `end` bytes as data: they were written through `writable`, or found when the store opened."""
        self.wrote = end

    def resume(self, wrote: int) -> None:
        """Treat the first `wrote` bytes as all that was written and reserved, as after a clean stop."""
        self.wrote = self.reserved = self._allocated = wrote

    def cut(self, wrote: int) -> None:
        """Treat everything after the first `wrote` bytes as unwritten, and overwrite it with zeros.

        Otherwise old bytes could be mistaken for records after the next crash (store/README.md#recovery).
        """
        self.wrote = self.reserved = self._allocated = wrote
        for begin, end in self._written_spans(wrote):
            for position in range(begin, end, _SCAN_BYTES):
                zeros = _ZEROS[: min(end - position, _SCAN_BYTES)]
                if self.view[position : position + len(zeros)] != zeros:
                    self.write(position, zeros)

    def is_blank_from(self, position: int) -> bool:
        """Return whether there are only zeros from `position` on."""
        for begin, end in self._written_spans(position):
            for at in range(begin, end, _SCAN_BYTES):
                zeros = _ZEROS[: min(end - at, _SCAN_BYTES)]
                if self.view[at : at + len(zeros)] != zeros:
                    return False
        return True

    def find(self, data: bytes) -> int:
        """Return the first position of `data`; -1 if it does not occur."""
        return self.writable.find(data)

    def written_end(self) -> int:
        """Return the position after the last non-zero byte."""
        for begin, end in reversed(list(self._written_spans(0))):
            for at in range(end, begin, -_SCAN_BYTES):
                start = max(begin, at - _SCAN_BYTES)
                kept = bytes(self.view[start:at]).rstrip(b"\0")
                if kept:
                    return start + len(kept)
        return 0

    def sync(self) -> int:
        """Wait until everything written so far is on the disk; return the time in ns. Other threads may run."""
        return sync_file(self.path)

    def modified_ms(self) -> int:
        """Return the time of the last write according to the file system, in ms."""
        return self.path.stat().st_mtime_ns // 1_000_000

    def set_modified_ms(self, time_ms: int) -> None:
        """Make the file system say that the last write was at this time, until the next one."""
        time_ns = min(max(time_ms, 0), LATEST_MS) * 1_000_000
        os.utime(self.path, ns=(time_ns, time_ns))

    def release(self) -> None:
        """Unmap the file until it is needed again; existing views stay valid until they are released."""
        mapped = self._let_go()
        if mapped is not None:
            _close(mapped)

    def delete(self) -> None:
        """Remove the file; it is unmapped soon, in another thread, since the system then frees all that it held."""
        self.path.unlink(missing_ok=True)
        mapped = self._let_go()
        if mapped is not None:
            _unmapping.submit(_close, mapped)

    def _let_go(self) -> mmap.mmap | None:
        """Return the map, which the file no longer has; None if it had none."""
        if not self.is_mapped:
            return None
        view, mapped = self.view, self.writable
        del self.view, self.writable
        self.is_mapped = False
        view.release()
        return mapped

    def read(self, position: int, size: int) -> bytes:
        """Return bytes without mapping the file."""
        if self.is_mapped:
            return bytes(self.view[position : position + size])
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            return os.pread(descriptor, size, position)
        finally:
            os.close(descriptor)

    def data_end(self) -> int:
        """Return a position after which there are only zeros, found without reading."""
        return max((end for _, end in self._written_spans(0)), default=0)

    def _written_spans(self, begin: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges that may contain data, so that holes are not read into memory."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            while begin < self.size:
                begin = os.lseek(descriptor, begin, os.SEEK_DATA)
                end = os.lseek(descriptor, begin, os.SEEK_HOLE)
                yield begin, end
                begin = end
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        finally:
            os.close(descriptor)


class LazyFile(MappedFile):
    """A file that is mapped at its first use: for rows of many files of which few are used.

    It is a separate class, since attribute access is slower in classes with `__getattr__`.
    """

    __slots__ = ()

    _ready_bytes = sys.maxsize

    def __getattr__(self, name: str) -> Any:
        """Map the file; Python calls this only for missing attributes."""
        if name not in ("view", "writable"):
            raise AttributeError(name)
        self._map()
        return getattr(self, name)

    def _map(self) -> None:
        super()._map()
        # What the system would read ahead consists mostly of holes.
        self.writable.madvise(mmap.MADV_RANDOM)

    def _bring(self, descriptor: int, begin: int, end: int) -> None:
        """Leave it to the writes: of many files few are written again."""


def _sync_file(path: Path) -> int:
    """Wait until the data of a file is on the disk; return the time in ns, 0 if there is no such file."""
    begin = perf_counter_ns()
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return 0
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
    return perf_counter_ns() - begin


def sync_file_system(folder: Path) -> bool:
    """Sync the file system of `folder`; return whether this system supports that.

    Raises OSError if the sync fails.
    """
    if _syncfs is None:
        return False
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if _syncfs(descriptor):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    finally:
        os.close(descriptor)
    return True


_syncfs: Final = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
sync_file: Final = native.sync_file if native else _sync_file


def sync_folder(folder: Path) -> None:
    """Wait until the names of the files in `folder` are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _close(mapped: mmap.mmap) -> None:
    try:
        mapped.close()
    except BufferError:
        # A view of the map still exists; the map is freed with that view.
        return
