"""Finding messages: by key, by id, by place."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from broker_core.client.admin.browse import Browse
from broker_core.client.admin.groups import Groups
from broker_core.client.admin.index import MAX_FOUND, IndexAnswer, KeyLookup, SearchFigures, ask_index, figures_of
from broker_core.client.admin.placed import BrowsePage, PlacedMessage, RangeReader, view
from broker_core.client.admin.replica_reads import FromSlave, at_master, at_replica
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.admin.topics import Topics
from broker_core.client.errors import BrokerUnavailable, NoMaster, Unreachable
from broker_core.client.routes import Route
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumeMessageDirectlyResult
from broker_core.protocol.errors import MalformedMessageId
from broker_core.protocol.headers.clients import ConsumeMessageDirectlyRequest
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.message_id import born_time_of_unique_id, parse_offset_id

_MAX_TIME: Final = 2**63 - 1
_BORN_SLACK_MS: Final = 1_000


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search, newest first, and whether it is complete."""

    messages: list[PlacedMessage] = field(default_factory=list)
    complete: bool = True
    """Whether the search was complete: every master answered, and none reached a limit."""
    is_cut: bool = False
    """Whether a broker that answered reached a limit."""
    figures: SearchFigures = field(default_factory=SearchFigures)
    failed: dict[str, GantryError] = field(default_factory=dict)
    """Brokers that did not answer, by address."""
    asked: dict[str, str] = field(default_factory=dict)
    """Name of each broker that was searched, by address."""
    oldest_at: dict[str, int] = field(default_factory=dict)
    """When the oldest message that each broker returned was stored (ms), by name; it may be outside of the range."""
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were searched in the place of their masters, by broker name."""


class DeliveryState(StrEnum):
    """Whether a group has consumed a message."""

    CONSUMED = "consumed"
    NOT_REACHED = "not_reached"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The position of one group relative to one message."""

    group: str
    state: DeliveryState
    behind: int | None = None
    """Messages of the queue before this one that the group has not consumed yet."""


