"""Which offsets of a queue must be read for some keys: what the index names, and what it cannot tell.

The index names places in the log; a queue's units name them in ascending order, so an offset is found by bisection.
What lies outside of the files that answered (a file is missing or damaged, or the writer is not that far yet) is read
completely, so nothing is missed: then the read costs more, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.index_search import IndexFound, TooCommon, hash_keys, search_index
from broker_core.store.columns import HEAD, UNIT, Damage, Ints, Records, Wanted
from broker_core.store.reader import StoreReader
from broker_core.store.units import FILLER_SIZE, Unit

# From this share of a queue's messages on, reading all units is cheaper than a bisection for each.
_MANY: Final = 32
# At both ends of what one file covers there is a record that may have keys in another.
_EDGES: Final = 2
_LARGEST: Final = (1 << 63) - 1

QueueRange = tuple[str, int, int, int]
"""Topic, queue id, first queue offset and the one after the last."""


@dataclass(frozen=True, slots=True)
class KeyPlaces:
    """The queue offsets to read, ascending, or None for all; and why the index did not suffice, if it did not."""

    offsets: Ints | None
    notes: tuple[str, ...] = ()


class _Disordered(Exception):
    """The units of a queue do not ascend."""


def find_places(store: StoreReader, queue: QueueRange, keys: frozenset[str], read: BytesRead) -> KeyPlaces:
    """Return the offsets of a queue whose messages may have one of the keys; adds the bytes read to `read`."""
    topic, queue_id, begin, end = queue
    if not store.record_topic(topic, queue_id):
        return KeyPlaces(None, (f"topic {topic} has messages of other topics, whose keys are theirs",))
    try:
        bounds = [_log_offset(store, queue, at, read) for at in (begin, end - 1)]
    except _Disordered:
        bounds = [0, _LARGEST]
    try:
        found = search_index(
            store.index.files,
            hash_keys(topic, keys),
            begin=bounds[0],
            end=bounds[1],
            most_entries=1000 + end - begin,
            read=read,
        )
    except TooCommon:
        return KeyPlaces(None, ("the keys have more entries in the index than there are messages to read",))
    inside = found.log_offsets[(found.log_offsets >= bounds[0]) & (found.log_offsets <= bounds[1])]
    of_queue = _Queue(store, queue, read)
    outside = of_queue.outside_of(found)
    notes = [*store.index_damage, *found.notes]
    if len(outside) > _EDGES * (1 + len(found.covered)):
        notes.append(f"the index does not cover {len(outside)} of {end - begin} messages, which are read")
    return KeyPlaces(np.union1d(of_queue.offsets_of(inside), outside), tuple(notes))


def _log_offset(store: StoreReader, queue: QueueRange, queue_offset: int, read: BytesRead) -> int:
    """Return where a unit says that its record is; raise _Disordered if it cannot be in the log."""
    topic, queue_id, _, _ = queue
    unit = store.find_unit(topic, queue_id, queue_offset)
    read.queue += UNIT.itemsize
    if unit is None or not _is_possible(unit):
        raise _Disordered
    return unit.log_offset


def _is_possible(unit: Unit) -> bool:
    return unit.log_offset >= 0 and 0 < unit.size != FILLER_SIZE


@dataclass(slots=True)
class _Queue:
    """One queue, asked for log offsets: by bisection, or with all its units where there is much to find."""

    store: StoreReader
    queue: QueueRange
    read: BytesRead
    _all: Ints | None = None

    def offsets_of(self, log_offsets: Ints) -> Ints:
        """Return the queue offsets of records of this queue; records of others are left out."""
        _, _, begin, end = self.queue
        found: list[int] = []
        if len(log_offsets) * _MANY <= end - begin:
            try:
                at = begin
                for log_offset in log_offsets.tolist():
                    at = self._bisect(log_offset, at)
                    if at < end and self._log_offset(at) == log_offset:
                        found.append(at)
            except _Disordered:
                return self._offsets_in_all(log_offsets)
            missing = np.setdiff1d(log_offsets, self._log_offsets_at(found), assume_unique=True)
            return np.union1d(np.array(found, np.int64), self._named_by_records(missing))
        return self._offsets_in_all(log_offsets)

    def outside_of(self, found: IndexFound) -> Ints:
        """Return the queue offsets of which the index cannot tell."""
        _, _, begin, end = self.queue
        edges: list[int] = [begin]
        try:
            for first, last in found.covered:
                # Open spans: the records at both ends may have more keys in a file that is not there.
                edges += (self._bisect(first + 1, edges[-1]), self._bisect(last, edges[-1]))
        except _Disordered:
            return self._outside_in_all(found.covered)
        edges.append(end)
        parts = [np.arange(low, high) for low, high in list(pairwise(edges))[::2]]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _bisect(self, log_offset: int, low: int) -> int:
        """Return the first queue offset from `low` on whose record is at `log_offset` or later."""
        high = self.queue[3]
        least, most = -1, _LARGEST
        while low < high:
            middle = (low + high) // 2
            here = self._log_offset(middle)
            if not least <= here <= most:
                raise _Disordered
            if here < log_offset:
                low, least = middle + 1, here
            else:
                high, most = middle, here
        return low

    def _log_offset(self, queue_offset: int) -> int:
        return _log_offset(self.store, self.queue, queue_offset, self.read)

    def _log_offsets_at(self, queue_offsets: Sequence[int]) -> Ints:
        return np.array([self._log_offset(at) for at in queue_offsets], np.int64)

    def _named_by_records(self, log_offsets: Ints) -> Ints:
        """Return the queue offsets that records state of which this queue has no unit: the unit may be damaged."""
        topic, queue_id, begin, end = self.queue
        offsets: list[int] = []
        size = self.store.segment_size
        for start in np.unique(log_offsets - log_offsets % size).tolist():
            view = self.store.view_segment(start)
            if view is None:
                continue
            mine = log_offsets[(log_offsets >= start) & (log_offsets < start + size)]
            records = Records(np.frombuffer(view, np.uint8), mine - start)
            damage = records.find_damage(None, mine, of_queue=(topic.encode(), queue_id), wanted=Wanted(0))
            self.read.log += len(mine) * HEAD.itemsize
            offsets += records.take(damage == Damage.NONE).column("queue_offset").tolist()
        return np.array([at for at in offsets if begin <= at < end], np.int64)

    def _offsets_in_all(self, log_offsets: Ints) -> Ints:
        everything = self._everything()
        here = np.isin(everything, log_offsets)
        missing = np.setdiff1d(log_offsets, everything[here])
        return np.union1d(np.flatnonzero(here) + self.queue[2], self._named_by_records(missing))

    def _outside_in_all(self, covered: Sequence[tuple[int, int]]) -> Ints:
        everything = self._everything()
        inside = np.zeros(len(everything), bool)
        for first, last in covered:
            inside |= (everything > first) & (everything < last)
        return np.flatnonzero(~inside) + self.queue[2]

    def _everything(self) -> Ints:
        """Return the log offsets of all units; -1 of those that name no record."""
        if self._all is None:
            parts: list[NDArray[Any]] = [np.frombuffer(part, UNIT) for part in self.store.units(*self.queue)]
            self.read.queue += sum(part.nbytes for part in parts)
            places = [part["log_offset"].astype(np.int64) for part in parts]
            sizes = [part["size"].astype(np.int64) for part in parts]
            self._all = np.concatenate([np.zeros(0, np.int64), *places])
            size = np.concatenate([np.zeros(0, np.int64), *sizes])
            self._all[(size <= 0) | (size == FILLER_SIZE)] = -1
        return self._all
