"""A topic read backwards in time, over all its queues.

Each queue is in store order, so the newest message of a topic is the newest of the queues' last messages. Every queue
is read backwards in blocks, and a heap yields the newest message in the blocks. A queue ends at the first message older
than `begin`. Brokers find offsets by time only roughly (broker/README.md#looking-up-messages), so times are checked
here.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from broker_core.client.admin.placed import BrowsePage, PlacedMessage, RangeReader
from broker_core.client.admin.requests import AdminRequests
from broker_core.client.answers import ask_all
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
    block: list[StoredMessage] = field(default_factory=list)
    """Read but not returned yet, oldest first."""

    async def newest(self) -> StoredMessage | None:
        """Return the newest message that was not returned yet, or None at the beginning of the range."""
        while not self.block and self.upper > self.first:
            await self._read_block()
        return self.block[-1] if self.block else None

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
        read = await self.ranges.before(self.queue, low, self.upper)
        self.block = [message for message in read if self.begin <= message.store_timestamp <= self.end]
        self.upper = low
        if read and read[0].store_timestamp < self.begin:
            self.first = low


class Browse:
    """Reads topics by time, newest first."""

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
    ) -> BrowsePage:
        """Return one page; queues whose broker fails are left out, and the broker is named."""
        route = await self._requests.session.routes.get(topic)
        if positions is not None:
            queues = list(positions)
        else:
            queues = [queue for queue in route.read_queues if queue_id is None or queue.queue_id == queue_id]
        by_name = {f"{queue.broker_name}/{queue.queue_id}": queue for queue in queues}

        async def start(name: str) -> _Backwards:
            queue = by_name[name]
            return await self._start(queue, begin, end, None if positions is None else positions[queue])

        started = await ask_all(by_name, start)
        if queues:
            started.raise_if_none()
        failed = {name.rpartition("/")[0]: error for name, error in started.failed.items()}
        readers = list(started.found.values())
        messages = await _newest_of(readers, limit, failed)
        left = {reader.queue: reader.position for reader in readers if reader.has_more}
        asked = frozenset(queue.broker_name for queue in (*route.read_queues, *queues))
        return BrowsePage(messages, left, failed=failed, asked=asked)

    async def _start(self, queue: MessageQueue, begin: int, end: int, position: int | None) -> _Backwards:
        first = await self._offset(queue, GetMinOffsetRequest(queue.topic, queue.queue_id), GetMinOffsetResponse)
        upper = await self._upper(queue, end) if position is None else position
        return _Backwards(queue, self._ranges, first, upper, begin, end)

    async def _upper(self, queue: MessageQueue, end: int) -> int:
        """Return an offset after every message that was stored up to `end`."""
        last = await self._offset(queue, GetMaxOffsetRequest(queue.topic, queue.queue_id), GetMaxOffsetResponse)
        if end >= _END_OF_TIME:
            return last
        # The message nearest to the time is the first one after it, or the last one before it.
        header = SearchOffsetRequest(queue.topic, queue.queue_id, end + 1)
        return min(last, await self._offset(queue, header, SearchOffsetResponse) + 1)

    async def _offset(self, queue: MessageQueue, header: object, kind: type[_Offset]) -> int:
        addr = await self._requests.master(queue.broker_name)
        return self._requests.read(kind, await self._requests.ask(addr, header), addr).offset


async def _newest_of(readers: Sequence[_Backwards], limit: int, failed: dict[str, GantryError]) -> list[PlacedMessage]:
    """Return the newest `limit` messages of all queues together, newest first."""

    async def look(index: int) -> None:
        try:
            newest = await readers[index].newest()
        except GantryError as error:
            failed[readers[index].queue.broker_name] = error
            return
        if newest is not None:
            heapq.heappush(heads, (-newest.store_timestamp, -newest.log_offset, index))

    heads: list[tuple[int, int, int]] = []
    await asyncio.gather(*(look(index) for index in range(len(readers))))
    messages: list[PlacedMessage] = []
    while heads and len(messages) < limit:
        _, _, index = heapq.heappop(heads)
        messages.append(readers[index].give())
        await look(index)
    return messages
