"""Ranges of queues as blocks of records within one segment, in queue order, found through the consume queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from broker_core.protocol.string_hash import tags_code
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.key_places import find_places
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, chosen_offsets, lose
from broker_core.spark.stores import open_store_with, populate
from broker_core.store.columns import UNIT, Damage, Ints, Mask, Records, Wanted
from broker_core.store.reader import StoreReader
from broker_core.store.units import FILLER_SIZE

# Decoding slows down where a batch no longer fits the caches; large bodies make fewer rows (spark/README.md#batches).
_MOST_ROWS: Final = 8192
_MOST_BYTES: Final = 8 << 20
# Of records whose bodies are not touched.
_MOST_UNTOUCHED: Final = 32 << 20
_WIDEST_SPAN: Final = 1 << 30
# Below this value a unit's tag field is the address of an extension, not a hash (store/README.md#consume-queue).
_EXTENSION: Final = -(1 << 31)

Units = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Block:
    """Records of one queue, each with its position and damage."""

    records: Records
    damage: NDArray[np.int8]
    queue_offsets: Ints
    log_offsets: Ints
    """-1 where it is not known."""

    def part(self, begin: int, end: int) -> Block:
        """Return the rows from `begin` to `end`."""
        rows = slice(begin, end)
        return Block(self.records.part(begin, end), self.damage[rows], self.queue_offsets[rows], self.log_offsets[rows])


def lost_block(queue_offsets: Ints, damage: NDArray[np.int8], log_offsets: Ints | None = None) -> Block:
    """Return a block of messages of which only the positions are known."""
    count = len(queue_offsets)
    unknown = np.full(count, -1, np.int64)
    nothing = Records(np.zeros(0, np.uint8), np.zeros(count, np.int64))
    return Block(nothing, damage, queue_offsets, unknown if log_offsets is None else log_offsets)


def cut_block(block: Block) -> Iterator[Block]:
    """Yield a block in parts of at most 8192 rows and 8 MiB."""
    sizes = np.zeros(len(block.queue_offsets), np.int64)
    is_readable = (block.damage == Damage.NONE) | (block.damage == Damage.BODY)
    sizes[is_readable] = block.records.take(is_readable).column("total_size")
    sums = np.cumsum(sizes)
    at = 0
    while at < len(sizes):
        read = int(sums[at - 1]) if at else 0
        stop = max(at + 1, min(at + _MOST_ROWS, int(np.searchsorted(sums, read + _MOST_BYTES, side="right"))))
        yield block.part(at, stop)
        at = stop


def read_blocks(
    partition: FilePartition, options: SourceOptions, read: BytesRead, *, wanted: Wanted = Wanted.CHECKED_BODIES
) -> Iterator[Block]:
    """Yield the blocks of a range; adds the bytes read to `read`: those of bodies only if they are checked.

    Units whose tag hash does not match, and messages that by the index have none of the keys, are left out before the
    log is read. Every other message of the range is in a block: intact, or with its damage.

    Raises DataLoss if messages of the range are gone, or warns of them and goes on if the options say so.
    """
    topic, queue_id = partition.topic, partition.queue_id
    store = open_store_with(Path(partition.store), topic, queue_id, partition.end)
    has_begin, has_end = store.range(topic, queue_id)
    begin, end = max(partition.begin, has_begin), min(partition.end, has_end)
    if partition.begin < begin:
        lose(partition, options, partition.begin, min(begin, partition.end), f"the queue begins at {has_begin}")
    if partition.end > end:
        lose(partition, options, max(end, partition.begin), partition.end, f"the queue ends at {has_end}")
    for units, queue_offsets in _units(store, partition, begin, end, options, read):
        damage = _find_unit_damage(units, store)
        chosen = may_have_tag(units, topic, options) | (damage != Damage.NONE)
        if not chosen.all():
            units, queue_offsets, damage = units[chosen], queue_offsets[chosen], damage[chosen]
        for first, last in _runs(damage != Damage.NONE):
            run = slice(first, last)
            if damage[first]:
                log_offsets = np.where(damage[run] == Damage.NOWHERE, units["log_offset"][run].astype(np.int64), -1)
                lost = lost_block(queue_offsets[run], damage[run], log_offsets)
                yield from (lost.part(at, at + _MOST_ROWS) for at in range(0, last - first, _MOST_ROWS))
            else:
                yield from _blocks(store, units[run], queue_offsets[run], partition, options, read, wanted)


def _units(
    store: StoreReader, partition: FilePartition, begin: int, end: int, options: SourceOptions, read: BytesRead
) -> Iterator[tuple[Units, Ints]]:
    """Yield the units of a range, file by file, and their queue offsets; of keys only those that the index names."""
    topic, queue_id = partition.topic, partition.queue_id
    places = chosen_offsets(partition, begin, end)
    if options.keys is not None and begin < end:
        named = find_places(store, (topic, queue_id, begin, end), options.keys, read).offsets
        if named is not None:
            places = named if places is None else np.intersect1d(named, places)
    if places is not None and not len(places):
        return
    at = begin
    for part in store.units(topic, queue_id, begin, end):
        # A copy: the blocks are made one by one, and the file may be cut off in the meantime.
        units = np.frombuffer(part, UNIT).copy()
        queue_offsets = np.arange(at, at + len(units))
        at += len(units)
        if places is not None:
            low, high = np.searchsorted(places, [queue_offsets[0], at])
            queue_offsets = places[low:high]
            units = units[queue_offsets - (at - len(units))]
        read.queue += units.nbytes
        if len(units):
            yield units, queue_offsets
    if at < end:
        lose(partition, options, at, end, "the file of the queue was cut off")


def _find_unit_damage(units: Units, store: StoreReader) -> NDArray[np.int8]:
    """Return the damage of units that do not refer to any record."""
    damage = np.zeros(len(units), np.int8)
    segments = store.segments()
    if not segments:
        # The whole log was removed; its units are not damaged.
        return damage
    last = segments[-1]
    places, sizes = units["log_offset"].astype(np.int64), units["size"].astype(np.int32)
    damage[(places < 0) | (places >= last.start + last.size)] = Damage.NOWHERE
    damage[(sizes <= 0) | (sizes == FILLER_SIZE)] = Damage.EMPTY
    return damage


def _runs(marks: Mask) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each run of equal marks; no marks have none."""
    changes = (np.flatnonzero(np.diff(marks)) + 1).tolist()
    yield from pairwise([0, *changes, len(marks)] if len(marks) else ())


