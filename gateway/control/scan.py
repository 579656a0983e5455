"""A topic read by time and by a filter: matches and progress as they come, and where to go on.

Reads queues by offset without a group, so it works on every cluster and moves nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import BrowsePage, PlacedMessage
from broker_core.client.admin.replica_reads import FromSlave
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from gateway.message_filter import MessageFilter

_BLOCK: Final = 512
_SLICE_SECONDS: Final = 0.02
"""How long the filter holds up the loop."""
EndReason = Literal["end", "limit", "budget"]
Positions = Mapping[MessageQueue, int]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to read, what to look for, and how far to go."""

    topic: str
    begin: int
    """Stored at this time (ms) or later."""
    end: int
    """Stored at this time (ms) or earlier."""
    filter: MessageFilter
    limit: int
    """The scan ends after so many matches."""
    budget: int
    """The scan ends after so many messages were read, all matches of the last block included."""
    queue_id: int | None = None
    positions: Positions | None = None
    """Where an earlier scan ended; None at the beginning."""
    finished: Positions = field(default_factory=dict)
    """Where the queues ended that an earlier scan finished."""
    is_forward: bool = False
    """From `positions` on to newer messages instead of older ones."""
    with_slaves: bool = False
    """Slaves are read in the place of masters that are away."""


@dataclass(slots=True)
class Progress:
    """How far a scan is."""

    started: float = field(default_factory=time.perf_counter)
    read: int = 0
    matched: int = 0
    damaged: int = 0
    """Messages whose body cannot be unpacked: conditions on it do not hold."""
    reached: int | None = None
    """Store time (ms) of the oldest message read."""
    positions: Positions = field(default_factory=dict)
    """Where the next scan goes on; empty at the end."""
    finished: Positions = field(default_factory=dict)
    """Where the queues ended that have no more to read."""
    asked: frozenset[str] = frozenset()
    failed: dict[str, GantryError] = field(default_factory=dict)
    """Brokers that did not answer: their older messages were not read."""
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were read in the place of their masters, by broker name."""

    @property
    def elapsed_ms(self) -> int:
        """Since the beginning."""
        return int((time.perf_counter() - self.started) * 1000)


@dataclass(frozen=True, slots=True)
class Block:
    """The matches of one block, newest first; `end` says why it was the last one."""

    matches: list[PlacedMessage]
    progress: Progress
    end: EndReason | None


async def scan(admin: Admin, wanted: Wanted) -> AsyncIterator[Block]:
    """Read block by block until the limit, the budget or the end; raises TopicNotFound or Unreachable.

    A block with more matches than are wanted is cut: the scan goes on before the last match that was returned.
    """
    progress = Progress(finished=wanted.finished)
    positions = wanted.positions
    while True:
        size = min(_BLOCK, wanted.budget - progress.read)
        page = await read_page(admin, wanted, positions, size)
        _note(progress, page)
        matches = await _matches(page, wanted, progress)
        positions = progress.positions
        end = _end(progress, wanted)
        yield Block(matches, progress, end)
        if end is not None:
            return
        # The loop also serves producers and consumers: let them in between two blocks.
        await asyncio.sleep(0)


async def read_page(admin: Admin, wanted: Wanted, positions: Positions | None, limit: int) -> BrowsePage:
    """Return the next messages in the direction of the scan, whether or not they match; raise like `scan`."""
    if wanted.is_forward:
        return await admin.messages.browse_newer(
            wanted.topic, positions or {}, end=wanted.end, limit=limit, with_slaves=wanted.with_slaves
        )
    return await admin.messages.browse(
        wanted.topic,
        begin=wanted.begin,
        end=wanted.end,
        limit=limit,
        queue_id=wanted.queue_id,
        positions=None if positions is None else dict(positions),
        with_slaves=wanted.with_slaves,
    )


async def found_page(admin: Admin, wanted: Wanted) -> BrowsePage:
    """Return the matches as one page, with the positions at which the next one goes on; raise like `scan`."""
    matches: list[PlacedMessage] = []
    progress = Progress()
    async for block in scan(admin, wanted):
        matches += block.matches
        progress = block.progress
    return BrowsePage(
        matches,
        dict(progress.positions),
        dict(progress.finished),
        failed=progress.failed,
        asked=progress.asked,
        slaves=progress.slaves,
    )


def _note(progress: Progress, page: BrowsePage) -> None:
    progress.asked |= page.asked
    progress.failed.update(page.failed)
    progress.slaves.update(page.slaves)
    progress.positions = page.positions
    progress.finished = {**progress.finished, **page.finished}


async def _matches(page: BrowsePage, wanted: Wanted, progress: Progress) -> list[PlacedMessage]:
    """Return the matches of a page; if there are too many, go back to the last one that is returned."""
    matches: list[PlacedMessage] = []
    free_at = time.perf_counter() + _SLICE_SECONDS
    for index, placed in enumerate(page.messages):
        if time.perf_counter() > free_at:  # a filter may take long with each message
            await asyncio.sleep(0)
            free_at = time.perf_counter() + _SLICE_SECONDS
        message = placed.message
        progress.read += 1
        progress.reached = message.store_timestamp
        progress.damaged += message.damage is not None
        if not wanted.filter.matches(message):
            continue
        matches.append(placed)
        progress.matched += 1
        if progress.matched == wanted.limit:
            progress.positions = _stopped(page, index, wanted)
            progress.finished = {
                queue: at for queue, at in progress.finished.items() if queue not in progress.positions
            }
            break
    return matches


def _stopped(page: BrowsePage, index: int, wanted: Wanted) -> Positions:
    """Return where to go on after the message at `index` of the page, so that none is skipped or read twice."""
    positions = dict(page.positions)
    # The last one that is put in is the first that was not looked at.
    for placed in reversed(page.messages[index + 1 :]):
        positions[placed.queue] = placed.message.queue_offset + (0 if wanted.is_forward else 1)
    return positions


def _end(progress: Progress, wanted: Wanted) -> EndReason | None:
    if not progress.positions:
        return "end"
    if progress.matched >= wanted.limit:
        return "limit"
    return "budget" if progress.read >= wanted.budget else None
