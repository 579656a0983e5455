"""A cluster of many names for benchmarks: topics and groups made straight at the broker, some of the groups behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from broker_core.client.admin import Admin
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import Message
from tests.support.cluster import RunningBroker

QUEUES = 4
BACKLOG = 3
"""Messages in each queue that a group which is behind has not consumed."""
_AT_ONCE = 64


@dataclass(frozen=True)
class Size:
    """How much there is."""

    topics: int = 10_000
    groups: int = 5_000
    behind: int = 500
    moving: int = 50
    """Topics that get a message every second, each with a group that consumes it."""


def topic_name(number: int) -> str:
    """Return the name of a topic."""
    return f"orders-{number:05}"


def group_name(number: int) -> str:
    """Return the name of the group that reads the topic of the same number."""
    return f"billing-{number:05}"


@dataclass
class Filled:
    """What came of filling a cluster: topics made in a second, one after another at the end and many at once."""

    one_by_one: float
    at_once: float


async def fill(running: RunningBroker, size: Size) -> Filled:
    """Make the topics and groups; the first `behind` groups have a backlog in each queue."""
    async with running.session() as session:
        admin = Admin(session)
        few = min(100, size.topics)
        started = time.perf_counter()
        await each(range(size.topics - few), lambda number: _create(admin, topic_name(number)))
        at_once = (size.topics - few) / (time.perf_counter() - started)
        started = time.perf_counter()
        for number in range(size.topics - few, size.topics):
            await _create(admin, topic_name(number))
        one_by_one = few / (time.perf_counter() - started)
        await each(range(size.groups), lambda number: _create_group(admin, number, running.broker_name))
        await store(session, [topic_name(number) for number in range(size.behind)], BACKLOG * QUEUES)
    return Filled(one_by_one, at_once)


async def store(session: Session, topics: Sequence[str], count: int) -> None:
    """Store so many messages in each topic, in its queues by turns."""
    producer = Producer(session)
    await producer.start()

    async def fill_one(topic: str) -> None:
        queues = (await session.routes.get(topic)).write_queues
        for number in range(count):
            await producer.send(Message(topic, b"{}"), queue=queues[number % len(queues)])

    try:
        await each(topics, fill_one)
    finally:
        await producer.close()


async def each(items: Iterable[object], work: Callable[..., Awaitable[object]]) -> None:
    """Do the work for each item, several at once."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(item: object) -> None:
        async with places:
            await work(item)

    await asyncio.gather(*(one(item) for item in items))


async def _create(admin: Admin, name: str) -> None:
    (await admin.topics.create(name, read_queues=QUEUES, write_queues=QUEUES)).raise_if_none()


async def _create_group(admin: Admin, number: int, broker_name: str) -> None:
    (await admin.groups.create(group_name(number))).raise_if_none()
    await admin.offsets.set(
        group_name(number), {MessageQueue(topic_name(number), broker_name, queue): 0 for queue in range(QUEUES)}
    )
