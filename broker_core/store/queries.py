"""Queries of an open store: messages by queue and offset, by log offset and by key, and the ranges of queues.

Every message is checked (`soundness.py`). A damaged one is left out or raises MessageDamaged, and is recorded.
"""

from __future__ import annotations

from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from broker_core.protocol.record import decode_one, read_head
from broker_core.store import time_search
from broker_core.store.commit_log import CommitLog
from broker_core.store.errors import MessageDamaged
from broker_core.store.fetch import ALL, Accept, GetResult, fetch
from broker_core.store.index import Index
from broker_core.store.kept_bytes import KeptBytes
from broker_core.store.key_search import IndexSearch, search
from broker_core.store.queues import Queues
from broker_core.store.soundness import DamageSeen, find_sound
from broker_core.store.units import Unit


class StoreQueries:
    """The read-only part of an open store."""

    def __init__(self, log: CommitLog, queues: Queues, index: Index) -> None:
        """Read from these parts."""
        self._log = log
        self._queues = queues
        self._index = index
        # The damaged messages found so far.
        self.damage = DamageSeen()
        self._kept = KeptBytes()

    def get(
        self,
        topic: str,
        queue_id: int,
        queue_offset: int,
        *,
        max_messages: int,
        max_bytes: int,
        accept: Accept = ALL,
        joined_below: int = 0,
    ) -> GetResult:
        """Return raw records of a queue from `queue_offset` on; see `fetch` for the limits, and for `joined_below`."""
        found = fetch(
            self._log,
            self._queues.find(topic, queue_id),
            queue_offset,
            max_messages=max_messages,
            max_bytes=max_bytes,
            accept=accept,
            joined_below=joined_below,
        )
        if found.damaged:
            self.damage.add(found.damaged)
        return found

    def ranges(self) -> dict[tuple[str, int], tuple[int, int]]:
        """Return the first and the next offset of every queue that ever had a message."""
        return {key: (queue.min_offset, queue.max_offset) for key, queue in self._queues.by_key.items()}

    def min_offset(self, topic: str, queue_id: int) -> QueueOffset:
        """Return the first queue offset; 0 for a queue that never existed."""
        queue = self._queues.find(topic, queue_id)
        return QueueOffset(queue.min_offset if queue else 0)

    def max_offset(self, topic: str, queue_id: int) -> QueueOffset:
        """Return the queue offset after the last readable message; 0 for a queue that never existed."""
        queue = self._queues.find(topic, queue_id)
        return QueueOffset(queue.max_offset if queue else 0)

    def kept_bytes(self, topic: str, queue_id: int) -> int | None:
        """Return the bytes of a queue's readable messages in the log; None while they are still being summed."""
        queue = self._queues.find(topic, queue_id)
        if queue is None:
            self._kept.forget(topic, queue_id)
            return 0
        return self._kept.of(queue)

    def forget_sums(self) -> None:
        """Sum the bytes of all queues anew: some lost messages at their end."""
        self._kept = KeptBytes()

    def offset_by_time(self, topic: str, queue_id: int, timestamp: int) -> QueueOffset:
        """Return the offset of the message stored nearest to `timestamp` (ms), with RocketMQ 4.9's semantics."""
        queue = self._queues.find(topic, queue_id)
        return time_search.nearest(self._log, queue, timestamp) if queue else QueueOffset(0)

    def first_from(self, topic: str, queue_id: int, timestamp: int) -> QueueOffset:
        """Return the offset of the first message stored at `timestamp` (ms) or later; the maximum if there is none."""
        queue = self._queues.find(topic, queue_id)
        return time_search.lower_bound(self._log, queue, timestamp) if queue else QueueOffset(0)

    def last_until(self, topic: str, queue_id: int, timestamp: int) -> QueueOffset:
        """Return the offset of the last message stored at `timestamp` (ms) or before; the minimum if there is none."""
        queue = self._queues.find(topic, queue_id)
        return time_search.upper_bound(self._log, queue, timestamp) if queue else QueueOffset(0)

    def place_before(self, timestamp: int) -> LogOffset:
        """Return where a record begins that was stored before `timestamp` (ms): not the last such one, but near it.

        It is the last one of a few queues with new messages; without any the first record of the log.
        """
        places = (time_search.last_before(self._log, queue, timestamp) for queue in self._queues.newest())
        return LogOffset(max((place for place in places if place is not None), default=self._log.begin))

    def store_time(self, topic: str, queue_id: int, queue_offset: int) -> int | None:
        """Return when the message at `queue_offset` was stored (ms), if it exists."""
        queue = self._queues.find(topic, queue_id)
        return time_search.store_time(self._log, queue, queue_offset) if queue else None

    def tags_code(self, topic: str, queue_id: int, queue_offset: int) -> int | None:
        """Return the tags code of a message: the hash of its tag, or the due time of a delayed message (ms)."""
        queue = self._queues.find(topic, queue_id)
        unit = queue.find_unit(queue_offset) if queue else None
        return unit.tags_code if unit else None

    def units(self, topic: str, queue_id: int, queue_offset: int, count: int) -> list[Unit]:
        """Return up to `count` units of a queue from `queue_offset` on; none for an offset outside the queue."""
        queue = self._queues.find(topic, queue_id)
        if queue is None or not queue.min_offset <= queue_offset < queue.max_offset:
            return []
        found = map(queue.find_unit, range(queue_offset, min(queue_offset + count, queue.max_offset)))
        return [unit for unit in found if unit is not None]

    def read_log(self, log_offset: int, most: int) -> memoryview:
        """Return at most `most` raw bytes of the log from `log_offset` on; none at its end.

        They never cross a segment, and may begin and end inside a record; a blank is there as it is. Raises NotInLog
        before the first record and beyond the end. A view keeps its segment mapped.
        """
        return self._log.read_raw(log_offset, most)

    def find(self, log_offset: int) -> StoredMessage | None:
        """Return the message whose record begins at `log_offset`, if there is one; raise MessageDamaged."""
        record = self._find_sound(log_offset)
        return decode_one(record) if record is not None else None

    def find_raw(self, log_offset: int) -> bytes | None:
        """Return the record at a log offset that the store itself told, purged or not; raise MessageDamaged."""
        record = self._find_sound(log_offset)
        return bytes(record) if record is not None else None

    def find_named(self, log_offset: int) -> bytes | None:
        """Return the record at a log offset that a client names, if a queue has it there; raise MessageDamaged.

        The body of a message may hold what looks like a record; no queue points at that.
        """
        record = self._log.find_record(log_offset)
        if record is None:
            return None
        head = read_head(record)
        queue = self._queues.find(str(record[head.topic_begin : head.topic_end], "utf-8", "replace"), head.queue_id)
        unit = queue.find_unit(head.queue_offset) if queue else None
        return self.find_raw(log_offset) if unit is not None and unit.log_offset == log_offset else None

    def _find_sound(self, log_offset: int) -> memoryview | None:
        try:
            return find_sound(self._log, log_offset)
        except MessageDamaged as damage:
            self.damage.add((damage,))
            raise

    def search(self, topic: str, key: str, *, begin: int, end: int, max_count: int) -> IndexSearch:
        """Return the newest messages with a key or unique id, stored within [begin, end] (ms), and the figures."""
        found = search(
            self._log,
            self._index.files,
            topic,
            key,
            begin=begin,
            end=end,
            max_count=max_count,
            is_purged=self._queues.is_purged,
        )
        if found.damaged:
            self.damage.add(found.damaged)
        return found

    def queues(self) -> list[tuple[str, int]]:
        """Return topic and queue id of each queue that has, or had, messages."""
        return [key for key, queue in self._queues.by_key.items() if queue.max_offset]
