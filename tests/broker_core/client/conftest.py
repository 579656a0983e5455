"""The real broker for tests of the client: one process for all, and a session on each test's own loop."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest

from broker_core.client.admin import Admin
from broker_core.client.producer import Producer, SendResult
from broker_core.client.session import Session
from broker_core.clock import now_ms
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.message import Message
from tests.support.cluster import RunningBroker, create_topic, started_broker

_numbers = itertools.count(1)


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """The broker; tests use topics and groups of their own."""
    with started_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@dataclass
class Live:
    """What a test needs to communicate with the broker."""

    running: RunningBroker
    session: Session
    admin: Admin
    producer: Producer

    async def topic(self, *, queues: int = 4, perm: int = 6) -> str:
        """Create a topic for this test alone."""
        name = f"topic-{next(_numbers)}"
        await create_topic(self.session, name, queues=queues, perm=perm)
        return name

    def group(self) -> str:
        """Return a group name for this test alone."""
        return f"group-{next(_numbers)}"

    async def send(self, topic: str, *bodies: str, tag: str | None = None, key: str = "k") -> list[SendResult]:
        """Send one message for each body, one after the other."""
        messages = [Message.create(topic, body.encode(), keys=[key], tag=tag) for body in bodies]
        return [await self.producer.send(message) for message in messages]

    async def send_damaged(self, topic: str, *, properties: str = "KEYS\x01k") -> None:
        """Send what every client may send, to queue 0: a body that is not compressed though its sys flag says so."""
        header = SendMessageV2Request(topic, 0, flags.COMPRESSED, now_ms(), 0, "checkout", properties=properties)
        await self.session.call(self.running.address, header, b"hello")

    async def holds(self, topic: str, count: int) -> bool:
        """Return whether the topic exists and has `count` messages."""
        return topic in await self.admin.topics.names() and (await self.admin.topics.stats(topic)).messages == count


@pytest.fixture
async def live(running: RunningBroker) -> AsyncIterator[Live]:
    """A session with a producer and administration."""
    async with running.session() as session, Producer(session, "checkout") as producer:
        yield Live(running, session, Admin(session), producer)
