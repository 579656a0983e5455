"""The partitions of a read: ranges of queues, split by bytes (spark/README.md#planning)."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from pyspark.sql.datasource import InputPartition

from broker_core.spark.bytes_read import PlanCost
from broker_core.spark.errors import BadOption, DataLoss, UnknownOption, unknown_topic
from broker_core.spark.key_places import find_places
from broker_core.spark.options import EARLIEST, LATEST, QueueOffsets, SourceOptions
from broker_core.spark.schema import asks_for_bodies
from broker_core.spark.stores import open_store, queues_of, record_sizes, topics_of
from broker_core.store.columns import UNIT, Ints
from broker_core.store.reader import StoreReader

_log = logging.getLogger(__name__)

_MIB: Final = 1 << 20
_UNTOUCHED: Final = 4
"""How many bytes of records whose bodies are not touched are read in the time of one whose body is."""
MOST_PARTITIONS: Final = 1000
MOST_STEPS: Final = 1 << 16
"""Of a queue: so many sums of bytes tell where to cut it, however many messages it has."""
MOST_CHOSEN: Final = 1 << 20
"""Of a queue: so many messages are named one by one in a plan."""
CLOCK_SKEW_MS: Final = 1000
"""Store times ascend unless a clock is set back: ranges are widened by this and rows filtered by their own time."""


@dataclass
class FilePartition(InputPartition):
    """A range of one queue, read from the files of a store."""

    store: str
    broker: str
    topic: str
    queue_id: int
    begin: int
    end: int
    only: Sequence[int] | None = None
    """The queue offsets to read of the range, ascending; None: all."""


@dataclass
class WirePartition(InputPartition):
    """A range of one queue, pulled from its broker."""

    broker: str
    topic: str
    queue_id: int
    begin: int
    end: int
    only: Sequence[int] | None = None
    """The queue offsets to read of the range, ascending; None: all."""


def chosen_offsets(partition: FilePartition | WirePartition, begin: int, end: int) -> Ints | None:
    """Return which offsets from `begin` to `end` are to be read; None for all."""
    if partition.only is None:
        return None
    offsets = np.array(partition.only, np.int64)
    low, high = np.searchsorted(offsets, [begin, end])
    return offsets[low:high]


def count_of(partition: FilePartition | WirePartition) -> int:
    """Return how many messages are to be read of a range, some of which a filter may leave out."""
    return partition.end - partition.begin if partition.only is None else len(partition.only)


@dataclass(frozen=True, slots=True)
class WantedRange:
    """The requested range of one queue."""

    broker: str
    topic: str
    queue_id: int
    begin: int
    end: int


def lose(
    of: WantedRange | FilePartition | WirePartition, options: SourceOptions, begin: int, end: int, reason: str
) -> None:
    """Raise DataLoss for messages of a range that are gone, or warn of them if the options allow that."""
    text = f"{of.broker} topic={of.topic} queue={of.queue_id}: messages {begin} to {end - 1} are gone: {reason}"
    if options.fail_on_data_loss:
        raise DataLoss(f"{text}; failOnDataLoss=false reads what is left")
    _log.warning("failOnDataLoss=false goes on: %s", text)


def plan_files(
    options: SourceOptions, opened: Mapping[Path, StoreReader] | None = None, cost: PlanCost | None = None
) -> list[FilePartition]:
    """Return the partitions of a read from store folders: a snapshot of now, or of when the stores were opened.

    Adds to `cost` what planning took. With keys, the ranges are those between the messages that the index names.

    Raises UnknownOption for a topic or queue that does not exist, DataLoss if the beginning of a range is gone.
    """
    stores = [opened[root] if opened else open_store(root) for root in options.stores]
    _check_topics_exist(options, stores)
    check_names(
        options,
        {
            (topic, broker, queue_id)
            for store, broker in zip(stores, options.brokers, strict=True)
            for topic in options.topics
            for queue_id in queues_of(store, topic)
        },
    )
    found: list[tuple[WantedRange, StoreReader]] = []
    for store, broker in zip(stores, options.brokers, strict=True):
        queues = (queue for topic in options.topics for queue in store.queues(topic))
        wanted_of = (_wanted(store, broker, *queue, options) for queue in queues)
        found += [(wanted, store) for wanted in wanted_of if wanted]
    cost = cost or PlanCost()
    chosen = [_choose(store, wanted, options, cost) for wanted, store in found]
    target = partition_bytes(options, sum(int(each.sums[-1]) for each in chosen if len(each.sums)))
    return [
        partition
        for (wanted, store), each in zip(found, chosen, strict=True)
        for partition in _cut(wanted, store, each, target)
    ]


def _check_topics_exist(options: SourceOptions, stores: Sequence[StoreReader]) -> None:
    known = {topic for store in stores for topic in topics_of(store)}
    for topic in options.topics:
        if topic not in known:
            raise unknown_topic(topic, known)


def _wanted(store: StoreReader, broker: str, topic: str, queue_id: int, options: SourceOptions) -> WantedRange | None:
    if not is_chosen(options, broker, queue_id):
        return None
    has_begin, has_end = store.range(topic, queue_id)
    begin, end = choose_range(options, broker, topic, queue_id, has_begin, has_end)
    if options.starting_timestamp is not None:
        begin = store.offset_at_time(topic, queue_id, options.starting_timestamp - CLOCK_SKEW_MS)
    if options.ending_timestamp is not None:
        end = store.offset_at_time(topic, queue_id, options.ending_timestamp + CLOCK_SKEW_MS)
    return WantedRange(broker, topic, queue_id, begin, max(begin, end))


def is_chosen(options: SourceOptions, broker: str, queue_id: int) -> bool:
    """Return whether the option `queues` includes this queue."""
    return options.queues is None or bool({(None, queue_id), (broker, queue_id)} & options.queues)


def check_names(options: SourceOptions, known: Collection[tuple[str, str, int]]) -> None:
    """Raise UnknownOption for a broker, queue or topic in an option that is not in `known`.

    `known` contains topic, broker and queue id of all queues of the requested topics.
    """
    for broker, queue_id in options.queues or ():
        if not any(queue_id == other and broker in (None, name) for _, name, other in known):
            places = {f"{name}:{other}" for _, name, other in known}
            raise UnknownOption(f"{broker or ''}:{queue_id}".lstrip(":"), places, what="queue in option queues")
    for option, given in (("startingOffsets", options.starting_offsets), ("endingOffsets", options.ending_offsets)):
        if not isinstance(given, int):
            check_offsets(option, given, options.topics, known)


def check_offsets(
    option: str,
    given: Mapping[str, QueueOffsets],
    topics: Collection[str],
    known: Collection[tuple[str, str, int]],
) -> None:
    """Raise UnknownOption for a topic, broker or queue in an option that is not in `known`."""
    for topic, brokers in given.items():
        if topic not in topics:
            raise UnknownOption(topic, topics, what=f"topic in option {option}")
        for broker, queues in brokers.items():
            names = {name for of_topic, name, _ in known if of_topic == topic}
            if broker not in names:
                raise UnknownOption(broker, names, what=f"broker in option {option}")
            for queue_id in queues:
                if (topic, broker, queue_id) not in known:
                    ids = {str(other) for of_topic, name, other in known if (of_topic, name) == (topic, broker)}
                    raise UnknownOption(str(queue_id), ids, what=f"queue in option {option}")


def choose_range(
    options: SourceOptions, broker: str, topic: str, queue_id: int, has_begin: int, has_end: int
) -> tuple[int, int]:
    """Return the queue offsets selected by the offset options, limited to the queue; raises DataLoss and BadOption."""
    begin = _place(options.starting_offsets, broker, topic, queue_id, has_begin, has_end, default=has_begin)
    end = _place(options.ending_offsets, broker, topic, queue_id, has_begin, has_end, default=has_end)
    wanted = WantedRange(broker, topic, queue_id, begin, end)
    if begin < min(has_begin, end):
        lose(wanted, options, begin, min(has_begin, end), f"the queue begins at {has_begin}")
    if begin > has_end or end > has_end:
        lose(wanted, options, has_end, max(begin, end), f"the queue ends at {has_end}")
    if begin > end and _is_named(options.ending_offsets, broker, topic, queue_id):
        raise BadOption("endingOffsets", end, f"is before the start {begin}: {broker} topic={topic} queue={queue_id}")
    begin, end = max(begin, has_begin), min(end, has_end)
    return begin, max(begin, end)


def _is_named(given: Mapping[str, QueueOffsets] | int, broker: str, topic: str, queue_id: int) -> bool:
    """Return whether a queue has an offset of its own, which is a number."""
    return not isinstance(given, int) and given.get(topic, {}).get(broker, {}).get(queue_id, LATEST) >= 0


def _place(
    given: Mapping[str, QueueOffsets] | int,
    broker: str,
    topic: str,
    queue_id: int,
    has_begin: int,
    has_end: int,
    *,
    default: int,
) -> int:
    offset = given if isinstance(given, int) else given.get(topic, {}).get(broker, {}).get(queue_id, default)
    return {EARLIEST: has_begin, LATEST: has_end}.get(offset, offset)


def partition_bytes(options: SourceOptions, total: int) -> int:
    """Return the target size of a partition in bytes of records: four for each core, if that is worth their start."""
    of_core = total // (os.cpu_count() or 1)
    unit = _MIB if options.columns is None or asks_for_bodies(options.columns) else _UNTOUCHED * _MIB
    usual = max(32 * unit, min(128 * unit, of_core // 2), min(512 * unit, of_core // 4))
    target = options.max_partition_bytes or usual
    return max(1, min(target, total // options.min_partitions), total // MOST_PARTITIONS)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What to read of a range, and how many bytes that is up to some places of it.

    Its size does not grow with the range: a range of many messages has a step for several of them.
    """

    offsets: Ints | None
    """The queue offsets to read, ascending; None: all."""
    steps: Ints
    """Queue offsets at which the range may be cut: the first one of each step."""
    sums: Ints
    """The bytes of the records from the beginning of the range to the end of each step."""


