"""Locks of queues: our own, and those of other members."""

from __future__ import annotations

from broker_core.client.config import ClientConfig
from broker_core.client.consumer.orderly import QueueLocks
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from tests.broker_core.client.conftest import Live


async def test_a_queue_that_another_member_has_is_refused_until_it_is_given_back(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    one, two = (MessageQueue(topic, "broker-a", n) for n in range(2))
    mine = QueueLocks(live.session, group)
    async with Session(ClientConfig([live.running.name_server])) as other:
        await other.routes.get(topic)
        await live.session.routes.get(topic)
        theirs = QueueLocks(other, group)
        assert await theirs.lock([one]) == {one}

        assert await mine.renew([one, two]) == ({two}, {one})

        await theirs.unlock([one])
        assert await theirs.lock([two]) == set()  # one connection: earlier requests are handled first
        assert await mine.lock([one, two]) == {one, two}


async def test_a_broker_that_says_nothing_refuses_nothing(live: Live) -> None:
    gone = MessageQueue("orders", "broker-gone", 0)

    assert await QueueLocks(live.session, live.group()).renew([gone]) == (set(), set())
