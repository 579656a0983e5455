"""Follows the commit log: puts each record into its queue and its keys into the index (store/README.md#dispatch).

Records come in runs. A run is grouped by queue, so that a queue gets its units in one write, and the keys of the whole
run go into the index together. Handing the same records in again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Final, NamedTuple, cast

from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.message import QueueOffset
from broker_core.protocol.properties import value_after
from broker_core.protocol.record import RecordHead
from broker_core.protocol.string_hash import key_hash, tags_code
from broker_core.protocol.sys_flag import TRANSACTION_MASK, TRANSACTION_PREPARED, TRANSACTION_ROLLBACK
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.index import Index
from broker_core.store.index_file import KEY
from broker_core.store.layout import SCHEDULE_TOPIC, is_folder_name
from broker_core.store.queues import Queues
from broker_core.store.units import UNIT

RUN_RECORDS: Final = 4096


Followed = tuple[ConsumeQueue, int, int, int, int, int, str, int | None]
"""What there is to follow of one record: queue, log offset, size, queue offset, store time, sys flag, property
text, and a tags code that replaces the hash of the tag. A tuple, since each put makes one."""


class Series(NamedTuple):
    """What there is to follow of records that stand back to back in the log and in their queue: ready for both."""

    queue: ConsumeQueue
    log_offset: int
    end: int
    queue_offset: int
    store_time: int
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


Run = list[Followed | Series]

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
        self._queues = queues
        self._index = index
        # What each level of DELAY means, in ms.
        self.delay_levels_ms = delay_levels_ms
        self.position = position
        # The store time of the last record that is in [logicsMsgTimestamp].
        self.store_time = 0

    def follow(self, run: Run) -> None:
        """Put a run of records, in log order, into queues and index.

        Raises StoreFull; the run may be repeated then.
        """
        if not run:
            return
        known = self._index.end_log_offset
        keys = []
        for kind, part in groupby(run, type):
            if kind is Series:
                keys += [self._follow_series(series, known) for series in cast(Iterator[Series], part)]
            else:
                keys.append(self._follow_each(list(cast(Iterator[Followed], part)), known))
        self._index.put(b"".join(keys))
        last = run[-1]
        newest, end, store_time = (
            (last.newest, last.end, last.store_time)
            if isinstance(last, Series)
            else (last[1], last[1] + last[2], last[4])
        )
        self.position = end
        self.store_time = store_time
        self._index.roll_when_due(newest, end, store_time)

    def _follow_each(self, records: list[Followed], known: int) -> bytes:
        """Put records into their queues; return their keys, but for those before log offset `known`."""
        for queue, mine in _by_queue(records).items():
            for part in _consecutive(mine):
                self._append(queue, part)
        return hash_keys(records, known)

    def _follow_series(self, series: Series, known: int) -> bytes:
        series.queue.append(series.units, first=series.queue_offset, physical_end=series.end)
        return series.keys_from(known)

    def find_followed(self, head: RecordHead, view: memoryview) -> Followed | None:
        """Return what there is to follow of a record that stands in the log; nothing if its topic can have no queue."""
        topic = str(view[head.topic_begin : head.topic_end], "utf-8", "replace")
        if not is_folder_name(topic) or head.queue_id < 0:
            return None
        queue = self._queues.get_or_make(topic, head.queue_id)
        text = str(view[head.properties_begin : head.properties_end], "utf-8", "replace")
        return (
            queue,
            head.log_offset,
            head.size,
            head.queue_offset,
            head.store_timestamp,
            head.sys_flag,
            text,
            None,
        )

    def _append(self, queue: ConsumeQueue, records: list[Followed]) -> None:
        if queue.topic == SCHEDULE_TOPIC:
            records = [self._with_due(record) for record in records]
        queue.append(pack_units(records), first=records[0][3], physical_end=records[-1][1] + records[-1][2])

    def _with_due(self, record: Followed) -> Followed:
        """Return a record of the schedule topic with the time (ms) it is due as its tags code."""
        queue, log_offset, size, offset, store_time, sys_flag, text, code = record
        level = value_after(_DELAY, names.PAIR_END + text)
        if code is None and level.isdecimal() and int(level):
            code = store_time + self.delay_levels_ms[min(int(level), len(self.delay_levels_ms)) - 1]
        return queue, log_offset, size, offset, store_time, sys_flag, text, code


def _pack_units(records: list[Followed]) -> bytes:
    """Return the units of these records, back to back."""
    units = []
    pack = UNIT.pack
    for _, log_offset, size, _, _, _, text, code in records:
        if code is None:
            marked = names.PAIR_END + text
            code = tags_code(value_after(_TAGS, marked)) if _TAGS in marked else 0
        units.append(pack(log_offset, size, code))
    return b"".join(units)


def _hash_keys(run: list[Followed], known: int) -> bytes:
    """Return the index keys, each a KEY, of the records from log offset `known` on: of each unique id, then keys."""
    keys: list[bytes] = []
    pack = KEY.pack
    for queue, log_offset, _, _, store_time, sys_flag, text, _ in run:
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


def _by_queue(run: list[Followed]) -> dict[ConsumeQueue, list[Followed]]:
    """Group the records that enter a queue: all but prepared and rolled back ones."""
    grouped: dict[ConsumeQueue, list[Followed]] = {}
    for record in run:
        if not record[5] & TRANSACTION_PREPARED:
            queue = record[0]
            if queue in grouped:
                grouped[queue].append(record)
            else:
                grouped[queue] = [record]
    return grouped


def _consecutive(records: list[Followed]) -> list[list[Followed]]:
    """Cut where queue offsets do not follow each other, as in the log of a topic that was deleted and made again."""
    if records[-1][3] - records[0][3] == len(records) - 1:
        return [records]
    parts = [[records[0]]]
    for before, record in pairwise(records):
        if record[3] == before[3] + 1:
            parts[-1].append(record)
        else:
            parts.append([record])
    return parts
