"""The topics and queues that the options of a read select, and how far each queue reaches: as of now."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from broker_core.client.admin import Admin
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.topics import DEAD_LETTER_PREFIX, RETRY_PREFIX, is_system_topic, reply_topic
from broker_core.spark.errors import BadOption, UnknownOption, listed, unknown_topic
from broker_core.spark.options import QueueOffsets, SourceOptions
from broker_core.spark.partitions import check_names, check_offsets, is_chosen
from broker_core.spark.stores import open_store, queues_of, record_sizes, topics_of
from broker_core.spark.topic_routes import brokers_of, route_of
from broker_core.spark.wire import bounds_of, offset_at, session_of, translated
from broker_core.store.columns import UNIT, Ints
from broker_core.store.reader import StoreReader

_INTERNAL: Final = (RETRY_PREFIX, DEAD_LETTER_PREFIX)
_SAMPLE: Final = 8
"""Messages whose size is taken for that of the others, where no consume queue can be read."""


class QueuePlace(NamedTuple):
    """A queue of a topic on a broker."""

    topic: str
    broker: str
    queue_id: int


class Reach(NamedTuple):
    """The first queue offset whose message exists, and the one after the last."""

    begin: int
    end: int


def named_topics(options: SourceOptions) -> SourceOptions:
    """Return the options with the topics that match its pattern, if it has one; these may be none.

    Internal topics match only if the options include them. Raises Unreachable.
    """
    pattern = options.topic_pattern
    if pattern is None:
        return options
    return replace(options, topics=tuple(_matching(pattern, options)), topic_pattern=None)


def matches_none(options: SourceOptions) -> BadOption:
    """Return the error for a pattern that no topic matches: a stream waits for one, a batch would read nothing."""
    pattern = options.topic_pattern
    assert pattern is not None
    internal = next(_matching(pattern, replace(options, include_internal=True)), None)
    if internal is not None:
        wanted = f"matches internal topics alone, as {internal}; includeInternal=true selects them"
        return BadOption("topicPattern", pattern.pattern, wanted)
    known = listed(_matching(re.compile(".*"), options))
    return BadOption("topicPattern", pattern.pattern, f"matches the whole name of no topic; {known}")


def _matching(pattern: re.Pattern[str], options: SourceOptions) -> Iterator[str]:
    names, own = _all_topics(options)
    for name in sorted(names):
        is_internal = is_system_topic(name) or name.startswith(_INTERNAL) or name in own
        if pattern.fullmatch(name) and (options.include_internal or not is_internal):
            yield name


def _all_topics(options: SourceOptions) -> tuple[Collection[str], Collection[str]]:
    """Return all topics, and the names of those that belong to the cluster and its brokers."""
    if options.stores:
        return {topic for root in options.stores for topic in topics_of(open_store(root))}, options.brokers
    brokers = _asked(options, brokers_of)
    clusters = {broker.cluster for broker in brokers}
    own = {broker.name for broker in brokers} | clusters | {reply_topic(name) for name in clusters}
    return _asked(options, lambda admin: admin.topics.names()), own


def _asked(options: SourceOptions, ask: Callable[[Admin], Coroutine[Any, Any, Any]]) -> Any:
    session = session_of(options.wire_place)
    with translated():
        return session.run(ask(session.admin))


class Places:
    """The selected queues of stores or of brokers. The topics of the options are named: see `named_topics`."""

    def __init__(self, options: SourceOptions) -> None:
        """Raises UnknownOption for a topic, broker or queue that does not exist, StoreUnreadable, Unreachable."""
        self._options = options
        self._stores: dict[str, StoreReader] = {
            broker: open_store(root) for root, broker in zip(options.stores, options.brokers, strict=False)
        }
        known = self._find_in_stores() if options.stores else _asked(options, self._find_at_brokers)
        check_names(options, known)
        for name, times in (
            ("startingOffsetsByTimestamp", options.starting_times),
            ("endingOffsetsByTimestamp", options.ending_times),
        ):
            check_offsets(name, times or {}, options.topics, known)
        self.queues = sorted(QueuePlace(*each) for each in known if is_chosen(options, each[1], each[2]))

    def reaches(self) -> dict[QueuePlace, Reach]:
        """Return how far each queue reaches."""
        if self._stores:
            return {
                place: Reach(*self._stores[place.broker].range(place.topic, place.queue_id)) for place in self.queues
            }
        bounds = self._ask_each(self.queues, lambda admin, place: bounds_of(admin, _queue(place)))
        return {place: Reach(*found) for place, found in zip(self.queues, bounds, strict=True)}

    def at_times(self, times: Mapping[QueuePlace, int]) -> dict[QueuePlace, int]:
        """Return the offset of the first message stored at each time (ms) or later; the end if there is none."""
        if self._stores:
            return {
                place: self._stores[place.broker].offset_at_time(place.topic, place.queue_id, at)
                for place, at in times.items()
            }
        reaches = self.reaches()
        found = self._ask_each(
            list(times), lambda admin, place: offset_at(admin, _queue(place), times[place], *reaches[place])
        )
        return dict(zip(times, found, strict=True))

    def sizes(self, place: QueuePlace, begin: int, end: int) -> Ints:
        """Return the bytes of the records of a range; at brokers those of the first ones stand for all."""
        if self._stores:
            store = self._stores[place.broker]
            parts = store.units(place.topic, place.queue_id, begin, end)
            sizes = [record_sizes(store, np.frombuffer(part, UNIT)) for part in parts]
            return np.concatenate([np.zeros(0, np.int64), *sizes])
        page = _asked(self._options, lambda admin: admin.messages.page(_queue(place), begin, _SAMPLE))
        known = [each.message.store_size for each in page.messages] or [0]
        return np.full(end - begin, max(1, sum(known) // len(known)), np.int64)

    def _find_in_stores(self) -> set[tuple[str, str, int]]:
        known = {topic for store in self._stores.values() for topic in topics_of(store)}
        for topic in self._options.topics:
            if topic not in known:
                raise unknown_topic(topic, known)
        return {
            (topic, broker, queue_id)
            for broker, store in self._stores.items()
            for topic in self._options.topics
            for queue_id in queues_of(store, topic)
        }

    async def _find_at_brokers(self, admin: Admin) -> set[tuple[str, str, int]]:
        routes = await asyncio.gather(*(route_of(admin, topic) for topic in self._options.topics))
        queues = [queue for route in routes for queue in route]
        brokers = {queue.broker_name for queue in queues}
        for broker in self._options.brokers:
            if broker not in brokers:
                raise UnknownOption(broker, brokers, what="broker")
        wanted = set(self._options.brokers) or brokers
        return {(queue.topic, queue.broker_name, queue.queue_id) for queue in queues if queue.broker_name in wanted}

    def _ask_each(
        self, places: Sequence[QueuePlace], ask: Callable[[Admin, QueuePlace], Coroutine[Any, Any, Any]]
    ) -> list[Any]:
        async def all_at_once(admin: Admin) -> list[Any]:
            return await asyncio.gather(*(ask(admin, place) for place in places))

        return list(_asked(self._options, all_at_once))


def _queue(place: QueuePlace) -> MessageQueue:
    return MessageQueue(place.topic, place.broker, place.queue_id)


def resolved(options: SourceOptions) -> SourceOptions:
    """Return the options with the topics of a pattern named, and with times by queue as offsets.

    Raises like `Places`.
    """
    options = named_topics(options)
    if not options.topics or (options.starting_times is None and options.ending_times is None):
        return options
    places = Places(options)
    return replace(
        options,
        starting_offsets=_with_times(places, options.starting_offsets, options.starting_times),
        ending_offsets=_with_times(places, options.ending_offsets, options.ending_times),
        starting_times=None,
        ending_times=None,
    )


def _with_times(
    places: Places, offsets: Mapping[str, QueueOffsets] | int, times: Mapping[str, QueueOffsets] | None
) -> Mapping[str, QueueOffsets] | int:
    if times is None:
        return offsets
    chosen = {
        QueuePlace(topic, broker, queue_id): at
        for topic, brokers in times.items()
        for broker, queues in brokers.items()
        for queue_id, at in queues.items()
    }
    found = {place: offsets if isinstance(offsets, int) else _given(offsets, place) for place in places.queues}
    found |= places.at_times(chosen)
    return by_topic({place: offset for place, offset in found.items() if offset is not None})


def _given(offsets: Mapping[str, QueueOffsets], place: QueuePlace) -> int | None:
    return offsets.get(place.topic, {}).get(place.broker, {}).get(place.queue_id)


def by_topic(offsets: Mapping[QueuePlace, int]) -> dict[str, dict[str, dict[int, int]]]:
    """Return offsets of queues by topic, broker and queue id, all in order."""
    found: dict[str, dict[str, dict[int, int]]] = {}
    for place in sorted(offsets):
        found.setdefault(place.topic, {}).setdefault(place.broker, {})[place.queue_id] = offsets[place]
    return found


def cluster_name(options: SourceOptions) -> str:
    """Return the name of the cluster: as given, else the names that brokers give, else those of the folders."""
    if options.cluster is not None:
        return options.cluster
    if options.stores:
        return ",".join(sorted(Path(root).resolve().name for root in options.stores))
    brokers = _asked(options, brokers_of)
    return ",".join(sorted({broker.cluster for broker in brokers}))
