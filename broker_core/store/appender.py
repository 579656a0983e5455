"""Turns messages into records at the end of the log, and remembers them for the dispatcher."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from broker_core.native import native
from broker_core.native.functions import Native
from broker_core.protocol.batch import BatchEntry, decode_batch
from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.message_id import format_offset_id, format_offset_ids
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, PAIR_END
from broker_core.protocol.record import MessageOrigin, encode, encode_series, size_of
from broker_core.protocol.sys_flag import TRANSACTION_MASK, TRANSACTION_PREPARED
from broker_core.store.commit_log import BLANK_BYTES, CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.dispatcher import Run, Series
from broker_core.store.errors import MessageIllegal
from broker_core.store.layout import SCHEDULE_TOPIC

# A named tuple's own constructor is a Python function; this is three times as fast, once for every message.
_new_tuple: Final = tuple.__new__


class PutResult(NamedTuple):
    """Where a message was put."""

    log_offset: LogOffset
    size: int
    queue_offset: QueueOffset
    store_timestamp: int
    store_host: bytes

    @property
    def offset_id(self) -> str:
        """The offset message id (store/README.md#hosts)."""
        return format_offset_id(self.store_host, self.log_offset)

    @property
    def end(self) -> int:
        """The log offset behind the record: it is durable once `flushed_log_offset` is not less."""
        return self.log_offset + self.size


class PutSeries(NamedTuple):
    """Where the messages of a batch were put: back to back, with rising queue offsets."""

    log_offsets: list[int]
    end: int
    queue_offset: QueueOffset
    store_timestamp: int
    store_host: bytes

    @property
    def offset_ids(self) -> str:
        """The offset message ids, with commas between them."""
        return format_offset_ids(self.store_host, self.log_offsets)


class Appender:
    """Gives messages their places. `appended` are the records that wait for the dispatcher, in log order."""

    def __init__(self, log: CommitLog, *, max_message_size: int) -> None:
        """Append to `log`."""
        self.appended: Run = []
        # The store time (ms) of the last record.
        self.store_time = 0
        self._log = log
        self.max_body = max_message_size
        self._write = self._write_one_compiled if native else self._write_one
        if native:
            self._write_record = native.write_record

    def append_one(
        self,
        queue: ConsumeQueue,
        body: bytes,
        text: str,
        flag: int,
        sys_flag: int,
        origin: MessageOrigin,
        tags_code: int | None,
    ) -> PutResult:
        """Append one message with its property text.

        Raises MessageIllegal, MessageError, UnicodeEncodeError or StoreFull, after which nothing is appended.
        """
        if len(body) > self.max_body:
            self._check_sizes(len(body), 0)
        is_queued = not sys_flag & TRANSACTION_PREPARED
        offset = queue.next_offset if is_queued else 0
        log_offset, size = self._write(queue, body, text, flag, sys_flag, origin, offset)
        if is_queued:
            queue.next_offset = offset + 1
        self.store_time = store_time = origin.store_timestamp
        self.appended.append((queue, log_offset, size, offset, store_time, sys_flag, text, tags_code))
        return _new_tuple(PutResult, (log_offset, size, offset, store_time, origin.store_host))

    def append_many(
        self, queue: ConsumeQueue, body: bytes, common: str, sys_flag: int, origin: MessageOrigin
    ) -> PutSeries:
        """Append the messages of a batch's body to one queue, back to back in one segment, all or none.

        `common` is property text that every one of them gets behind its own. Raises like `append_one`.
        """
        if sys_flag & TRANSACTION_MASK:
            raise MessageIllegal("a batch cannot hold transaction messages")
        measured = native.measure_batch(body, common) if native and queue.topic != SCHEDULE_TOPIC else None
        if native and measured:
            series = self._write_batch_compiled(native, queue, body, common, sys_flag, origin, measured)
        else:
            series = self._write_batch(queue, decode_batch(body), common, sys_flag, origin)
        queue.next_offset += len(series.log_offsets)
        self.store_time = series.store_timestamp
        return series

    # -- in Python

    def _write_one(
        self, queue: ConsumeQueue, body: bytes, text: str, flag: int, sys_flag: int, origin: MessageOrigin, offset: int
    ) -> tuple[int, int]:
        """Write a record at the end of the log; return where it begins and its bytes."""
        topic, properties = queue.encoded_topic, text.encode()
        self._check_sizes(0, len(properties))
        size = size_of(topic, body, properties, origin)
        log_offset = self._log.place(size)
        self._log.append(
            encode(topic, body, properties, origin, size, queue.queue_id, offset, log_offset, sys_flag, flag)
        )
        return log_offset, size

    def _write_batch(
        self, queue: ConsumeQueue, entries: list[BatchEntry], common: str, sys_flag: int, origin: MessageOrigin
    ) -> PutSeries:
        topic, offset, store_time, store_host = (
            queue.encoded_topic,
            queue.next_offset,
            origin.store_timestamp,
            origin.store_host,
        )
        texts = join_texts(entries, common)
        encoded = [text.encode() for text in texts]
        self._check_sizes(max([len(entry[1]) for entry in entries]), max(map(len, encoded)))
        fixed = size_of(topic, b"", b"", origin)
        sizes = [fixed + len(entry[1]) + len(properties) for entry, properties in zip(entries, encoded, strict=True)]
        begin = self._log.place(sum(sizes))
        parts = encode_series(topic, entries, encoded, origin, sizes, queue.queue_id, offset, begin, sys_flag)
        self._log.append(b"".join(parts))
        *log_offsets, end = accumulate(sizes, initial=begin)
        for number, (text, size, log_offset) in enumerate(zip(texts, sizes, log_offsets, strict=True), offset):
            self.appended.append((queue, log_offset, size, number, store_time, sys_flag, text, None))
        return PutSeries(log_offsets, end, QueueOffset(offset), store_time, store_host)

    # -- compiled

    def _write_one_compiled(
        self, queue: ConsumeQueue, body: bytes, text: str, flag: int, sys_flag: int, origin: MessageOrigin, offset: int
    ) -> tuple[int, int]:
        tail = self._log.tail
        if tail is None:
            return self._write_one(queue, body, text, flag, sys_flag, origin, offset)
        begin = tail.wrote
        log_offset = tail.start + begin
        try:
            size = self._write_record(
                tail.map,
                begin,
                tail.reserved - BLANK_BYTES,
                queue.encoded_topic,
                body,
                text,
                origin,
                queue.queue_id,
                offset,
                log_offset,
                sys_flag,
                flag,
            )
        except OverflowError as error:
            raise MalformedRecord(f"a number does not fit its field: {error}") from error
        if size <= 0:
            # The segment or what is reserved of it is full, or the properties are too long.
            return self._write_one(queue, body, text, flag, sys_flag, origin, offset)
        # Only now: a flush on another thread takes everything before this position for written.
        tail.wrote = begin + size
        return log_offset, size

    def _write_batch_compiled(
        self,
        compiled: Native,
        queue: ConsumeQueue,
        body: bytes,
        common: str,
        sys_flag: int,
        origin: MessageOrigin,
        measured: tuple[int, int, int, int],
    ) -> PutSeries:
        messages, variable, longest_body, longest_text = measured
        self._check_sizes(longest_body, longest_text)
        topic, offset, store_time = queue.encoded_topic, queue.next_offset, origin.store_timestamp
        begin = self._log.place(variable + messages * size_of(topic, b"", b"", origin))
        tail = self._log.tail
        assert tail is not None
        try:
            log_offsets, end, units, keys = compiled.write_batch(
                tail.map,
                tail.wrote,
                queue.topic,
                topic,
                body,
                common,
                messages,
                origin,
                queue.queue_id,
                offset,
                begin,
                sys_flag,
            )
        except OverflowError as error:
            raise MalformedRecord(f"a number does not fit its field: {error}") from error
        tail.wrote += end - begin
        self.appended.append(Series(queue, begin, end, offset, store_time, units, keys))
        return PutSeries(log_offsets, end, QueueOffset(offset), store_time, origin.store_host)

    def _check_sizes(self, body_bytes: int, properties_bytes: int) -> None:
        """Raise MessageIllegal if one of them is too long."""
        if body_bytes > self.max_body:
            raise MessageIllegal(f"a body of {body_bytes} bytes; at most {self.max_body} are allowed")
        if properties_bytes > MAX_PROPERTIES_BYTES:
            raise MessageIllegal(f"properties of {properties_bytes} bytes; at most {MAX_PROPERTIES_BYTES} are allowed")


def join_texts(entries: Sequence[BatchEntry], common: str) -> list[str]:
    """Return the property text of each entry with `common` behind it."""
    behind = f"{PAIR_END}{common}" if common else ""
    return [entry[2].removesuffix(PAIR_END) + behind if entry[2] else common for entry in entries]
