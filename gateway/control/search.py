"""Search by key in pages that show every message exactly once.

A broker returns at most its newest 64 messages of a time range. Messages that it left out may lie between those of
other brokers, so a page shows only messages that are newer than the oldest one of every broker, and the search goes on
from there. If more than 64 messages were stored in the same millisecond, the search could not advance by time; they are
read from their queues instead. An index of Apache RocketMQ knows only whole seconds, so there a second is read.

The way back to newer messages asks for spans of time that grow while they are read whole, and shrink when they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from broker_core.client.admin import Admin
from broker_core.client.admin.index import SearchFigures
from broker_core.client.admin.messages import SearchResult
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.replica_reads import FromSlave
from broker_core.errors import GantryError

# Questions for one page: enough to fill the largest page, few enough to answer in time.
_MOST_QUESTIONS: Final = 12
# The most messages of one topic that are read instead of searching.
_MOST_IN_A_BURST: Final = 2_000
_INDEX_SECOND_MS: Final = 1_000
# The way back begins with a second; spans grow and shrink by a factor.
_FIRST_SPAN_MS: Final = 1_000
_WIDER: Final = 8

Place: TypeAlias = tuple[int, int, str]
"""The position of a message in the order of a search: store time (ms), log offset, broker."""
# Behind every message of its millisecond.
_LAST: Final = (2**63 - 1, "")


@dataclass(slots=True)
class Found:
    """One page of a search: its messages, the newest first, and whether it is complete."""

    messages: list[PlacedMessage] = field(default_factory=list)
    next_start: tuple[int, Place | None] | None = None
    """Where the next page begins: at this time (ms) or earlier, and after this place. None: no more pages."""
    newer: Place | None = None
    """The place which the page with newer messages precedes. None: there are no newer ones."""
    complete: bool = True
    """Whether all that the asked brokers have was seen, up to the end of the page; never if a slave was asked."""
    figures: SearchFigures | None = None
    failed: dict[str, GantryError] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    """Name of each broker that was asked, by address."""
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were searched in the place of their masters, by broker name."""


async def search_page(
    admin: Admin,
    topic: str,
    key: str,
    *,
    begin: int,
    upper: int,
    after: Place | None,
    limit: int,
    with_slaves: bool = False,
) -> Found:
    """Return up to `limit` messages with `key` stored from `begin` to `upper` (ms) that follow `after`.

    `with_slaves` a slave is searched in the place of a master that is away. Raises TopicNotFound, or the first failure
    if no broker succeeds.
    """
    page = await _older_page(
        admin, topic, key, begin=begin, upper=upper, after=after, limit=limit, with_slaves=with_slaves
    )
    if page.messages:
        page.newer = place_of(page.messages[0])
    else:
        page.newer = (upper, *_LAST) if after is None else (after[0], after[1] - 1, after[2])
    return page


async def _older_page(
    admin: Admin,
    topic: str,
    key: str,
    *,
    begin: int,
    upper: int,
    after: Place | None,
    limit: int,
    with_slaves: bool,
) -> Found:
    page, at, is_whole = Found(), upper, True
    for _ in range(_MOST_QUESTIONS):
        result = await admin.messages.search(
            topic, key, begin=begin, end=at, without=page.failed, with_slaves=with_slaves
        )
        _note(page, result)
        found, below, has_all = await _sure(admin, topic, key, result, at, with_slaves)
        is_whole = is_whole and has_all
        page.complete = is_whole and not page.failed and not page.slaves
        page.messages += [each for each in found if after is None or place_of(each) < after]
        if len(page.messages) > limit:
            del page.messages[limit:]
            last = place_of(page.messages[-1])
            page.next_start = (last[0], last)
            return page
        if below is None or below < begin:
            page.complete = page.complete and (result.complete or below is not None)
            return page
        at, after = below, None
    page.next_start, page.complete = (at, None), False
    return page


