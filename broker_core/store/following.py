"""Follows the log of a master: appends its bytes as they are, and finds its records (store/README.md#following).

::

    … | record | record | first part of one
                        ^ end               ^ the end of the log

Bytes come in parts that may begin and end anywhere in a record. Each record is checked as it becomes whole, and then
waits for the dispatcher. A half record is never read as one: `end` stays before it.
"""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.record import MAGIC_BLANK, MAGIC_V1, MAGIC_V2, MIN_RECORD_BYTES, read_head, size_and_magic
from broker_core.protocol.sys_flag import TRANSACTION_PREPARED
from broker_core.store.appender import Appender
from broker_core.store.commit_log import BLANK_BYTES, CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.dispatcher import Dispatcher, Pending, PendingBatch
from broker_core.store.errors import LogDamaged, NotTheEnd
from broker_core.store.layout import UNIT_BYTES
from broker_core.store.mapped_file import MappedFile
from broker_core.store.usual_records import take_usual


class Following:
    """Appends to the log of `appender`, whose `pending` gets the whole records; the two take turns."""

    def __init__(self, log: CommitLog, appender: Appender, dispatcher: Dispatcher) -> None:
        """Go on at the end of `log`, which is that of a whole record."""
        self._log = log
        self._appender = appender
        self._dispatcher = dispatcher
        # Whether bytes of a master came, and nobody took over since.
        self.is_on = False
        # Where the half record at the end of the log begins, if there is one.
        self._half_at: int | None = None

    @property
    def end(self) -> int:
        """The log offset behind the last whole record."""
        return self._log.end if self._half_at is None else self._half_at

    def append(self, log_offset: int, data: bytes | memoryview) -> None:
        """Append bytes that begin at `log_offset`; see `MessageStore.append_raw`."""
        self._check_place(log_offset)
        self.is_on = True
        left = memoryview(data)
        while left:
            tail = self._log.tail_with_room(at=log_offset)
            begin = self.end
            part = left[: tail.size - tail.wrote]
            tail.append(part)
            self._take_whole(tail, begin)
            log_offset += len(part)
            left = left[len(part) :]

    def stop(self) -> None:
        """Make the log one to append to: remove the half record, and let each queue go on behind all its records."""
        self.drop_half()
        raise_next_offsets(self._appender.pending)
        self.is_on = False

    def drop_half(self) -> None:
        """Remove the half record at the end of the log, if there is one."""
        if self._half_at is not None:
            self.cut(self._half_at)

    def cut(self, log_offset: int) -> None:
        """Drop the end of the log from `log_offset` on, where a record or segment begins."""
        self._log.cut(log_offset)
        self._half_at = None

    def _check_place(self, log_offset: int) -> None:
        if self._log.tail is not None:
            if log_offset != self._log.end:
                raise NotTheEnd(log_offset, self._log.end)
        elif begin := log_offset % self._log.files.file_size:
            # What is before it in its segment would be zeros, which end a log when it is opened.
            raise NotTheEnd(log_offset, max(log_offset - begin, 0))

    def _take_whole(self, tail: MappedFile, begin: int) -> None:
        """Take the records that became whole in the last segment; the first of them begins at `begin`."""
        view = tail.view[: tail.wrote]
        self._half_at = begin
        try:
            while size := self._next_unusual(view, tail):
                if self._half_at + size < tail.start + tail.size:
                    self._take_record(view, self._half_at - tail.start, self._half_at)
                elif self._appender.store_time > 0:
                    # A copy is young; retention goes by the time of the last record, as on the master.
                    tail.set_modified_ms(self._appender.store_time)
                self._half_at += size
        except MalformedRecord as problem:
            raise self._drop_damaged(problem.reason) from problem
        if self._half_at == tail.end:
            self._half_at = None

    def _next_unusual(self, view: memoryview, tail: MappedFile) -> int:
        """Take the usual records; return the size of the one behind them, 0 if it is not whole yet."""
        pending = self._appender.pending
        before = self.end
        self._half_at = take_usual(tail, before, self._dispatcher.queues, pending)
        if self._half_at > before:
            self._appender.store_time = pending[-1].store_timestamp
        return whole_size(view, self._half_at - tail.start, tail.size)

    def _drop_damaged(self, reason: str) -> LogDamaged:
        damage = LogDamaged(self.end, reason)
        self.drop_half()
        return damage

    def _take_record(self, view: memoryview, at: int, log_offset: int) -> None:
        head = read_head(view, at)
        if head.log_offset != log_offset:
            raise MalformedRecord(f"it states log offset {head.log_offset}", position=at)
        self._appender.store_time = head.store_timestamp
        pending = self._dispatcher.find_pending(head, view)
        if pending is not None:
            self._appender.pending.append(pending)


def raise_next_offsets(pending: Iterable[Pending]) -> None:
    """Let each queue go on behind its records that wait for the dispatcher."""
    for record in pending:
        if isinstance(record, PendingBatch):
            _go_on_behind(record.queue, record.queue_offset, len(record.units) // UNIT_BYTES)
        elif not record.sys_flag & TRANSACTION_PREPARED:
            _go_on_behind(record.queue, record.queue_offset, 1)


def _go_on_behind(queue: ConsumeQueue, queue_offset: int, count: int) -> None:
    if queue_offset == 0 and queue.max_offset:
        # The topic was deleted and created again; the existing units belong to the deleted one.
        queue.restart()
    queue.next_offset = max(queue.next_offset, queue_offset + count)


def whole_size(view: memoryview, at: int, segment_size: int) -> int:
    """Return the size of the record at `at` in the written part of a segment, 0 if it is not whole yet.

    A blank counts as one, up to the end of the segment. Raises MalformedRecord for what can become neither.
    """
    left, rest = len(view) - at, segment_size - at
    if 0 < rest < BLANK_BYTES:
        raise MalformedRecord(f"{rest} bytes are left of its segment, too few for a blank", position=at)
    if left < BLANK_BYTES:
        return 0
    size, magic = size_and_magic(view, at)
    if magic == MAGIC_BLANK:
        if size != rest:
            raise MalformedRecord(f"a blank of {size} bytes, where {rest} are left of the segment", position=at)
    elif magic not in (MAGIC_V1, MAGIC_V2):
        raise MalformedRecord(f"magic {magic & 0xFFFFFFFF:08X} is not that of a message", position=at)
    elif not MIN_RECORD_BYTES <= size <= rest - BLANK_BYTES:
        raise MalformedRecord(f"a size of {size}, where {rest} bytes are left of the segment", position=at)
    return size if size <= left else 0
