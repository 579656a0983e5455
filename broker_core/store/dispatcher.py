"""Follows the commit log: puts each record into its queue and its keys into the index (store/README.md#dispatch).

Many records come at once. They are grouped by queue, so that a queue gets its units in one write, and all their keys go
into the index together. Dispatching the same records again changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple, cast

from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.properties import value_after
from broker_core.protocol.record import RecordHead
from broker_core.protocol.string_hash import key_hash, tags_code
from broker_core.protocol.sys_flag import TRANSACTION_MASK, TRANSACTION_PREPARED, TRANSACTION_ROLLBACK
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store.appended import AppendedRecord
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.index import Index
from broker_core.store.index_file import KEY
from broker_core.store.layout import is_folder_name
from broker_core.store.queues import Queues
from broker_core.store.units import UNIT

RUN_RECORDS: Final = 4096


class PendingBatch(NamedTuple):
    """Records that are adjacent in the log and in their queue, with their units and keys."""

    queue: ConsumeQueue
    log_offset: int
    end: int
    queue_offset: int
    store_timestamp: int
    units: bytes
    keys: bytes

    @property
    def newest(self) -> int:
        """The log offset of the last record."""
        return int(UNIT.unpack_from(self.units, len(self.units) - UNIT.size)[0])

    def keys_from(self, known: int) -> bytes:
        """Return the keys of the records from log offset `known` on."""
        if self.log_offset >= known:
            return self.keys
        return b"".join([KEY.pack(*key) for key in KEY.iter_unpack(self.keys) if key[1] >= known])


Pending = AppendedRecord | PendingBatch


def undispatched_places(pending: Iterable[Pending], topic: str, unique_id: str) -> Iterator[int]:
    """Return the log offsets of records of a topic that may have a unique id."""
    wanted = key_hash(f"{topic}#{unique_id}")
    for each in pending:
        if each.queue.topic != topic:
            continue
        if isinstance(each, PendingBatch):
            yield from (log_offset for key, log_offset, _ in KEY.iter_unpack(each.keys) if key == wanted)
        elif unique_id in each.text:
            yield each.log_offset


_TAGS: Final = names.mark_of(names.TAGS)
_KEYS: Final = names.mark_of(names.KEYS)
_UNIQ_KEY: Final = names.mark_of(names.UNIQ_KEY)
_DELAY: Final = names.mark_of(names.DELAY)


class Arrived(NamedTuple):
    """Messages that became readable in one queue: those with begin <= queue offset < end."""

    topic: str
    queue_id: int
    begin: QueueOffset
    end: QueueOffset


class Dispatcher:
    """Feeds queues and index. `position` is the log offset up to which all records are in."""

    def __init__(self, queues: Queues, index: Index, *, position: int, delay_levels_ms: Sequence[int]) -> None:
        """Start at `position`, before which nothing is dispatched again."""
        self.queues = queues
        self._index = index
        # What each level of DELAY means, in ms.
        self.delay_levels_ms = delay_levels_ms
        self.position = position
        # The store time of the last record that is in [logicsMsgTimestamp].
        self.store_time = 0

    def dispatch(self, pending: list[Pending]) -> None:
        """Put records, in log order, into queues and index.

        Raises StoreFull; the same records may be dispatched again then.
        """
        if not pending:
            return
        known = self._index.end_log_offset
        keys = []
        for kind, part in groupby(pending, type):
            if kind is PendingBatch:
                keys += [self._dispatch_batch(batch, known) for batch in cast(Iterator[PendingBatch], part)]
            else:
                keys.append(self._dispatch_records(list(cast(Iterator[AppendedRecord], part)), known))
        self._index.put(b"".join(keys))
        last = pending[-1]
        newest = last.newest if isinstance(last, PendingBatch) else last.log_offset
        self.position = last.end
        self.store_time = last.store_timestamp
        self._index.roll_when_due(newest, last.end, last.store_timestamp)

    def _dispatch_records(self, records: list[AppendedRecord], known: int) -> bytes:
        """Put records into their queues; return their keys, but for those before log offset `known`."""
        for queue, mine in _by_queue(records).items():
            for part in _consecutive(mine):
                self._append(queue, part)
        return hash_keys(records, known)

    def _dispatch_batch(self, batch: PendingBatch, known: int) -> bytes:
        batch.queue.append(batch.units, first=batch.queue_offset, physical_end=batch.end)
        return batch.keys_from(known)

    def find_pending(self, head: RecordHead, view: memoryview) -> AppendedRecord | None:
        """Return what there is to dispatch of a record in the log; None if its topic can have no queue."""
        topic = str(view[head.topic_begin : head.topic_end], "utf-8", "replace")
        if not is_folder_name(topic) or head.queue_id < 0:
            return None
        queue = self.queues.get_or_make(topic, head.queue_id)
        text = str(view[head.properties_begin : head.properties_end], "utf-8", "replace")
        return AppendedRecord(
            queue,
            LogOffset(head.log_offset),
            head.size,
            QueueOffset(head.queue_offset),
            head.store_timestamp,
            head.store_host,
            head.sys_flag,
            text,
            None,
        )

    def _append(self, queue: ConsumeQueue, records: list[AppendedRecord]) -> None:
        if queue.topic == SCHEDULE_TOPIC:
            records = [self._with_due(record) for record in records]
        queue.append(pack_units(records), first=records[0].queue_offset, physical_end=records[-1].end)

    def _with_due(self, record: AppendedRecord) -> AppendedRecord:
        """Return a record of the schedule topic with the time (ms) it is due as its tags code."""
        level = value_after(_DELAY, names.PAIR_END + record.text)
        if not level.isdecimal() or not int(level):
            return record
        delay = self.delay_levels_ms[min(int(level), len(self.delay_levels_ms)) - 1]
        return record._replace(tags_code=record.store_timestamp + delay)


def _pack_units(records: list[AppendedRecord]) -> bytes:
    """Return the units of these records, back to back."""
    units = []
    pack = UNIT.pack
    for record in records:
        code = record.tags_code
        if code is None:
            marked = names.PAIR_END + record.text
            code = tags_code(value_after(_TAGS, marked)) if _TAGS in marked else 0
        units.append(pack(record.log_offset, record.size, code))
    return b"".join(units)


def _hash_keys(records: list[AppendedRecord], known: int) -> bytes:
    """Return the index keys, each a KEY, of the records from log offset `known` on: of each unique id, then keys."""
    keys: list[bytes] = []
    pack = KEY.pack
    for queue, log_offset, _, _, store_time, _, sys_flag, text, _ in records:
        if log_offset < known or sys_flag & TRANSACTION_MASK == TRANSACTION_ROLLBACK:
            continue
        marked = names.PAIR_END + text
        if _UNIQ_KEY in marked and (unique_id := value_after(_UNIQ_KEY, marked)):
            keys.append(pack(key_hash(f"{queue.topic}#{unique_id}"), log_offset, store_time))
        if _KEYS in marked:
            several = value_after(_KEYS, marked)
            keys += [
                pack(key_hash(f"{queue.topic}#{key}"), log_offset, store_time) for key in several.split(" ") if key
            ]
    return b"".join(keys)


pack_units: Final = native.pack_units if native else _pack_units
hash_keys: Final = native.hash_keys if native else _hash_keys


def _by_queue(records: list[AppendedRecord]) -> dict[ConsumeQueue, list[AppendedRecord]]:
    """Group the records that enter a queue: all but prepared and rolled back ones."""
    grouped: dict[ConsumeQueue, list[AppendedRecord]] = defaultdict(list)
    for record in records:
        if not record.sys_flag & TRANSACTION_PREPARED:
            grouped[record.queue].append(record)
    return grouped


def _consecutive(records: list[AppendedRecord]) -> list[list[AppendedRecord]]:
    """Cut where queue offsets do not follow each other, as in the log of a topic that was deleted and made again."""
    if records[-1].queue_offset - records[0].queue_offset == len(records) - 1:
        return [records]
    parts = [[records[0]]]
    for before, record in pairwise(records):
        if record.queue_offset == before.queue_offset + 1:
            parts[-1].append(record)
        else:
            parts.append([record])
    return parts