def may_have_tag(units: Units, topic: str, options: SourceOptions) -> Mask:
    """Return which units may be those of messages with the tags of the options: another tag may have the same hash."""
    if options.tags is None or topic == SCHEDULE_TOPIC:
        return np.ones(len(units), bool)
    codes = units["tags_code"].astype(np.int64)
    hashes = np.array([tags_code(tag) for tag in options.tags], np.int32)
    wanted: Mask = np.isin(codes.astype(np.int32), hashes) | (codes < _EXTENSION)
    return wanted


def _blocks(
    store: StoreReader,
    units: Units,
    queue_offsets: Ints,
    partition: FilePartition,
    options: SourceOptions,
    read: BytesRead,
    wanted: Wanted,
) -> Iterator[Block]:
    log_offsets, sizes = units["log_offset"].astype(np.int64), units["size"].astype(np.int64)
    topic = store.record_topic(partition.topic, partition.queue_id)
    of_queue = (topic[1:], partition.queue_id) if topic else None
    most_bytes = _MOST_BYTES if Wanted.CHECKED_BODIES in wanted else _MOST_UNTOUCHED
    for part in _parts(log_offsets, sizes, store.segment_size, most_bytes):
        first = int(log_offsets[part.start])
        start = first - first % store.segment_size
        view = store.view_segment(start)
        if view is None:
            lost = queue_offsets[part]
            lose(partition, options, int(lost[0]), int(lost[-1]) + 1, f"no segment has log offset {first} any more")
            continue
        positions = log_offsets[part] - start
        span = int(positions[-1] + sizes[part][-1] - positions[0])
        size = int(sizes[part].sum())
        if 2 * size > span:
            populate(view, int(positions[0]), int(positions[0]) + span)
        records = Records(np.frombuffer(view, np.uint8), positions)
        # Light queues refer to records of other topics, which have a different queue offset.
        in_queue = queue_offsets[part] if of_queue else None
        damage = records.find_damage(sizes[part], log_offsets[part], in_queue, of_queue=of_queue, wanted=wanted)
        is_whole = Wanted.CHECKED_BODIES in wanted
        read.log += size if is_whole else size - records.body_bytes(damage == Damage.NONE)
        yield Block(records, damage, queue_offsets[part], log_offsets[part])


def _parts(log_offsets: Ints, sizes: Ints, segment_size: int, most_bytes: int) -> Iterator[slice]:
    """Yield slices of at most 8192 rows and so many bytes within one segment, in ascending order."""
    segments = log_offsets // segment_size
    breaks = (np.flatnonzero((np.diff(segments) != 0) | (np.diff(log_offsets) <= 0)) + 1).tolist()
    for begin, end in pairwise([0, *breaks, len(log_offsets)]):
        sums = np.cumsum(sizes[begin:end])
        at = begin
        while at < end:
            read = int(sums[at - begin - 1]) if at > begin else 0
            by_bytes = begin + int(np.searchsorted(sums, read + most_bytes, side="right"))
            by_span = at + int(np.searchsorted(log_offsets[at:end], log_offsets[at] + _WIDEST_SPAN))
            stop = max(at + 1, min(at + _MOST_ROWS, by_bytes, by_span, end))
            yield slice(at, stop)
            at = stop
