"""The result of a put: where the messages are in the log, and what the dispatcher needs of them."""

from __future__ import annotations

from typing import NamedTuple

from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.message_id import format_offset_id, format_offset_ids
from broker_core.store.consume_queue import ConsumeQueue


class AppendedRecord(NamedTuple):
    """One record in the log. `native/src/native.h` lists the fields in the same order.

    A prepared or rolled back transaction message has queue offset 0 and enters no queue. `text` are its properties;
    `tags_code` replaces the hash of its tag: the time at which a delayed message is due.
    """

    queue: ConsumeQueue
    log_offset: LogOffset
    size: int
    queue_offset: QueueOffset
    store_timestamp: int
    store_host: bytes
    sys_flag: int
    text: str
    tags_code: int | None

    @property
    def offset_id(self) -> str:
        """The offset message id (store/README.md#hosts)."""
        return format_offset_id(self.store_host, self.log_offset)

    @property
    def end(self) -> int:
        """The log offset behind the record: it is durable once `flushed_log_offset` is not less."""
        return self.log_offset + self.size


class AppendedBatch(NamedTuple):
    """The messages of a batch in the log: back to back, with consecutive queue offsets."""

    log_offsets: list[int]
    end: int
    queue_offset: QueueOffset
    store_timestamp: int
    store_host: bytes

    @property
    def offset_id(self) -> str:
        """The offset message ids with commas between them, as the answer to a send carries them."""
        return format_offset_ids(self.store_host, self.log_offsets)
