"""Determining a member's share of queues, and where to start in a new queue (client/README.md#where-a-queue-starts)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection

from broker_core.client.config import PushConfig, Strategy
from broker_core.client.consumer.offsets import OffsetStore
from broker_core.client.consumer.rebalance import Change, allot, change
from broker_core.client.consumer.strategies import STRATEGIES
from broker_core.client.errors import NoRoute
from broker_core.client.routes import Route
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.heartbeat import GetConsumerListByGroupResponseBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.headers.clients import GetConsumerListByGroupRequest
from broker_core.protocol.headers.offsets import (
    GetMaxOffsetRequest,
    GetMaxOffsetResponse,
    GetMinOffsetRequest,
    GetMinOffsetResponse,
    SearchOffsetRequest,
    SearchOffsetResponse,
)
from broker_core.protocol.topics import is_retry_topic


class Sharing:
    """Computes this member's share of each topic."""

    def __init__(self, session: Session, group: str, config: PushConfig) -> None:
        self._session = session
        self._group = group
        self._config = config
        chosen = config.strategy
        self._strategy: Strategy = STRATEGIES[chosen] if isinstance(chosen, str) else chosen

    async def look(self, topic: str, held: Collection[MessageQueue]) -> Change:
        """Return the change to apply to `held`; raise, and change nothing, if route or members are unknown."""
        route = await self._session.routes.get(topic)
        if self._config.broadcasting:
            return change(held, route.read_queues)
        members = await self._members(route)
        return change(held, allot(self._session.client_id, route.read_queues, members, self._strategy))

    async def _members(self, route: Route) -> list[str]:
        masters = list(route.masters.values())
        addresses = masters or [addr for addrs in route.brokers.values() for addr in addrs.values()]
        if not addresses:
            raise NoRoute(route.topic)
        addr = random.choice(addresses)  # noqa: S311 - any will do
        answer = await self._session.call(addr, GetConsumerListByGroupRequest(self._group))
        return coder.decode(GetConsumerListByGroupResponseBody, answer.body).consumer_id_list


async def start_offset(session: Session, offsets: OffsetStore, queue: MessageQueue, config: PushConfig) -> int:
    """Return where to start: at the stored offset, else as configured; raise if the broker does not report it."""
    stored = await offsets.stored(queue)
    if stored is not None:
        return stored
    is_retry = is_retry_topic(queue.topic)
    addr = session.routes.readable(queue.broker_name)
    if addr is None:
        raise NoRoute(queue.topic, f"broker {queue.broker_name!r} is not in its route")
    if config.start_from == "first" or is_retry:
        answer = await session.call(addr, GetMinOffsetRequest(queue.topic, queue.queue_id))
        return answer.header(GetMinOffsetResponse).offset
    if config.start_from == "time":
        answer = await session.call(addr, SearchOffsetRequest(queue.topic, queue.queue_id, config.start_timestamp))
        return answer.header(SearchOffsetResponse).offset
    answer = await session.call(addr, GetMaxOffsetRequest(queue.topic, queue.queue_id))
    return answer.header(GetMaxOffsetResponse).offset


async def queue_bounds(session: Session, queue: MessageQueue) -> tuple[int, int]:
    """Return the first readable offset of a queue, and the offset of its next message."""
    addr = session.routes.readable(queue.broker_name)
    if addr is None:
        raise NoRoute(queue.topic, f"broker {queue.broker_name!r} is not in its route")
    first = await session.call(addr, GetMinOffsetRequest(queue.topic, queue.queue_id))
    end = await session.call(addr, GetMaxOffsetRequest(queue.topic, queue.queue_id))
    return first.header(GetMinOffsetResponse).offset, end.header(GetMaxOffsetResponse).offset


async def look_forever(look: Callable[[], Awaitable[bool]], wake: asyncio.Event, config: PushConfig) -> None:
    """Call `look` periodically, at once when `wake` is set, and sooner after an incomplete result."""
    while True:
        wake.clear()
        all_known = await look()
        pause_ms = config.rebalance_ms if all_known else config.rebalance_again_ms
        try:
            async with asyncio.timeout(pause_ms / 1000):
                await wake.wait()
        except TimeoutError:
            continue
