"""Reads the queues of a topic on and on, without a consumer group: plain pulls, which every broker knows.

A queue of its own task asks for the next messages; the broker holds the request until there are some. Nothing is
consumed: no offset is stored. Only masters are read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Protocol

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.consumer.pull import PullConsumer, PullResult, PullStatus
from broker_core.client.errors import NoMaster
from broker_core.errors import GantryError
from broker_core.protocol.bodies import MessageQueue
from console.clusters.connections import Connections
from console.clusters.reasons import reason_of
from gateway.live.tail.frames import DropReason

WAIT_MS: Final = 5_000
_RETRY_SECONDS: Final = 1.0
_ROUTE_SECONDS: Final = 15.0
# A reader that would take all of a processor leaves messages out, and says so.
READ_A_SECOND: Final = 5_000
MOST_BEHIND: Final = 10_000

Begin = Callable[[Admin, MessageQueue], Awaitable[int]]
"""Returns the offset from which a queue is read."""


class Sink(Protocol):
    """What a reader tells."""

    def follows(self, queues: Sequence[MessageQueue]) -> None:
        """Note that these are the queues of the topic now."""

    async def take(self, queue: MessageQueue, messages: Sequence[PlacedMessage]) -> None:
        """Take messages of one queue, in order; the reader reads on when this returns."""

    def skip(self, queue: MessageQueue, to: int, n: int, reason: DropReason) -> None:
        """Note that `n` messages before the offset `to` are not read."""

    def at(self, queue: MessageQueue, offset: int) -> None:
        """Note the offset from which a queue is read."""

    def reached_end(self, queue: MessageQueue) -> None:
        """Note that a queue was read up to its end for the first time."""

    def failed(self, topic: str, broker: str | None, reason: str | None) -> None:
        """Note why a topic or broker cannot be read; None: it can again."""


async def from_end(admin: Admin, queue: MessageQueue) -> int:
    """Begin with what is stored from now on."""
    return await admin.offsets.max(queue)


def since(moment: int) -> Begin:
    """Begin with the first message stored at `moment` (ms) or later."""

    async def begin(admin: Admin, queue: MessageQueue) -> int:
        return await admin.offsets.first_since(queue, moment)

    return begin


def at_places(places: Mapping[MessageQueue, int], otherwise: Begin) -> Begin:
    """Begin at these offsets, and a queue without one as `otherwise` says."""

    async def begin(admin: Admin, queue: MessageQueue) -> int:
        return places[queue] if queue in places else await otherwise(admin, queue)

    return begin


class Pace:
    """Makes a reader wait once it has read more than so many messages in a second."""

    def __init__(self, per_second: int = READ_A_SECOND, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._free_at = clock()

    async def count(self, n: int) -> None:
        """Count `n` messages; return when the next may be read."""
        now = self._clock()
        self._free_at = max(self._free_at, now - 1) + n / self._per_second
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)


class TopicReader:
    """Reads one topic from a beginning on, until it is stopped."""

    def __init__(self, connections: Connections, cluster: str, topic: str, *, begin: Begin, sink: Sink) -> None:
        self.topic = topic
        self._connections = connections
        self._cluster = cluster
        self._begin = begin
        self._sink = sink
        self._pace = Pace()
        self._queues: dict[MessageQueue, asyncio.Task[None]] = {}
        self._failing: dict[str | None, str] = {}
        self._begun: set[MessageQueue] = set()
        self._is_first = True
        self.ready = asyncio.Event()
        """Set when each queue was asked for its beginning: what is stored from then on is read."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read."""
        self._task = asyncio.create_task(self._run(), name=f"tail {self.topic}")

    async def stop(self) -> None:
        """Stop, and wait until nothing is read."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        try:
            while True:
                await self._follow_queues()
                await asyncio.sleep(_ROUTE_SECONDS if self._queues else _RETRY_SECONDS)
        finally:
            for task in self._queues.values():
                task.cancel()
            await asyncio.gather(*self._queues.values(), return_exceptions=True)

    async def _follow_queues(self) -> None:
        """Read the queues that the route lists: those that appear later from their first message on."""
        try:
            session = await self._connections.session(self._cluster)
            queues = (await session.routes.get(self.topic)).read_queues
        except GantryError as error:
            self._note(None, reason_of(error))
            return
        self._note(None, None)
        for queue in self._queues.keys() - set(queues):
            self._queues.pop(queue).cancel()
        self._sink.follows(queues)
        if not queues:
            self.ready.set()
        begin = self._begin if self._is_first else _first
        self._is_first = False
        for queue in queues:
            if queue not in self._queues:
                self._queues[queue] = asyncio.create_task(self._read(queue, begin), name=f"tail {queue}")

    async def _read(self, queue: MessageQueue, begin: Begin) -> None:
        offset: int | None = None
        is_at_end = False
        while True:
            try:
                if offset is None:
                    offset = await begin(await self._connections.admin(self._cluster), queue)
                    self._sink.at(queue, offset)
                    self._note_begun(queue)
                session = await self._connections.session(self._cluster)
                master = await session.master_of(queue.broker_name)
                if master is None:
                    # A slave may lack what is newest, and nobody would notice: a tail is said to be live.
                    raise NoMaster(queue.broker_name)
                wait_ms = WAIT_MS if is_at_end else 0
                result = await PullConsumer(session).pull(queue, offset, wait_ms=wait_ms, at=master)
            except GantryError as error:
                self._note(queue.broker_name, reason_of(error))
                self._note_begun(queue)
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            self._note(queue.broker_name, None)
            offset = await self._pass_on(queue, offset, result, is_live=is_at_end)
            if not is_at_end and offset >= result.max_offset:
                is_at_end = True
                self._sink.reached_end(queue)

    async def _pass_on(self, queue: MessageQueue, offset: int, result: PullResult, *, is_live: bool) -> int:
        """Hand over what was read; return the offset from which to read on."""
        after = int(result.next_offset)
        if result.status is PullStatus.OFFSET_ILLEGAL:
            self._sink.skip(queue, after, max(0, after - offset), "deleted")
            return after
        if result.messages:
            await self._sink.take(queue, [PlacedMessage(each, queue.broker_name) for each in result.messages])
            await self._pace.count(len(result.messages))
        left = int(result.max_offset) - after
        if is_live and left > MOST_BEHIND:
            self._sink.skip(queue, after + left, left, "reader_behind")
            return after + left
        return after

    def _note_begun(self, queue: MessageQueue) -> None:
        self._begun.add(queue)
        if self._begun >= self._queues.keys():
            self.ready.set()

    def _note(self, broker: str | None, reason: str | None) -> None:
        if self._failing.get(broker) == reason:
            return
        if reason is None:
            del self._failing[broker]
        else:
            self._failing[broker] = reason
        self._sink.failed(self.topic, broker, reason)


async def _first(admin: Admin, queue: MessageQueue) -> int:
    return await admin.offsets.min(queue)
