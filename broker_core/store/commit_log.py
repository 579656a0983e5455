"""The commit log: the records of all topics in one stream of bytes (store/README.md#commit-log-record).

::

    segment 0                                  segment 1
    | record | record | … | blank: rest, magic | record | …     a record never crosses into the next segment;
                            ^ at least 8 bytes                  if it does not fit, a blank fills the rest

The next record begins where the last one ends, or after a blank at the beginning of the next segment.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final, Self

from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.record import (
    BORN_HOST_AT,
    MAGIC_BLANK,
    MAGIC_V1,
    MAGIC_V2,
    SYS_FLAG_AT,
    RecordHead,
    body_is_sound,
    encode_blank,
    read_head,
    size_and_magic,
)
from broker_core.protocol.sys_flag import BORN_HOST_IPV6
from broker_core.store.config import StoreConfig
from broker_core.store.errors import MessageUnstorable, NotInLog
from broker_core.store.layout import COMMIT_LOG
from broker_core.store.mapped_file import MappedFile
from broker_core.store.mapped_files import MappedFiles

BLANK_BYTES: Final = 8
# The first bytes of a record, which always contain its store time, whatever its hosts.
STORE_TIME_BYTES: Final = BORN_HOST_AT + 20 + 8

_SYS_FLAG: Final = struct.Struct(">i")
_STORE_TIME: Final = struct.Struct(">q")
# The content of a segment where nothing was written yet.
_NOTHING: Final = (0, 0)
# The first bytes of what follows a complete record.
_FOLLOWING: Final = (MAGIC_V1, MAGIC_V2, MAGIC_BLANK)

FindNext = Callable[[int], int | None]
"""Returns where the next intact record begins after a log offset, if there is one."""


class CommitLog:
    """Appends records and reads them; positions are log offsets."""

    def __init__(self, files: MappedFiles) -> None:
        """Hold the log in `files`; everything written in them counts as records until `cut`."""
        self.files = files
        # The segment being appended to, if any; kept here because each put needs it.
        self.tail = files.last

    @classmethod
    def load(cls, config: StoreConfig, *, writable: bool = True) -> Self:
        """Return the log with its existing segments."""
        return cls(
            MappedFiles.load(
                config.folder / COMMIT_LOG,
                file_size=config.commit_log_file_size,
                reserve_bytes=config.reserve_bytes,
                scratch=config.folder,
                writable=writable,
            )
        )

    @property
    def begin(self) -> int:
        """The log offset of the first record."""
        return self.files.begin

    @property
    def end(self) -> int:
        """The log offset after the last record."""
        tail = self.tail
        return tail.start + tail.wrote if tail else 0

    # -- writing ------------------------------------------------------------------------------------------------------

    def place(self, size: int) -> int:
        """Reserve room for the next `size` bytes, all in one segment, and return their log offset.

        If they do not fit, a blank fills the rest of the segment and the next one begins. Raises MessageUnstorable for
        more bytes than a segment has, StoreFull if the disk has no room; neither changes the end of the records.
        """
        tail = self.tail
        if tail is not None:
            wrote = tail.wrote
            needed = wrote + size + BLANK_BYTES
            if needed <= tail.reserved:
                return tail.start + wrote
            if needed <= tail.size:
                tail.reserve(needed)
                return tail.start + wrote
        return self._roll(size).start

    def tail_with_room(self, *, at: int) -> MappedFile:
        """Return the segment that is written to, a new one if the last is full; the first begins at or before `at`."""
        tail = self.tail
        if tail is None or tail.wrote == tail.size:
            tail = self.tail = self.files.roll(at=at)
        return tail

    def append(self, data: bytes) -> None:
        """Append whole records; `place` must have been called with their size just before."""
        assert self.tail is not None
        self.tail.append(data)

    def cut(self, position: int) -> None:
        """Drop everything from `position` on."""
        self.files.cut(position)
        self.tail = self.files.last

    def clear(self) -> None:
        """Remove all segments: the first one may begin anywhere then."""
        self.files.keep(0)
        self.tail = None

    def drop_first(self) -> int:
        """Remove the oldest segment, which must not be the only one; return its bytes."""
        self.files.drop_first()
        return self.files.file_size

    def _roll(self, size: int) -> MappedFile:
        if size + BLANK_BYTES > self.files.file_size:
            raise MessageUnstorable(f"a record of {size} bytes fits in no segment of {self.files.file_size}")
        # A segment that already ends with its blank, as found by recovery, is complete.
        full = self.tail if self.tail and self.tail.wrote < self.tail.size else None
        if full is not None:
            full.reserve(full.wrote + BLANK_BYTES)
        fresh = self.files.roll()
        if full is not None:
            # The blank must be written before the next segment is flushed: without it that segment is never read.
            full.append(encode_blank(full.size - full.wrote))
            full.wrote_to(full.size)
        self.tail = fresh
        return fresh

    # -- reading ------------------------------------------------------------------------------------------------------

    def read(self, log_offset: int, size: int) -> memoryview | None:
        """Return `size` bytes at `log_offset`, if the log has them."""
        file = self.files.find(log_offset)
        if file is None:
            return None
        begin = log_offset - file.start
        return file.view[begin : begin + size] if begin + size <= file.wrote and size > 0 else None

    def read_raw(self, log_offset: int, most: int) -> memoryview:
        """Return up to `most` bytes from `log_offset` on, all of one segment; none at the end. Raises NotInLog."""
        if not self.begin <= log_offset <= self.end:
            raise NotInLog(log_offset, self.begin, self.end)
        file = self.files.find(log_offset)
        if file is None:
            return memoryview(b"")
        begin = log_offset - file.start
        return file.view[begin : min(begin + most, file.wrote)]

    def find_record(self, log_offset: int) -> memoryview | None:
        """Return the bytes of the record that begins at `log_offset`, if there is one."""
        file = self.files.find(log_offset)
        if file is None or log_offset < 0:
            return None
        try:
            head = read_head(file.view[: file.wrote], log_offset - file.start)
        except MalformedRecord:
            return None
        return self.read(log_offset, head.size) if head.log_offset == log_offset else None

    def store_time(self, log_offset: int) -> int | None:
        """Return when the record at `log_offset` was stored (ms), if it exists."""
        head = self.read(log_offset, STORE_TIME_BYTES)
        return store_time_of(head) if head else None

    def walk(
        self, begin: int, *, check_crc: bool, may_be_torn: bool = False, resume: FindNext | None = None
    ) -> LogWalk:
        """Return a walk over all records from `begin` on, which must be the beginning of a record or segment.

        With `may_be_torn` the last record is rejected if it looks torn by a crash. `resume` returns where the next
        record begins after damage at a log offset, if there is one: the walk continues there.
        """
        return LogWalk(self, begin, check_crc=check_crc, may_be_torn=may_be_torn, resume=resume)

    def close(self) -> None:
        """Give up the segments."""
        self.files.close()
        self.tail = None


class LogWalk:
    """Iterates over the intact records of a log in order, and ends where none follows.

    `end` is the log offset after the last intact record, `problem` describes what is there unless there is nothing.
    `damaged` lists the damaged places in between: begin, end and reason.
    """

    def __init__(
        self,
        log: CommitLog,
        begin: int,
        *,
        check_crc: bool,
        may_be_torn: bool = False,
        resume: FindNext | None = None,
    ) -> None:
        """Start at `begin`."""
        self.end = begin
        self.problem: MalformedRecord | None = None
        self.damaged: list[tuple[int, int, str]] = []
        self._log = log
        self._check_crc = check_crc
        self._may_be_torn = may_be_torn
        self._resume = resume

    def __iter__(self) -> Iterator[tuple[RecordHead, memoryview]]:
        """Yield each record's head with the bytes of the segment that its positions refer to."""
        position = self.end
        while (file := self._log.files.find(position)) is not None:
            view = file.view[: file.wrote]
            yield from self._walk_segment(file, view, position - file.start)
            if self.problem and (beyond := self._find_beyond()) is not None:
                self.damaged.append((self.end, beyond, self.problem.reason))
                self.problem, position = None, beyond
                continue
            if not self._ends_with_blank(file, view):
                return
            position = file.start + file.size

    def _find_beyond(self) -> int | None:
        return self._resume(self.end) if self._resume else None

    def _walk_segment(self, file: MappedFile, view: memoryview, begin: int) -> Iterator[tuple[RecordHead, memoryview]]:
        self.end = file.start + begin
        while len(view) - begin >= BLANK_BYTES:
            if size_and_magic(view, begin) in (_NOTHING, (file.size - begin, MAGIC_BLANK)):
                return
            try:
                head = self._sound_head(file, view, begin)
            except MalformedRecord as problem:
                self.problem = problem
                return
            begin += head.size
            yield head, view
            self.end = file.start + begin

    def _sound_head(self, file: MappedFile, view: memoryview, begin: int) -> RecordHead:
        head = read_head(view, begin)
        if head.log_offset != file.start + begin:
            raise MalformedRecord(f"it states log offset {head.log_offset}", position=begin)
        if self._check_crc and head.body_length and not body_is_sound(view, head):
            raise MalformedRecord("its body does not match its checksum", position=begin)
        if self._may_be_torn and is_torn(view, head, begin + head.size):
            raise MalformedRecord("nothing follows it, and it ends with zeros that are not part of it", position=begin)
        return head

    def _ends_with_blank(self, file: MappedFile, view: memoryview) -> bool:
        begin = self.end - file.start
        if len(view) - begin < BLANK_BYTES:
            return False
        return size_and_magic(view, begin) == (file.size - begin, MAGIC_BLANK)


def is_torn(view: memoryview, head: RecordHead, end: int) -> bool:
    """Return whether a record that ends at `end` looks torn by a crash: zeros in its text, nothing after it.

    Its lengths precede the text and its checksum covers only the body, so this is the only evidence. Texts written
    by Gantry never end with a zero (`format_properties`).
    """
    last = head.properties_end - 1 if head.properties_end > head.properties_begin else head.topic_end - 1
    if last < 0 or view[last]:
        return False
    return len(view) - end < BLANK_BYTES or size_and_magic(view, end)[1] not in _FOLLOWING


def store_time_of(record: memoryview) -> int:
    """Return the store time (ms) of a record, given at least its first STORE_TIME_BYTES bytes."""
    sys_flag = _SYS_FLAG.unpack_from(record, SYS_FLAG_AT)[0]
    at = BORN_HOST_AT + (20 if sys_flag & BORN_HOST_IPV6 else 8)
    store_time: int = _STORE_TIME.unpack_from(record, at)[0]
    return store_time
