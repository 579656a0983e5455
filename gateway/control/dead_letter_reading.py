"""Questions about dead letters: filtered pages, and what a group has at a glance."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import BrowsePage, PlacedMessage
from broker_core.client.admin.replica_reads import FromSlave
from broker_core.client.admin.topics import TopicStats
from broker_core.client.errors import TopicNotFound
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.dead_letters import DeadLetterFilter
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from console.clusters.memory import Remembered, RememberedBroker
from console.clusters.outcomes import not_listed

MOST_READ: Final = 2_000
"""Dead letters that one question reads at most, however few of them a filter lets through."""
_BLOCK: Final = 200
_GLANCE: Final = 100
_AT_ONCE: Final = 8

Positions = dict[MessageQueue, int]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A page of dead letters that a filter lets through, how many were read for it, and where the next one begins."""

    messages: list[PlacedMessage]
    positions: Positions
    read: int
    page: BrowsePage
    """The last page that was read: who was asked, and who failed."""
    slaves: Mapping[str, FromSlave] = field(default_factory=dict)
    """The slaves that were read in the place of their masters, by broker name."""


async def choose(
    admin: Admin, group: str, wanted: DeadLetterFilter, *, limit: int, positions: Positions | None
) -> Chosen:
    """Return the newest `limit` dead letters that the filter chooses, after at most `MOST_READ` of them were read."""
    topic, found, read = dead_letter_topic(group), list[PlacedMessage](), 0
    slaves: dict[str, FromSlave] = {}
    while True:
        page = await admin.messages.browse(
            topic,
            begin=wanted.begin_ms or 0,
            end=wanted.last_ms,
            limit=min(_BLOCK, MOST_READ - read),
            positions=positions,
            with_slaves=True,
        )
        slaves |= page.slaves
        taken = _taken(page.messages, wanted, limit - len(found))
        found += [each for each in page.messages[:taken] if wanted.chooses(each.message)]
        read += taken
        positions = _after(page, taken)
        if len(found) >= limit or not positions or read >= MOST_READ or page.failed:
            return Chosen(found, positions, read, page, slaves)


def _taken(messages: Sequence[PlacedMessage], wanted: DeadLetterFilter, room: int) -> int:
    """Return how many of the messages fill the room that is left, those that do not match included."""
    for number, each in enumerate(messages, start=1):
        room -= wanted.chooses(each.message)
        if not room:
            return number
    return len(messages)


def _after(page: BrowsePage, taken: int) -> Positions:
    """Return where to continue after the first messages of a page: the others are read again."""
    positions = dict(page.positions)
    for each in reversed(page.messages[taken:]):
        positions[each.queue] = each.message.queue_offset + 1
    return positions


@dataclass(frozen=True, slots=True)
class Glance:
    """What a group's line in the list says, besides its count."""

    newest: list[PlacedMessage]
    stored: int
    first_stored_at: int | None
    retries_waiting: int | None
    unknown_reason: str | None = None
    slaves: Mapping[str, FromSlave] = field(default_factory=dict)
    """The slaves that were read in the place of their masters, by broker name."""


async def glances(admin: Admin, groups: Sequence[str], known: Remembered) -> dict[str, Glance | GantryError]:
    """Return for each group its newest dead letters, when the oldest was stored, and its retries; or why not.

    What a `known` broker may have that no name server lists is unknown.
    """
    places, missing = asyncio.Semaphore(_AT_ONCE), await _missing(admin, known)

    async def one(group: str) -> Glance | GantryError:
        async with places:
            try:
                return await _glance(admin, group, missing)
            except GantryError as error:
                return error

    return dict(zip(groups, await asyncio.gather(*map(one, groups)), strict=True))


async def _missing(admin: Admin, known: Remembered) -> list[RememberedBroker]:
    return known.missing({broker.name for broker in await admin.clusters.brokers()})


async def _glance(admin: Admin, group: str, missing: Sequence[RememberedBroker]) -> Glance:
    topic = dead_letter_topic(group)
    page, stats = await asyncio.gather(
        admin.messages.browse(topic, limit=_GLANCE, with_slaves=True), admin.topics.stats(topic, with_slaves=True)
    )
    for error in (*page.failed.values(), *stats.failed.values()):
        raise error
    is_whole = not any(broker.may_hold(topic) for broker in missing)
    first = await _first_stored_at(admin, stats) if is_whole else None
    waiting = await _retries_waiting(admin, group, missing)
    slaves = {**page.slaves, **stats.slaves}
    return Glance(page.messages, stats.messages, first, waiting, _why_unknown(group, missing), slaves)


def _why_unknown(group: str, missing: Sequence[RememberedBroker]) -> str | None:
    topics = dead_letter_topic(group), retry_topic(group)
    return "; ".join(not_listed(each) for each in missing if any(map(each.may_hold, topics))) or None


async def _first_stored_at(admin: Admin, stats: TopicStats) -> int | None:
    """Return when the oldest message was stored, ms."""
    heads = [(queue, ends.min_offset) for queue, ends in stats.queues.items() if ends.max_offset > ends.min_offset]
    pages = await asyncio.gather(*(admin.messages.page(queue, first, 1, with_slaves=True) for queue, first in heads))
    return min((each.message.store_timestamp for page in pages for each in page.messages), default=None)


async def glance_of_none(admin: Admin, group: str, known: Remembered) -> Glance:
    """Return the line of a group that has no topic of dead letters."""
    missing = await _missing(admin, known)
    return Glance([], 0, None, await _retries_waiting(admin, group, missing), _why_unknown(group, missing))


async def _retries_waiting(admin: Admin, group: str, missing: Sequence[RememberedBroker]) -> int | None:
    """Return how many messages of its retry topic a group has not consumed yet; None if a broker does not say."""
    topic = retry_topic(group)
    if any(broker.may_hold(topic) for broker in missing):
        return None
    try:
        ends = await admin.topics.stats(topic)
    except TopicNotFound:
        return 0
    progress = await admin.groups.consume_stats(group, topic=topic)
    if ends.failed or progress.failed:
        return None
    consumed = {queue: each.consumer_offset for queue, each in progress.queues.items()}
    # Of a queue without an offset of the group everything is left.
    return sum(
        max(0, end.max_offset - max(end.min_offset, consumed.get(queue, -1))) for queue, end in ends.queues.items()
    )
