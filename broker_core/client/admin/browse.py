"""A topic read by time over all its queues, backwards or, from a page that was read, forwards.

Each queue is in store order, so the newest message of a topic is the newest of the queues' last messages. Every queue
is read in blocks, and a heap yields the next message in the blocks. A queue ends at the first message older than
`begin`, or newer than `end`. Brokers find offsets by time only roughly (broker/README.md#looking-up-messages), so times
are checked here.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from broker_core.client.admin.placed import BrowsePage, PlacedMessage, RangeReader
from broker_core.client.admin.replica_reads import FromSlave, at_master, at_replica
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import ask_all
from broker_core.client.routes import Route
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.headers.offsets import (
    GetMaxOffsetRequest,
    GetMaxOffsetResponse,
    GetMinOffsetRequest,
    GetMinOffsetResponse,
    SearchOffsetRequest,
    SearchOffsetResponse,
)
from broker_core.protocol.message import StoredMessage

_Offset = TypeVar("_Offset", GetMinOffsetResponse, GetMaxOffsetResponse, SearchOffsetResponse)

_BLOCK: Final = 32
_END_OF_TIME: Final = 2**62


@dataclass(frozen=True, slots=True)
class _Replica:
    """Who answers for one queue, from the first question on; `slave` if it is not the master."""

    addr: str
    first: int
    """The first offset that it has."""
    slave: FromSlave | None


@dataclass(slots=True)
class _Backwards:
    """One queue, read backwards."""

    queue: MessageQueue
    ranges: RangeReader
    first: int
    upper: int
    """The offset from which on everything is read."""
    begin: int
    end: int
    replica: _Replica
    block: list[StoredMessage] = field(default_factory=list)
    """Read but not returned yet, oldest first."""

    async def look(self) -> tuple[int, int] | None:
        """Return a number by which the newest message not returned yet is sorted, or None at the end of the range."""
        while not self.block and self.upper > self.first:
            await self._read_block()
        return (-self.block[-1].store_timestamp, -self.block[-1].log_offset) if self.block else None

    def give(self) -> PlacedMessage:
        """Remove the newest message and return it."""
        return PlacedMessage(self.block.pop(), self.queue.broker_name)

    @property
    def has_more(self) -> bool:
        """Whether there may be older messages in the range."""
        return bool(self.block) or self.upper > self.first

    @property
    def position(self) -> int:
        """The offset before which reading continues."""
        return self.block[-1].queue_offset + 1 if self.block else self.upper

    async def _read_block(self) -> None:
        low = max(self.first, self.upper - _BLOCK)
        read = await self.ranges.before(self.queue, low, self.upper, at=self.replica.addr)
        self.block = [message for message in read if self.begin <= message.store_timestamp <= self.end]
        self.upper = low
        if read and read[0].store_timestamp < self.begin:
            self.first = low


@dataclass(slots=True)
class _Forwards:
    """One queue, read forwards."""

    queue: MessageQueue
    ranges: RangeReader
    lower: int
    """The offset up to which everything is read."""
    last: int
    end: int
    replica: _Replica
    block: list[StoredMessage] = field(default_factory=list)
    """Read but not returned yet, newest first."""

    async def look(self) -> tuple[int, int] | None:
        """Return a number by which the oldest message not returned yet is sorted, or None at the end of the range."""
        while not self.block and self.lower < self.last:
            await self._read_block()
        return (self.block[-1].store_timestamp, self.block[-1].log_offset) if self.block else None

    def give(self) -> PlacedMessage:
        """Remove the oldest message and return it."""
        return PlacedMessage(self.block.pop(), self.queue.broker_name)

    @property
    def has_more(self) -> bool:
        """Whether there may be newer messages in the range."""
        return bool(self.block) or self.lower < self.last

    @property
    def position(self) -> int:
        """The offset at which reading continues."""
        return self.block[-1].queue_offset if self.block else self.lower

    async def _read_block(self) -> None:
        high = min(self.last, self.lower + _BLOCK)
        read = await self.ranges.before(self.queue, self.lower, high, at=self.replica.addr)
        self.block = [message for message in reversed(read) if message.store_timestamp <= self.end]
        self.lower = high
        if len(self.block) < len(read):
            self.lower = self.last = read[len(self.block)].queue_offset


_Reader = TypeVar("_Reader", _Backwards, _Forwards)


class Browse:
    """Reads topics by time."""

    def __init__(self, requests: AdminRequests, ranges: RangeReader) -> None:
        self._requests = requests
        self._ranges = ranges

    async def page(
        self,
        topic: str,
        begin: int,
        end: int,
        limit: int,
        *,
        queue_id: int | None,
        positions: Mapping[MessageQueue, int] | None,
        with_slaves: bool,
    ) -> BrowsePage:
        """Return one page, newest first; queues whose broker fails are left out, and the broker is named."""
        route = await self._requests.session.routes.get(topic)
        if positions is not None:
            queues = list(positions)
        else:
            queues = [queue for queue in route.read_queues if queue_id is None or queue.queue_id == queue_id]

        async def start(queue: MessageQueue) -> _Backwards:
            replica = await self._replica(queue, with_slaves)
            upper = await self._upper(replica.addr, queue, end) if positions is None else positions[queue]
            return _Backwards(queue, self._ranges, replica.first, upper, begin, end, replica)

        return await _page(route, queues, start, limit)

    async def newer(
        self, topic: str, end: int, limit: int, positions: Mapping[MessageQueue, int], *, with_slaves: bool
    ) -> BrowsePage:
        """Return the page after these positions, oldest first; failures are treated like those of `page`."""
        route = await self._requests.session.routes.get(topic)

        async def start(queue: MessageQueue) -> _Forwards:
            replica = await self._replica(queue, with_slaves)
            last = await self._upper(replica.addr, queue, end)
            return _Forwards(queue, self._ranges, max(replica.first, positions[queue]), last, end, replica)

        return await _page(route, list(positions), start, limit)

    async def _replica(self, queue: MessageQueue, with_slaves: bool) -> _Replica:
        header = GetMinOffsetRequest(queue.topic, queue.queue_id)

        async def ask(addr: str) -> tuple[str, int]:
            return addr, await self._offset(addr, header, GetMinOffsetResponse)

        read = at_replica if with_slaves else at_master
        (addr, first), slave = await read(self._requests, queue.broker_name, ask)
        return _Replica(addr, first, slave)

    async def _upper(self, addr: str, queue: MessageQueue, end: int) -> int:
        """Return an offset after every message that was stored up to `end`."""
        last = await self._offset(addr, GetMaxOffsetRequest(queue.topic, queue.queue_id), GetMaxOffsetResponse)
        if end >= _END_OF_TIME:
            return last
        # The message nearest to the time is the first one after it, or the last one before it.
        header = SearchOffsetRequest(queue.topic, queue.queue_id, end + 1)
        return min(last, await self._offset(addr, header, SearchOffsetResponse) + 1)

    async def _offset(self, addr: str, header: object, kind: type[_Offset]) -> int:
        return self._requests.read(kind, await self._requests.ask(addr, header), addr).offset


async def _page(
    route: Route,
    queues: Sequence[MessageQueue],
    start: Callable[[MessageQueue], Awaitable[_Reader]],
    limit: int,
) -> BrowsePage:
    """Return the first `limit` messages of readers that `start` makes."""
    by_name = {f"{queue.broker_name}/{queue.queue_id}": queue for queue in queues}
    started = await ask_all(by_name, lambda name: start(by_name[name]))
    if queues:
        started.raise_if_none()
    failed = {name.rpartition("/")[0]: error for name, error in started.failed.items()}
    readers = list(started.found.values())
    messages = await _merged(readers, limit, failed)
    return BrowsePage(
        messages,
        {reader.queue: reader.position for reader in readers if reader.has_more},
        finished={reader.queue: reader.position for reader in readers if not reader.has_more},
        failed=failed,
        asked=frozenset(queue.broker_name for queue in (*route.read_queues, *queues)),
        slaves={slave.broker_name: slave for reader in readers if (slave := reader.replica.slave) is not None},
    )


async def _merged(readers: Sequence[_Reader], limit: int, failed: dict[str, GantryError]) -> list[PlacedMessage]:
    """Return the first `limit` messages of all queues together, in the order of the readers."""

    async def look(index: int) -> None:
        place: tuple[int, int] | None
        try:
            place = await readers[index].look()
        except GantryError as error:
            failed[readers[index].queue.broker_name] = error
            return
        if place is not None:
            heapq.heappush(heads, (place[0], place[1], index))

    heads: list[tuple[int, int, int]] = []
    await asyncio.gather(*(look(index) for index in range(len(readers))))
    messages: list[PlacedMessage] = []
    while heads and len(messages) < limit:
        _, _, index = heapq.heappop(heads)
        messages.append(readers[index].give())
        await look(index)
    return messages
