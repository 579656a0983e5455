"""Finding messages: by key, by id, by place."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from broker_core.client.admin.browse import Browse
from broker_core.client.admin.groups import Groups
from broker_core.client.admin.index import MAX_FOUND, KeyLookup, SearchFigures, ask_index, figures_of
from broker_core.client.admin.placed import BrowsePage, PlacedMessage, RangeReader, view
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.admin.topics import Topics
from broker_core.client.errors import NoMaster, Unreachable
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
    """Whether the search was complete: every broker answered, and none reached a limit."""
    is_cut: bool = False
    """Whether a broker that answered reached a limit."""
    figures: SearchFigures = field(default_factory=SearchFigures)
    failed: dict[str, GantryError] = field(default_factory=dict)
    """Brokers that did not answer, by address."""
    asked: dict[str, str] = field(default_factory=dict)
    """Name of each broker that was searched, by address."""
    oldest_at: dict[str, int] = field(default_factory=dict)
    """When the oldest message that each broker returned was stored (ms), by name; it may be outside of the range."""


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
    ) -> SearchResult:
        """Return messages with `key` among their keys or as unique id, stored from `begin` to `end` (ms).

        Every broker of the topic, or of another one, is asked for `max_messages`, at most 64, but for those at the
        addresses `without`. One without a master fails with NoMaster, by its name. Raises TopicNotFound or Unreachable.
        """
        route = await self._requests.route_now(on_brokers_of or topic)
        masters = {addr: name for name, addr in route.masters.items() if addr not in without}
        leaderless = {name: NoMaster(name, topic=topic) for name in route.leaderless if name not in without}
        header = QueryMessageRequest(topic, key, min(max_messages, MAX_FOUND), begin, end)
        answers = await self._requests.ask_each(masters, lambda addr: ask_index(self._requests, addr, header))
        placed = [
            PlacedMessage(message, masters[addr])
            for addr, searched in answers.found.items()
            for message in searched.matching
        ]
        placed.sort(key=lambda each: (each.message.store_timestamp, each.message.log_offset), reverse=True)
        is_cut = not all(each.is_complete for each in answers.found.values())
        oldest = {masters[addr]: each.oldest_at for addr, each in answers.found.items() if each.oldest_at is not None}
        return SearchResult(
            placed,
            complete=answers.complete and not is_cut and not leaderless,
            is_cut=is_cut,
            figures=figures_of(answers.found.values()),
            failed={**answers.failed, **leaderless},
            asked={**masters, **{name: name for name in leaderless}},
            oldest_at=oldest,
        )

    async def key_lookup(self, topics: Sequence[str], *, begin: int, end: int, limit: int) -> KeyLookup:
        """Return a lookup of keys in these topics, for at most `limit` messages of a key, topic and broker.

        A single topic must exist (TopicNotFound). Several are asked for on every broker, whichever has them.
        """
        one = topics[0] if len(topics) == 1 else None
        masters = await (self._requests.masters() if one is None else self._requests.masters_of(one))
        wanted = QueryMessageRequest("", "", min(limit, MAX_FOUND), begin, end)
        return KeyLookup(self._requests, masters, topics, wanted)

    async def find(self, topic: str, message_id: str) -> PlacedMessage | None:
        """Return the message with this unique id or offset id; raise TopicNotFound or Unreachable.

        None means that every broker of the topic was searched.
        """
        found = await self.find_by_offset_id(message_id)
        if found is not None and found.message.topic == topic:
            return found
        for begin in _begins(message_id):
            result = await self.search(topic, message_id, begin=begin)
            exact = [each for each in result.messages if each.message.unique_id == message_id]
            if exact:
                return exact[-1]  # the oldest: later ones are retries or copies of it
            silent = next((error for error in result.failed.values() if isinstance(error, Unreachable)), None)
            if silent is not None:
                raise silent
        return None

    async def find_by_offset_id(self, offset_id: str) -> PlacedMessage | None:
        """Return the message at the place that an offset id names; None if there is none or the id is not an offset id.

        Only brokers of this cluster are queried, whatever address the id contains.
        """
        try:
            place = parse_offset_id(offset_id)
        except MalformedMessageId:
            return None
        masters = await self._requests.masters()
        named = f"[{place.ip}]:{place.port}" if ":" in place.ip else f"{place.ip}:{place.port}"
        answers = await self._requests.ask_each(
            [named] if named in masters else masters, lambda addr: view(self._requests, addr, place.log_offset)
        )
        for addr, message in answers.found.items():
            if message is not None and message.offset_id == offset_id.upper():
                return PlacedMessage(message, masters[addr])
        return None

    async def at(self, queue: MessageQueue, offset: int) -> PlacedMessage | None:
        """Return the message at a queue offset; None if it was deleted or does not exist yet."""
        page = await self._ranges.page(queue, offset, 1)
        return page.messages[0] if page.messages and page.messages[0].message.queue_offset == offset else None

    async def page(self, queue: MessageQueue, offset: int, limit: int) -> BrowsePage:
        """Return up to `limit` messages of a queue from `offset` on, oldest first, with the bounds of the queue."""
        return await self._ranges.page(queue, offset, limit)

    async def browse(
        self,
        topic: str,
        *,
        begin: int = 0,
        end: int = _MAX_TIME,
        limit: int = 50,
        queue_id: int | None = None,
        positions: dict[MessageQueue, int] | None = None,
    ) -> BrowsePage:
        """Return the newest `limit` messages stored from `begin` to `end` (ms), newest first.

        Pass the page's `positions` back for the next, older page. Raises TopicNotFound or Unreachable; brokers that
        failed are in the page.
        """
        return await self._browse.page(topic, begin, end, limit, queue_id=queue_id, positions=positions)

    async def browse_newer(
        self, topic: str, positions: Mapping[MessageQueue, int], *, end: int = _MAX_TIME, limit: int = 50
    ) -> BrowsePage:
        """Return the `limit` messages that follow these offsets, stored up to `end` (ms), oldest first.

        The offsets are those from which an older page was read: its `positions` and `finished` together. Pass those of
        this page for the next, newer one. Raises like `browse`.
        """
        return await self._browse.newer(topic, end, limit, positions)

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


def _begins(message_id: str) -> Iterable[int]:
    """Return the times to search from, in order: the id contains its creation time, unless it has another form."""
    with contextlib.suppress(MalformedMessageId):
        yield max(0, born_time_of_unique_id(message_id, now_ms()) - _BORN_SLACK_MS)
    yield 0


__all__ = ["BrowsePage", "Delivery", "DeliveryState", "Messages", "PlacedMessage", "SearchFigures", "SearchResult"]