class Messages:
    """Questions about messages."""

    def __init__(self, requests: AdminRequests, topics: Topics, groups: Groups) -> None:
        self._requests = requests
        self._topics = topics
        self._groups = groups
        self._ranges = RangeReader(requests.session)
        self._browse = Browse(requests, self._ranges)

    async def search(
        self,
        topic: str,
        key: str,
        *,
        begin: int = 0,
        end: int = _MAX_TIME,
        max_messages: int = MAX_FOUND,
        on_brokers_of: str | None = None,
        without: Collection[str] = (),
        with_slaves: bool = False,
    ) -> SearchResult:
        """Return messages with `key` among their keys or as unique id, stored from `begin` to `end` (ms).

        Every broker of the topic, or of another one, is asked for `max_messages`, at most 64, but for those at the
        addresses `without`. One without a master fails with NoMaster, by its name; `with_slaves` a slave is asked
        first, as in the place of a master that is away, also while no name server answers. Raises TopicNotFound or
        Unreachable.
        """
        header = QueryMessageRequest(topic, key, min(max_messages, MAX_FOUND), begin, end)
        place = on_brokers_of or topic
        if with_slaves:
            result, is_told = await self._searched_as_known(place, header, without)
            if is_told or result.slaves:
                return result
        # Where masters alone answered, whether these are all only a name server says.
        return await self._searched(await self._requests.route_now(place), header, without, with_slaves=with_slaves)

    async def _searched_as_known(
        self, place: str, header: QueryMessageRequest, without: Collection[str] = ()
    ) -> tuple[SearchResult, bool]:
        """Return the same where the topic was last, and whether a name server told that now."""
        route, is_told = await self._requests.route_for_slaves(place)
        return await self._searched(route, header, without, with_slaves=True), is_told

    async def _searched(
        self, route: Route, header: QueryMessageRequest, without: Collection[str], *, with_slaves: bool
    ) -> SearchResult:
        named = {addr: name for name, addr in route.masters.items()} | {name: name for name in route.leaderless}
        asked = {place: name for place, name in named.items() if place not in without}
        read = at_replica if with_slaves else at_master
        answers = await self._requests.ask_each(
            asked,
            lambda place: read(self._requests, asked[place], lambda addr: ask_index(self._requests, addr, header)),
        )
        found = {asked[place]: searched for place, (searched, _) in answers.found.items()}
        slaves = {slave.broker_name: slave for _, slave in answers.found.values() if slave is not None}
        is_cut = not all(each.is_complete for each in found.values())
        return SearchResult(
            _newest_first(found),
            complete=answers.complete and not is_cut and not slaves,
            is_cut=is_cut,
            figures=figures_of(found.values()),
            failed=answers.failed,
            asked=asked,
            oldest_at={name: each.oldest_at for name, each in found.items() if each.oldest_at is not None},
            slaves=slaves,
        )

    async def key_lookup(
        self, topics: Sequence[str], *, begin: int, end: int, limit: int, with_slaves: bool = False
    ) -> KeyLookup:
        """Return a lookup of keys in these topics, for at most `limit` messages of a key, topic and broker.

        A single topic must exist (TopicNotFound). Several are asked for on every broker, whichever has them. Slaves are
        asked as by `search`; while no name server answers the lookup is of the brokers that were known last.
        """
        one = topics[0] if len(topics) == 1 else None
        wanted = QueryMessageRequest("", "", min(limit, MAX_FOUND), begin, end)
        if not with_slaves:
            names = await (self._requests.broker_names() if one is None else self._requests.broker_names_of(one))
            return KeyLookup(self._requests, names, topics, wanted, with_slaves=False)
        names, is_told = await self._known_names(topics)
        return KeyLookup(self._requests, names, topics, wanted, with_slaves=True, is_told=is_told)

    async def _known_names(self, topics: Sequence[str]) -> tuple[list[str], bool]:
        """Return who is asked for keys in these topics, and whether a name server told that now."""
        if len(topics) == 1:
            route, is_told = await self._requests.route_for_slaves(topics[0])
            return sorted({*route.masters, *route.leaderless}), is_told
        brokers, is_told = await self._requests.brokers_for_slaves(topics)
        return sorted({each.name for each in brokers}), is_told

    async def find(self, topic: str, message_id: str, *, with_slaves: bool = False) -> PlacedMessage | None:
        """Return the message with this unique id or offset id; raise TopicNotFound, NoMaster or Unreachable.

        None means that every broker of the topic was searched, each at its master. Slaves are asked as by `search`; a
        message that is there is found also while no name server answers.
        """
        found = await self.find_by_offset_id(message_id, topic=topic, with_slaves=with_slaves)
        if found is not None and found.message.topic == topic:
            return found
        for begin in _begins(message_id):
            result = await self._search_id(topic, message_id, begin, with_slaves=with_slaves)
            exact = _exact(result, message_id)
            if exact:
                oldest = exact[-1]  # later ones are retries or copies of it
                return replace(oldest, slave=result.slaves.get(oldest.broker_name))
            away = [*result.failed.values(), *(slave.why for slave in result.slaves.values())]
            silent = next(
                (error for error in away if isinstance(error, (Unreachable, NoMaster, BrokerUnavailable))), None
            )
            if silent is not None:
                raise silent
        return None

    async def _search_id(self, topic: str, message_id: str, begin: int, *, with_slaves: bool) -> SearchResult:
        if with_slaves:
            header = QueryMessageRequest(topic, message_id, MAX_FOUND, begin, _MAX_TIME)
            result, is_told = await self._searched_as_known(topic, header)
            if is_told or result.slaves or _exact(result, message_id):
                return result
        return await self.search(topic, message_id, begin=begin, with_slaves=with_slaves)

    async def find_by_offset_id(
        self, offset_id: str, *, topic: str | None = None, with_slaves: bool = False
    ) -> PlacedMessage | None:
        """Return the message at the place that an offset id names; None if there is none or the id is not an offset id.

        Only brokers of this cluster are queried, whatever address the id contains. Slaves are asked as by `search`,
        while no name server answers on the brokers that the topic had last.
        """
        try:
            place = parse_offset_id(offset_id)
        except MalformedMessageId:
            return None
        if with_slaves and topic is not None:
            listed, _ = await self._requests.brokers_for_slaves([topic])
        else:
            listed = await self._requests.brokers()
        masters = {broker.addr: broker.name for broker in listed if broker.is_master}
        at = f"[{place.ip}]:{place.port}" if ":" in place.ip else f"{place.ip}:{place.port}"
        names = [masters[at]] if at in masters else sorted({broker.name for broker in listed})
        read = at_replica if with_slaves else at_master
        answers = await self._requests.ask_each(
            names, lambda name: read(self._requests, name, lambda addr: view(self._requests, addr, place.log_offset))
        )
        for name, (message, slave) in answers.found.items():
            if message is not None and message.offset_id == offset_id.upper():
                return PlacedMessage(message, name, slave)
        return None

    async def at(self, queue: MessageQueue, offset: int) -> PlacedMessage | None:
        """Return the message at a queue offset; None if it was deleted or does not exist yet."""
        page = await self._ranges.page(queue, offset, 1)
        return page.messages[0] if page.messages and page.messages[0].message.queue_offset == offset else None

    async def page(self, queue: MessageQueue, offset: int, limit: int, *, with_slaves: bool = False) -> BrowsePage:
        """Return up to `limit` messages of a queue from `offset` on, oldest first, with the bounds of the queue.

        Slaves are asked as by `search`; the page then says so.
        """
        if not with_slaves:
            return await self._ranges.page(queue, offset, limit)
        page, slave = await at_replica(
            self._requests, queue.broker_name, lambda addr: self._ranges.page(queue, offset, limit, at=addr)
        )
        return page if slave is None else replace(page, slaves={slave.broker_name: slave})

    async def browse(
        self,
        topic: str,
        *,
        begin: int = 0,
        end: int = _MAX_TIME,
        limit: int = 50,
        queue_id: int | None = None,
        positions: dict[MessageQueue, int] | None = None,
        with_slaves: bool = False,
    ) -> BrowsePage:
        """Return the newest `limit` messages stored from `begin` to `end` (ms), newest first.

        Pass the page's `positions` back for the next, older page. Raises TopicNotFound, NoMaster or Unreachable;
        brokers that failed are in the page, and so are those whose slaves were read (`with_slaves`).
        """
        return await self._browse.page(
            topic, begin, end, limit, queue_id=queue_id, positions=positions, with_slaves=with_slaves
        )

    async def browse_newer(
        self,
        topic: str,
        positions: Mapping[MessageQueue, int],
        *,
        end: int = _MAX_TIME,
        limit: int = 50,
        with_slaves: bool = False,
    ) -> BrowsePage:
        """Return the `limit` messages that follow these offsets, stored up to `end` (ms), oldest first.

        The offsets are those from which an older page was read: its `positions` and `finished` together. Pass those of
        this page for the next, newer one. Raises like `browse`.
        """
        return await self._browse.newer(topic, end, limit, positions, with_slaves=with_slaves)

    async def deliveries(self, placed: PlacedMessage) -> list[Delivery]:
        """Return for each group of the message's topic whether it has consumed the message."""
        message = placed.message
        groups = (await self._topics.groups(message.topic)).raise_if_none()
        names = sorted({name for names in groups.found.values() for name in names})
        stats = await asyncio.gather(*(self._groups.consume_stats(name, topic=message.topic) for name in names))
        deliveries = []
        for name, group in zip(names, stats, strict=True):
            progress = group.queues.get(placed.queue)
            if progress is None:
                deliveries.append(Delivery(name, DeliveryState.UNKNOWN))
            elif progress.consumer_offset > message.queue_offset:
                deliveries.append(Delivery(name, DeliveryState.CONSUMED))
            else:
                behind = message.queue_offset - progress.consumer_offset
                deliveries.append(Delivery(name, DeliveryState.NOT_REACHED, behind))
        return deliveries

    async def deliver(self, placed: PlacedMessage, group: str, client_id: str) -> ConsumeMessageDirectlyResult:
        """Make one member of a group handle a message now, whatever its offsets; raise BrokerRefused or Unreachable."""
        message = placed.message
        header = ConsumeMessageDirectlyRequest(group, client_id, message.offset_id, placed.broker_name, message.topic)
        return await self._requests.at_master(
            placed.broker_name,
            lambda addr: self._requests.ask_for(ConsumeMessageDirectlyResult, addr, header),
            is_repeatable=False,
        )


def _exact(result: SearchResult, unique_id: str) -> list[PlacedMessage]:
    return [each for each in result.messages if each.message.unique_id == unique_id]


def _newest_first(found: Mapping[str, IndexAnswer]) -> list[PlacedMessage]:
    placed = [PlacedMessage(message, name) for name, searched in found.items() for message in searched.matching]
    return sorted(placed, key=lambda each: each.stored, reverse=True)


def _begins(message_id: str) -> Iterable[int]:
    """Return the times to search from, in order: the id contains its creation time, unless it has another form."""
    with contextlib.suppress(MalformedMessageId):
        yield max(0, born_time_of_unique_id(message_id, now_ms()) - _BORN_SLACK_MS)
    yield 0


__all__ = ["BrowsePage", "Delivery", "DeliveryState", "Messages", "PlacedMessage", "SearchFigures", "SearchResult"]