def _choose(store: StoreReader, wanted: WantedRange, options: SourceOptions, cost: PlanCost) -> _Chosen:
    topic, queue_id, begin, end = wanted.topic, wanted.queue_id, wanted.begin, wanted.end
    offsets = None if begin == end or options.keys is None else _of_keys(store, wanted, options.keys, cost)
    count = end - begin if offsets is None else len(offsets)
    stride = max(1, -(-count // MOST_STEPS))
    totals = np.zeros(-(-count // stride), np.int64)
    seen = 0
    for part in store.units(topic, queue_id, begin, end) if count else ():
        units = np.frombuffer(part, UNIT)
        if offsets is not None:
            low, high = np.searchsorted(offsets, [begin, begin + len(units)])
            units, begin = units[offsets[low:high] - begin], begin + len(units)
        _add(totals, record_sizes(store, units), seen, stride)
        seen += len(units)
    cost.read.queue += seen * UNIT.itemsize
    has_units = -(-seen // stride)
    steps = wanted.begin + np.arange(0, count, stride) if offsets is None else offsets[::stride]
    return _Chosen(offsets, steps[:has_units], np.cumsum(totals[:has_units]))


def _of_keys(store: StoreReader, wanted: WantedRange, keys: frozenset[str], cost: PlanCost) -> Ints | None:
    """Return the offsets that the index names; None if the range must be read whole."""
    places = find_places(store, (wanted.topic, wanted.queue_id, wanted.begin, wanted.end), keys, cost.read)
    notes = list(places.notes)
    offsets = places.offsets
    if offsets is not None and len(offsets) > MOST_CHOSEN:
        # A plan travels, with each of them. Whoever reads a part asks the index again, about that part.
        notes.append(f"the keys have {len(offsets):,} messages; above {MOST_CHOSEN:,} parts are planned by size alone")
        offsets = None
    for note in notes:
        cost.note(f"{wanted.broker} topic={wanted.topic} queue={wanted.queue_id}: {note}")
    return offsets


def _add(totals: Ints, sizes: Ints, seen: int, stride: int) -> None:
    """Add sizes to the steps that they belong to; `seen` sizes came before them."""
    if len(sizes):
        edges = np.arange(-(seen % stride), len(sizes), stride).clip(0)
        first = seen // stride
        totals[first : first + len(edges)] += np.add.reduceat(sizes, edges)


def _cut(wanted: WantedRange, store: StoreReader, chosen: _Chosen, target: int) -> list[FilePartition]:
    offsets = chosen.offsets
    if wanted.begin == wanted.end or (offsets is not None and not len(offsets)):
        return []
    root = str(store.config.folder)
    first, last = (wanted.begin, wanted.end - 1) if offsets is None else (int(offsets[0]), int(offsets[-1]))
    # A range reaches up to the next one, unless keys leave out what is behind its last message.
    begins = [first, *(int(chosen.steps[place]) for place in _cut_places(chosen.sums, target))]
    edges = [*begins, last + 1]
    cuts = [(begin, end, None if offsets is None else _between(offsets, begin, end)) for begin, end in pairwise(edges)]
    return [FilePartition(root, wanted.broker, wanted.topic, wanted.queue_id, *cut) for cut in cuts]


def _between(offsets: Ints, begin: int, end: int) -> list[int] | None:
    """Return the chosen offsets of a range; None for all of it."""
    low, high = np.searchsorted(offsets, [begin, end])
    return None if high - low == end - begin else [int(offset) for offset in offsets[low:high]]


def _cut_places(sums: Ints, target: int) -> list[int]:
    """Return the steps before which to split, so that each part has about `target` bytes."""
    if not len(sums):
        return []
    parts = max(1, round(int(sums[-1]) / target))
    places = np.unique(np.searchsorted(sums, int(sums[-1]) * np.arange(1, parts) // parts))
    return [int(place) for place in places if 0 < place < len(sums)]
