"""Turns messages into records at the end of the log, and remembers them for the dispatcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from broker_core.protocol.batch import BatchEntry
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.message_id import format_offset_id
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, PAIR_END
from broker_core.protocol.record import Origin, encode, encode_series, size_of
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
        self.max_body = max_message_size

    def append_one(
        self,
        queue: ConsumeQueue,
        body: bytes,
        text: str,
        flag: int,
        sys_flag: int,
        origin: Origin,
        tags_code: int | None,
    ) -> PutResult:
        """Append one message with its property text.

        Raises MessageIllegal, MessageError, UnicodeEncodeError or StoreFull, after which nothing is appended.
        """
        topic = queue.encoded_topic
        properties = text.encode()
        if len(body) > self.max_body or len(properties) > MAX_PROPERTIES_BYTES:
            self._check_sizes(len(body), len(properties))
        size = size_of(topic, body, properties, origin)
        log_offset = self._log.place(size)
        is_queued = not sys_flag & TRANSACTION_PREPARED
        offset = queue.next_offset if is_queued else 0
        self._log.append(
            encode(topic, body, properties, origin, size, queue.queue_id, offset, log_offset, sys_flag, flag)
        )
        if is_queued:
            queue.next_offset = offset + 1
        self.store_time = store_time = origin[2]
        self.appended.append((queue, log_offset, size, offset, store_time, sys_flag, PAIR_END + text, tags_code))
        return _new_tuple(PutResult, (log_offset, size, offset, store_time, origin[3]))

    def append_many(
        self, queue: ConsumeQueue, entries: Sequence[BatchEntry], common: str, sys_flag: int, origin: Origin
    ) -> list[PutResult]:
        """Append messages to one queue, back to back in one segment, all or none; raise like `append_one`.

        `common` is property text that every one of them gets behind its own.
        """
        if sys_flag & TRANSACTION_MASK:
            raise MessageIllegal("a batch cannot hold transaction messages")
        topic, store_time, store_host = queue.encoded_topic, origin[2], origin[3]
        behind = f"{PAIR_END}{common}" if common else ""
        texts = [entry[2].removesuffix(PAIR_END) + behind if entry[2] else common for entry in entries]
        encoded = [text.encode() for text in texts]
        if max([len(entry[1]) for entry in entries]) > self.max_body or max(map(len, encoded)) > MAX_PROPERTIES_BYTES:
            for entry, properties in zip(entries, encoded, strict=True):
                self._check_sizes(len(entry[1]), len(properties))
        fixed = size_of(topic, b"", b"", origin)
        sizes = [fixed + len(entry[1]) + len(properties) for entry, properties in zip(entries, encoded, strict=True)]
        log_offset, offset = self._log.place(sum(sizes)), queue.next_offset
        parts = encode_series(topic, entries, encoded, origin, sizes, queue.queue_id, offset, log_offset, sys_flag)
        self._log.append(b"".join(parts))
        results, follow = [], self.appended
        for text, size in zip(texts, sizes, strict=True):
            results.append(_new_tuple(PutResult, (log_offset, size, offset, store_time, store_host)))
            follow.append((queue, log_offset, size, offset, store_time, sys_flag, PAIR_END + text, None))
            log_offset += size
            offset += 1
        queue.next_offset = offset
        self.store_time = store_time
        return results

    def _check_sizes(self, body_bytes: int, properties_bytes: int) -> None:
        """Raise MessageIllegal if one of them is too long."""
        if body_bytes > self.max_body:
            raise MessageIllegal(f"a body of {body_bytes} bytes; at most {self.max_body} are allowed")
        if properties_bytes > MAX_PROPERTIES_BYTES:
            raise MessageIllegal(f"properties of {properties_bytes} bytes; at most {MAX_PROPERTIES_BYTES} are allowed")
