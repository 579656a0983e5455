"""Turns messages into records at the end of the log, and remembers them for the dispatcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from broker_core.protocol.message import LogOffset, Message, QueueOffset
from broker_core.protocol.message_id import format_offset_id
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, format_properties
from broker_core.protocol.record import Origin, encode, size_of
from broker_core.protocol.sys_flag import TRANSACTION_MASK, TRANSACTION_PREPARED
from broker_core.store.commit_log import CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.dispatcher import Followed
from broker_core.store.errors import MessageIllegal

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
        """The offset message id (remoting-protocol.md 4.7)."""
        return format_offset_id(self.store_host, self.log_offset)

    @property
    def end(self) -> int:
        """The log offset behind the record: it is durable once `flushed_log_offset` is not less."""
        return self.log_offset + self.size


class Appender:
    """Gives messages their places. `appended` are the records that wait for the dispatcher, in log order."""

    def __init__(self, log: CommitLog, *, max_message_size: int) -> None:
        """Append to `log`."""
        self.appended: list[Followed] = []
        # The store time (ms) of the last record.
        self.store_time = 0
        self._log = log
        self._max_body = max_message_size

    def append_one(self, queue: ConsumeQueue, message: Message, origin: Origin, tags_code: int | None) -> PutResult:
        """Append one message; raise MessageIllegal, MessageError or StoreFull, after which nothing is appended."""
        topic, body, sys_flag = queue.encoded_topic, message.body, message.sys_flag
        properties = format_properties(message.properties).encode()
        if len(body) > self._max_body or len(properties) > MAX_PROPERTIES_BYTES:
            self._check_sizes(body, properties)
        size = size_of(topic, body, properties, origin)
        log_offset = self._log.place(size)
        is_queued = not sys_flag & TRANSACTION_PREPARED
        offset = queue.next_offset if is_queued else 0
        self._log.append(
            encode(topic, body, properties, origin, size, queue.queue_id, offset, log_offset, sys_flag, message.flag)
        )
        if is_queued:
            queue.next_offset = offset + 1
        self.store_time = store_time = origin[2]
        self.appended.append((queue, log_offset, size, offset, store_time, sys_flag, message.properties, tags_code))
        return _new_tuple(PutResult, (log_offset, size, offset, store_time, origin[3]))

    def append_many(self, queue: ConsumeQueue, messages: Sequence[Message], origin: Origin) -> list[PutResult]:
        """Append messages to one queue, back to back in one segment, all or none; raise like `append_one`."""
        if any(message.sys_flag & TRANSACTION_MASK for message in messages):
            raise MessageIllegal("a batch cannot hold transaction messages")
        texts = [format_properties(message.properties).encode() for message in messages]
        for message, text in zip(messages, texts, strict=True):
            self._check_sizes(message.body, text)
        topic, store_time, store_host = queue.encoded_topic, origin[2], origin[3]
        sizes = [size_of(topic, message.body, text, origin) for message, text in zip(messages, texts, strict=True)]
        log_offset, offset = self._log.place(sum(sizes)), queue.next_offset
        records, results, follow = [], [], []
        for message, text, size in zip(messages, texts, sizes, strict=True):
            body, sys_flag, flag = message.body, message.sys_flag, message.flag
            records.append(encode(topic, body, text, origin, size, queue.queue_id, offset, log_offset, sys_flag, flag))
            results.append(PutResult(LogOffset(log_offset), size, QueueOffset(offset), store_time, store_host))
            follow.append((queue, log_offset, size, offset, store_time, sys_flag, message.properties, None))
            log_offset += size
            offset += 1
        self._log.append(b"".join(records))
        queue.next_offset = offset
        self.store_time = store_time
        self.appended += follow
        return results

    def _check_sizes(self, body: bytes, properties: bytes) -> None:
        """Raise MessageIllegal if one of them is too long."""
        if len(body) > self._max_body:
            raise MessageIllegal(f"a body of {len(body)} bytes; at most {self._max_body} are allowed")
        if len(properties) > MAX_PROPERTIES_BYTES:
            raise MessageIllegal(f"properties of {len(properties)} bytes; at most {MAX_PROPERTIES_BYTES} are allowed")