async def newer_page(admin: Admin, topic: str, key: str, *, end: int, before: Place, limit: int) -> Found:
    """Return the `limit` messages with `key` stored up to `end` (ms) that come right before `before`, newest first.

    Searches slaves in the place of masters that are away. Raises like `search_page`.
    """
    page, at, span = Found(), before[0], _FIRST_SPAN_MS
    upwards: list[PlacedMessage] = []
    for _ in range(_MOST_QUESTIONS):
        upto = min(end, at + span)
        result = await admin.messages.search(topic, key, begin=at, end=upto, without=page.failed, with_slaves=True)
        _note(page, result)
        found = _in_order(result.messages)
        if result.is_cut:
            is_whole = False
            if upto - at < _INDEX_SECOND_MS:
                found, is_whole = await _burst(admin, topic, key, at, upto, True)
            if not is_whole and upto > at:
                span = (upto - at) // _WIDER
                continue
            page.complete = page.complete and is_whole
        upwards += [each for each in reversed(found) if place_of(each) > before]
        at, span = upto + 1, max(1, span) * _WIDER
        if len(upwards) > limit:
            del upwards[limit:]
            page.newer = place_of(upwards[-1])
            break
        if at > end:
            break
    else:
        page.newer, page.complete = (at - 1, *_LAST), False
    page.messages = upwards[::-1]
    time, log_offset, broker = before
    last = place_of(page.messages[-1]) if page.messages else (time, log_offset + 1, broker)
    page.next_start = (last[0], last)
    return page


def _note(page: Found, result: SearchResult) -> None:
    page.failed.update(result.failed)
    page.asked.update(result.asked)
    page.slaves.update(result.slaves)
    page.complete = page.complete and not page.failed and not page.slaves
    page.figures = together(page.figures, result.figures)


def place_of(placed: PlacedMessage) -> Place:
    """Return the position of a message in the order of a search."""
    return (placed.message.store_timestamp, placed.message.log_offset, placed.broker_name)


async def _sure(
    admin: Admin, topic: str, key: str, result: SearchResult, upper: int, with_slaves: bool
) -> tuple[list[PlacedMessage], int | None, bool]:
    """Return the messages without gaps between them, the time at which to continue, and whether none was left out.

    The time is None at the end. `upper` (ms) is the end of the range that was searched.
    """
    if not result.is_cut or not result.oldest_at:
        return _in_order(result.messages), None, True
    # The answer does not say which brokers left something out; each may have, before its oldest message.
    horizon = max(result.oldest_at.values())
    if horizon > upper:
        # All places were taken by messages of the same second that are after the range.
        begin = max(0, upper - _INDEX_SECOND_MS + 1)
        burst, is_whole = await _burst(admin, topic, key, begin, upper, with_slaves)
        return burst, begin - 1, is_whole
    sure = [each for each in result.messages if each.message.store_timestamp > horizon]
    if sure:
        return _in_order(sure), horizon, True
    burst, is_whole = await _burst(admin, topic, key, horizon, horizon, with_slaves)
    return burst, horizon - 1, is_whole


async def _burst(
    admin: Admin, topic: str, key: str, begin: int, end: int, with_slaves: bool
) -> tuple[list[PlacedMessage], bool]:
    """Return the messages with the key that were stored from `begin` to `end` (ms), and whether these are all.

    They are read from their queues.
    """
    page = await admin.messages.browse(topic, begin=begin, end=end, limit=_MOST_IN_A_BURST, with_slaves=with_slaves)
    found = [each for each in page.messages if key in each.message.keys or each.message.unique_id == key]
    return _in_order(found), len(page.messages) < _MOST_IN_A_BURST and not page.failed


def _in_order(messages: Sequence[PlacedMessage]) -> list[PlacedMessage]:
    return sorted(messages, key=place_of, reverse=True)


def together(first: SearchFigures | None, second: SearchFigures) -> SearchFigures:
    """Return the figures of two questions of one search: those of the work done are added up."""
    if first is None:
        return second
    sums = {
        name: None if None in (one, other) else one + other
        for name in ("entries_visited", "collisions_dropped", "expired_messages")
        for one, other in [(getattr(first, name), getattr(second, name))]
    }
    return replace(first, **sums)
