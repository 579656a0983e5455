"""Asks the brokers what a plan is computed from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from broker_core.client.admin import Admin
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from console.clusters.reasons import reason_of
from console.offsets.planning import QueueReading
from console.offsets.shapes import Mode, UnknownQueues

_AT_ONCE = 32
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Wish:
    """A wanted change of the offsets of a group in a topic, as it was asked for."""

    group: str
    topic: str
    mode: Mode
    time_ms: int = 0
    offset: int = 0
    offsets: Mapping[Place, int] | None = None
    source: str = ""
    """Of "copy_from": the other group."""
    queues: frozenset[Place] | None = None
    """None: all queues of the topic."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the brokers answered."""

    readings: list[QueueReading]
    members: int | None
    unknown: list[UnknownQueues]
    asked: frozenset[str] = frozenset()
    """Names of the brokers that were asked, those that did not answer included."""


async def read(admin: Admin, wish: Wish) -> Situation:
    """Return the queues of the topic with the wanted offsets; raise TopicNotFound, or an error if no broker answers."""
    stored = await admin.offsets.stored(wish.group, wish.topic)
    stored.raise_if_none()
    masters = await admin.clusters.masters()
    current = {queue: at for offsets in stored.found.values() for queue, at in offsets.items()}
    route = await admin.session.routes.get(wish.topic)
    answering = {masters.get(addr, addr) for addr in stored.found}
    queues = [queue for queue in {*route.read_queues, *route.write_queues} if queue.broker_name in answering]
    if wish.queues is not None:
        queues = [queue for queue in queues if (queue.broker_name, queue.queue_id) in wish.queues]
    target = await _targets(admin, wish, current)
    limit = asyncio.Semaphore(_AT_ONCE)

    async def reading(queue: MessageQueue) -> QueueReading:
        async with limit:
            low, high = await admin.offsets.min(queue), await admin.offsets.max(queue)
            at = current.get(queue)
            return QueueReading(queue.broker_name, queue.queue_id, at, low, high, await target(queue, low, high))

    readings = list(await asyncio.gather(*map(reading, queues)))
    unknown = [
        UnknownQueues(broker=masters.get(addr, addr), reason=reason_of(error, masters))
        for addr, error in stored.failed.items()
    ]
    asked = answering | {each.broker for each in unknown}
    return Situation(readings, await members_of(admin, wish.group), unknown, frozenset(asked))


async def offsets_now(admin: Admin, group: str, topic: str) -> dict[Place, int]:
    """Return the stored offsets of a group in a topic, of the brokers that answer."""
    stored = (await admin.offsets.stored(group, topic)).raise_if_none()
    return {
        (queue.broker_name, queue.queue_id): at for offsets in stored.found.values() for queue, at in offsets.items()
    }


async def members_of(admin: Admin, group: str) -> int | None:
    """Return how many native clients of the group are connected; None if a broker that may know did not answer."""
    connections = await admin.groups.connections(group)
    return None if connections.failed else len(connections.members)


_Target = Callable[[MessageQueue, int, int], Awaitable[int | None]]


async def _targets(admin: Admin, wish: Wish, current: Mapping[MessageQueue, int]) -> _Target:
    """Return what finds the wanted offset of a queue, given its bounds."""
    copied = await _source_offsets(admin, wish) if wish.mode == "copy_from" else {}

    async def target(queue: MessageQueue, low: int, high: int) -> int | None:
        place = queue.broker_name, queue.queue_id
        match wish.mode:
            case "earliest":
                return low
            case "latest":
                return high
            case "time":
                return await admin.offsets.first_since(queue, wish.time_ms)
            case "offset":
                return wish.offset if wish.offsets is None else wish.offsets.get(place)
            case "shift":
                at = current.get(queue)
                return None if at is None else at + wish.offset
            case "copy_from":
                return copied.get(place)

    return target


async def _source_offsets(admin: Admin, wish: Wish) -> dict[Place, int]:
    try:
        return await offsets_now(admin, wish.source, wish.topic)
    except TopicNotFound:
        return {}
