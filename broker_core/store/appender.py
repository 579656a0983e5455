"""Appends messages to the log as records and keeps these for the dispatcher."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from broker_core.native import native
from broker_core.native.functions import Native
from broker_core.protocol.batch import BatchEntry, decode_batch
from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.frame import Frame
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, PAIR_END
from broker_core.protocol.record import encode, size_of
from broker_core.protocol.sys_flag import TRANSACTION_MASK, TRANSACTION_PREPARED
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store.appended import AppendedBatch, AppendedRecord
from broker_core.store.commit_log import BLANK_BYTES, CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.dispatcher import Pending, PendingBatch
from broker_core.store.errors import MessageUnstorable
from broker_core.store.incoming import Incoming
from broker_core.store.send_plan import NOTHING_STORED, SendPlan, StoredSends


class Appender:
    """Appends messages. `pending` are the records that wait for the dispatcher, in log order."""

    def __init__(self, log: CommitLog, *, max_message_size: int) -> None:
        """Append to `log`."""
        self.pending: list[Pending] = []
        # The store time (ms) of the last record.
        self.store_time = 0
        self.max_body = max_message_size
        self._log = log
        self._write = self._write_one_compiled if native else self._write_one
        if native:
            self._write_record = native.write_record

    def append_one(self, queue: ConsumeQueue, incoming: Incoming) -> AppendedRecord:
        """Append one message.

        Raises MessageUnstorable, MessageError, UnicodeEncodeError or StoreFull, after which nothing is appended.
        """
        if len(incoming.body) > self.max_body:
            self._check_sizes(len(incoming.body), 0)
        if incoming.sys_flag & TRANSACTION_PREPARED:
            record = self._write(queue, incoming, QueueOffset(0))
        else:
            record = self._write(queue, incoming, QueueOffset(queue.next_offset))
            queue.next_offset += 1
        self.store_time = incoming.store_timestamp
        self.pending.append(record)
        return record

    def append_batch(self, queue: ConsumeQueue, incoming: Incoming) -> AppendedBatch:
        """Append the messages of a batch, back to back in one segment, all or none; raises like `append_one`."""
        if incoming.sys_flag & TRANSACTION_MASK:
            raise MessageUnstorable("a batch cannot hold transaction messages")
        body, common = incoming.body, incoming.text
        measured = native.measure_batch(body, common) if native and queue.topic != SCHEDULE_TOPIC else None
        if native and measured:
            result = self._write_batch_compiled(native, queue, incoming, measured)
        else:
            result = self._write_batch(queue, incoming)
        queue.next_offset += len(result.log_offsets)
        self.store_time = result.store_timestamp
        return result

    def append_sends(
        self,
        plan: SendPlan,
        frames: list[Frame],
        at: int,
        until: int,
        by_key: Mapping[tuple[str, int], ConsumeQueue],
        now: int,
    ) -> StoredSends:
        """Append the messages of the first frames from `at` on that fit the plan and the reserved part of the log."""
        tail = self._log.tail
        if tail is None or native is None:
            return NOTHING_STORED
        begin = tail.wrote
        count, end, answers = native.put_sends(
            AppendedRecord, plan, frames, at, until, by_key, self.pending,
            tail.writable, begin, tail.reserved - BLANK_BYTES, tail.start, now,
        )  # fmt: skip
        if count:
            tail.wrote_to(end)
            self.store_time = now
        return StoredSends(count, tail.start + end, end - begin, answers)

    # -- in Python

    def _write_one(self, queue: ConsumeQueue, incoming: Incoming, offset: QueueOffset) -> AppendedRecord:
        """Write a record at the end of the log."""
        topic, properties = queue.encoded_topic, incoming.text.encode()
        self._check_sizes(0, len(properties))
        origin, sys_flag = incoming.origin, incoming.sys_flag
        size = size_of(topic, incoming.body, properties, origin)
        place = self._log.place(size)
        record = encode(
            topic, incoming.body, properties, origin, size, queue.queue_id, offset, place, sys_flag, incoming.flag
        )
        self._log.append(record)
        return _appended(queue, place, size, offset, incoming, incoming.text)

    def _write_batch(self, queue: ConsumeQueue, incoming: Incoming) -> AppendedBatch:
        entries = decode_batch(incoming.body)
        topic, offset, origin, sys_flag = queue.encoded_topic, queue.next_offset, incoming.origin, incoming.sys_flag
        texts = join_texts(entries, incoming.text)
        encoded = [text.encode() for text in texts]
        self._check_sizes(max([len(entry.body) for entry in entries]), max(map(len, encoded)))
        sizes = [size_of(topic, entry.body, text, origin) for entry, text in zip(entries, encoded, strict=True)]
        *log_offsets, end = accumulate(sizes, initial=self._log.place(sum(sizes)))
        records, pending = [], []
        for number, (entry, text, properties, size, place) in enumerate(
            zip(entries, texts, encoded, sizes, log_offsets, strict=True), offset
        ):
            records.append(
                encode(topic, entry.body, properties, origin, size, queue.queue_id, number, place, sys_flag, entry.flag)
            )
            pending.append(_appended(queue, place, size, number, incoming, text))
        self._log.append(b"".join(records))
        self.pending += pending
        return AppendedBatch(log_offsets, end, QueueOffset(offset), origin.store_timestamp, origin.store_host)

    # -- compiled

    def _write_one_compiled(self, queue: ConsumeQueue, incoming: Incoming, offset: QueueOffset) -> AppendedRecord:
        tail = self._log.tail
        if tail is None:
            return self._write_one(queue, incoming, offset)
        begin, limit, topic = tail.wrote, tail.reserved - BLANK_BYTES, queue.encoded_topic
        try:
            record = self._write_record(
                AppendedRecord, queue, tail.writable, begin, limit, topic, incoming, offset, tail.start + begin
            )
        except OverflowError as error:
            raise MalformedRecord(f"a number does not fit its field: {error}") from error
        if record is None:
            # The segment, or its reserved part, is full, or the properties are too long.
            return self._write_one(queue, incoming, offset)
        tail.wrote_to(begin + record.size)
        return record

    def _write_batch_compiled(
        self, compiled: Native, queue: ConsumeQueue, incoming: Incoming, measured: tuple[int, int, int, int]
    ) -> AppendedBatch:
        messages, variable, longest_body, longest_text = measured
        self._check_sizes(longest_body, longest_text)
        topic, offset, origin = queue.encoded_topic, queue.next_offset, incoming.origin
        begin = self._log.place(variable + messages * size_of(topic, b"", b"", origin))
        tail = self._log.tail
        assert tail is not None
        try:
            log_offsets, end, units, keys = compiled.write_batch(
                tail.writable, tail.wrote, topic, incoming, messages, offset, begin
            )
        except OverflowError as error:
            raise MalformedRecord(f"a number does not fit its field: {error}") from error
        tail.wrote_to(end - tail.start)
        self.pending.append(PendingBatch(queue, begin, end, offset, origin.store_timestamp, units, keys))
        return AppendedBatch(log_offsets, end, QueueOffset(offset), origin.store_timestamp, origin.store_host)

    def _check_sizes(self, body_bytes: int, properties_bytes: int) -> None:
        """Raise MessageUnstorable if one of them is too long."""
        if body_bytes > self.max_body:
            raise MessageUnstorable(f"a body of {body_bytes} bytes; at most {self.max_body} are allowed")
        if properties_bytes > MAX_PROPERTIES_BYTES:
            raise MessageUnstorable(
                f"properties of {properties_bytes} bytes; at most {MAX_PROPERTIES_BYTES} are allowed"
            )


def _appended(
    queue: ConsumeQueue, log_offset: int, size: int, queue_offset: int, incoming: Incoming, text: str
) -> AppendedRecord:
    return AppendedRecord(
        queue,
        LogOffset(log_offset),
        size,
        QueueOffset(queue_offset),
        incoming.store_timestamp,
        incoming.store_host,
        incoming.sys_flag,
        text,
        None,
    )


def join_texts(entries: Sequence[BatchEntry], common: str) -> list[str]:
    """Return the property text of each entry with `common` behind it."""
    behind = f"{PAIR_END}{common}" if common else ""
    return [entry[2].removesuffix(PAIR_END) + behind if entry[2] else common for entry in entries]
