"""A push consumer whose handler is held pulls no more than its limits allow, as brokers and operators see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ProcessQueueInfo
from broker_core.protocol.message import Message, StoredMessage
from tests.compat.driver import Driver
from tests.compat.servers import SHARED, Server
from tests.support.cluster import create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

SETTINGS = SHARED
MIB = 1024 * 1024

# One message a pull: a limit is met exactly, by the one message that goes beyond it.
CONFIG = PushConfig(start_from="first", pull_batch=1, flow_control_delay_ms=20)
# So often a held queue is looked at again before it counts as held.
LOOKS = 20
HELD_MS = 8_000


class Gate:
    """A handler that lets nothing pass until it is opened."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.passed: list[StoredMessage] = []

    async def __call__(self, message: StoredMessage) -> None:
        await self.opened.wait()
        self.passed.append(message)

    @property
    def numbers(self) -> list[int]:
        return [int(message.body.split()[0]) for message in self.passed]


@pytest.fixture
async def session(server: Server, name: str) -> AsyncIterator[Session]:
    """The consumer's session, and a topic with one queue."""
    async with server.session() as session:
        await create_topic(session, name, queues=1)
        yield session


async def fill(session: Session, topic: str, count: int, *, size: int = 0) -> MessageQueue:
    """Send numbered messages with bodies of `size` bytes; return their queue."""
    async with Producer(session, "checkout") as producer:
        for number in range(count):
            await producer.send(Message(topic, (b"%d " % number).ljust(size, b"x")))
        (queue,) = await producer.queues(topic)
    return queue


async def in_hand(server: Server, group: str, client_id: str, queue: MessageQueue) -> ProcessQueueInfo:
    """Return what a member has in hand of a queue, as an operator is told who asks the broker."""
    async with server.session() as operator:
        info = await Admin(operator).groups.running_info(group, client_id)
    return info.mq_table.get(queue, ProcessQueueInfo())


async def held_at(server: Server, group: str, client_id: str, queue: MessageQueue, count: int) -> ProcessQueueInfo:
    """Wait until `count` messages are in hand; return what is when their queue was looked at many times more."""

    async def look() -> ProcessQueueInfo:
        return await in_hand(server, group, client_id, queue)

    async def is_full() -> bool:
        return (await look()).cached_msg_count >= count

    await eventually(is_full)
    since = (await look()).last_pull_timestamp

    async def was_looked_at() -> bool:
        return (await look()).last_pull_timestamp >= since + LOOKS * CONFIG.flow_control_delay_ms

    await eventually(was_looked_at)
    return await look()


def consumer_of(session: Session, group: str, gate: Gate, config: PushConfig) -> PushConsumer:
    """Return a consumer of the topic that is named like its group."""
    consumer = PushConsumer(session, group, gate, config)
    consumer.subscribe(group)
    return consumer


async def test_a_held_consumer_stops_at_its_count_and_goes_on(server: Server, session: Session, name: str) -> None:
    queue = await fill(session, name, 60)
    gate = Gate()
    async with consumer_of(session, name, gate, replace(CONFIG, queue_max_messages=20)):
        held = await held_at(server, name, session.client_id, queue, 21)
        assert (held.cached_msg_count, held.cached_msg_min_offset, held.cached_msg_max_offset) == (21, 0, 20)
        assert gate.passed == []
        gate.opened.set()
        await eventually(lambda: len(gate.passed) >= 60)
    assert sorted(gate.numbers) == list(range(60))
    assert await Admin(session).offsets.find(name, queue) == 60


async def test_a_held_consumer_stops_at_its_size_and_goes_on(server: Server, session: Session, name: str) -> None:
    # Nine messages of 256 KiB are the first that are more than 2 MiB
    queue = await fill(session, name, 24, size=MIB // 4)
    gate = Gate()
    async with consumer_of(session, name, gate, replace(CONFIG, queue_max_bytes=2 * MIB)):
        held = await held_at(server, name, session.client_id, queue, 9)
        assert (held.cached_msg_count, held.cached_msg_size_in_mib, held.cached_msg_max_offset) == (9, 2, 8)
        assert gate.passed == []
        gate.opened.set()
        await eventually(lambda: len(gate.passed) >= 24)
    assert sorted(gate.numbers) == list(range(24))
    assert {len(message.body) for message in gate.passed} == {MIB // 4}


async def test_a_limit_of_the_topic_is_shared_by_its_queues(server: Server, session: Session, name: str) -> None:
    topic = f"{name}_two"
    await create_topic(session, topic, queues=2)
    async with Producer(session, "checkout") as producer:
        queues = await producer.queues(topic)
        for number in range(40):
            await producer.send(Message(topic, b"%d" % number), queue=queues[number % 2])
    gate = Gate()
    async with consumer_of(session, topic, gate, replace(CONFIG, topic_max_messages=20)):
        held = [await held_at(server, topic, session.client_id, queue, 11) for queue in queues]
        assert [each.cached_msg_count for each in held] == [11, 11]
        gate.opened.set()
        await eventually(lambda: len(gate.passed) >= 40)
    assert sorted(gate.numbers) == list(range(40))


async def test_the_java_consumer_stops_at_the_same_count(
    server: Server, session: Session, driver: Driver, name: str
) -> None:
    java = driver.push_consumer(
        server.name_server, name, {name: "*"}, consumeThreadMin=1, consumeThreadMax=1,
        pullBatchSize=1, pullThresholdForQueue=20,
    )  # fmt: skip
    java.behave("succeed", wait=HELD_MS)
    queue = await fill(session, name, 60)
    held = await held_at(server, name, java.call("buildMQClientId"), queue, 21)
    assert held.cached_msg_count == 21
    java.behave("succeed")
    await eventually(lambda: len(java.events) >= 60)
    assert sorted(int(body) for body in java.bodies) == list(range(60))
