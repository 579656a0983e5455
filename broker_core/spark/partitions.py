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
from broker_core.spark.errors import BadOption, DataLoss, UnknownOption
from broker_core.spark.key_places import find_places
from broker_core.spark.options import EARLIEST, LATEST, QueueOffsets, SourceOptions
from broker_core.spark.stores import open_store, queues_of, record_sizes, topics_of
from broker_core.store.columns import UNIT, Ints
from broker_core.store.reader import StoreReader

_log = logging.getLogger(__name__)

_MIB: Final = 1 << 20
MOST_PARTITIONS: Final = 1000
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
    target = partition_bytes(options, sum(int(sums[-1]) for _, sums in chosen if len(sums)))
    return [
        partition
        for (wanted, store), (offsets, sums) in zip(found, chosen, strict=True)
        for partition in _cut(wanted, store, offsets, sums, target)
    ]


def _check_topics_exist(options: SourceOptions, stores: Sequence[StoreReader]) -> None:
    known = {topic for store in stores for topic in topics_of(store)}
    for topic in options.topics:
        if topic not in known:
            raise UnknownOption(topic, known, what="topic")


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
    """Return the target size of a partition in bytes of records."""
    usual = max(32 * _MIB, min(256 * _MIB, total // (4 * (os.cpu_count() or 1))))
    target = options.max_partition_bytes or usual
    return max(1, min(target, total // options.min_partitions), total // MOST_PARTITIONS)


def _choose(store: StoreReader, wanted: WantedRange, options: SourceOptions, cost: PlanCost) -> tuple[Ints, Ints]:
    """Return the queue offsets to read of a range, and the running sum of their record bytes."""
    topic, queue_id, begin, end = wanted.topic, wanted.queue_id, wanted.begin, wanted.end
    if begin == end:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    offsets = np.arange(begin, end)
    if options.keys is not None:
        places = find_places(store, (topic, queue_id, begin, end), options.keys, cost.read)
        for note in places.notes:
            cost.note(f"{wanted.broker} topic={topic} queue={queue_id}: {note}")
        offsets = offsets if places.offsets is None else places.offsets
    sizes = []
    for part in store.units(topic, queue_id, begin, end):
        units = np.frombuffer(part, UNIT)
        low, high = np.searchsorted(offsets, [begin, begin + len(units)])
        sizes.append(record_sizes(store, units[offsets[low:high] - begin]))
        cost.read.queue += int(high - low) * UNIT.itemsize
        begin += len(units)
    return offsets, np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))


def _cut(wanted: WantedRange, store: StoreReader, offsets: Ints, sums: Ints, target: int) -> list[FilePartition]:
    if not len(offsets):
        return []
    root = str(store.config.folder)
    # A range reaches up to the next one, unless keys leave out what is behind its last message.
    begins = [int(offsets[0]), *(int(offsets[place]) for place in _cut_places(sums, target))]
    edges = [*begins, int(offsets[-1]) + 1]
    cuts = [(begin, end, _between(offsets, begin, end)) for begin, end in pairwise(edges)]
    return [FilePartition(root, wanted.broker, wanted.topic, wanted.queue_id, *cut) for cut in cuts]


def _between(offsets: Ints, begin: int, end: int) -> list[int] | None:
    """Return the chosen offsets of a range; None for all of it."""
    low, high = np.searchsorted(offsets, [begin, end])
    return None if high - low == end - begin else [int(offset) for offset in offsets[low:high]]


def _cut_places(sums: Ints, target: int) -> list[int]:
    """Return the message counts at which to split, so that each part has about `target` bytes."""
    if not len(sums):
        return []
    parts = max(1, round(int(sums[-1]) / target))
    places = np.unique(np.searchsorted(sums, int(sums[-1]) * np.arange(1, parts) // parts))
    return [int(place) for place in places if 0 < place < len(sums)]
