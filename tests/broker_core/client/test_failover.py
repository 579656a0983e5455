"""Whole scenarios: brokers that restart, and brokers that never return."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import PushConfig
from broker_core.client.consumer.leases import LeasedMessage
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.producer import Producer, SendResult, SendStatus
from broker_core.protocol.message import Message, StoredMessage
from tests.support.cluster import RunningBroker, create_topic, several_brokers
from tests.support.cluster import broker_process as broker_process
from tests.support.wait import PATIENCE_SECONDS, eventually

CONFIG = PushConfig(start_from="first", pull_error_delay_ms=20, rebalance_ms=200)


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_a_client_lives_through_a_restart_of_its_broker(broker_process: RunningBroker, kill: bool) -> None:
    received: Counter[bytes] = Counter()

    async def count(message: StoredMessage) -> None:
        received[message.body] += 1

    async with broker_process.session() as session, Producer(session) as producer:
        await create_topic(session, "orders")
        consumer = PushConsumer(session, "billing", count, CONFIG)
        consumer.subscribe("orders")
        async with consumer:
            # Given a message that was sent
            await producer.send(Message("orders", b"before"))
            await eventually(lambda: received[b"before"])
            await eventually(lambda: len(broker_process.log.read_bytes()))
            # When the broker comes back while a message is being sent
            restarting = asyncio.ensure_future(asyncio.to_thread(broker_process.restart, kill=kill))
            await eventually(lambda: broker_process.process is None or restarting.done())
            outcomes = [await producer.send_many([Message("orders", b"during")], timeout_ms=500)]
            await restarting
            # Then sending and consuming continue
            result = await producer.send(Message("orders", b"after"), timeout_ms=10_000)
            assert result.status is SendStatus.SEND_OK
            await eventually(lambda: received[b"after"])
            if isinstance(outcomes[0][0], SendResult):
                await eventually(lambda: received[b"during"])


async def test_leases_survive_a_restart(broker_process: RunningBroker) -> None:
    async with broker_process.session() as session, Producer(session) as producer:
        await create_topic(session, "orders", queues=1)
        consumer = LeaseConsumer(session, "billing")
        await producer.send_batch("orders", [Message("orders", b"done"), Message("orders", b"not done")])
        done, _ = (await consumer.receive("orders", lease_ms=2_000)).messages
        await consumer.ack(done.receipt)

        await asyncio.to_thread(broker_process.restart)

        messages: list[LeasedMessage] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not messages:
                messages = (await consumer.receive("orders", wait_ms=1_000)).messages
        assert [leased.message.body for leased in messages] == [b"not done"]


async def test_two_brokers_are_one_cluster(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as cluster, cluster.session() as session, Producer(session) as producer:
        admin = Admin(session)
        await create_topic(session, "orders", queues=2)

        # Messages are sent to both
        results = [await producer.send(Message.create("orders", str(n).encode(), keys=["k"])) for n in range(8)]
        assert set(Counter(result.queue for result in results).values()) == {2}

        # Both answer requests
        assert (await admin.topics.get("orders")).brokers == ("broker-a", "broker-b")
        assert (await admin.topics.stats("orders")).messages == 8
        found = await admin.messages.search("orders", "k")
        assert {placed.broker_name for placed in found.messages} == {"broker-a", "broker-b"}
        first = await admin.messages.browse("orders", limit=5)
        rest = await admin.messages.browse("orders", positions=first.positions)
        browsed = [placed.message for placed in first.messages + rest.messages]
        assert sorted(int(message.body) for message in browsed) == list(range(8))
        times = [message.store_timestamp for message in browsed]
        assert times == sorted(times, reverse=True)

        # One lease consumer reads both, and acknowledges where each message is
        consumer = LeaseConsumer(session, "leasing")
        leased = (await consumer.receive("orders", max_messages=32, wait_ms=2_000)).messages
        assert sorted(int(each.message.body) for each in leased) == list(range(8))
        for each in leased:
            await consumer.ack(each.receipt)
        assert (await admin.groups.consume_stats("leasing", topic="orders")).lag == 0

        # One push consumer reads both
        received: list[bytes] = []

        async def keep(message: StoredMessage) -> None:
            received.append(message.body)

        push = PushConsumer(session, "pushing", keep, CONFIG)
        push.subscribe("orders")
        async with push:
            await eventually(lambda: len(received) == 8)


async def test_a_lease_consumer_waits_at_all_brokers(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as cluster, cluster.session() as session, Producer(session) as producer:
        await create_topic(session, "orders", queues=1)
        queues = await producer.queues("orders")
        for queue in queues:
            waiting = asyncio.ensure_future(LeaseConsumer(session, "billing").receive("orders", wait_ms=60_000))
            await asyncio.sleep(0.05)

            await producer.send(Message("orders", queue.broker_name.encode()), queue=queue)

            (leased,) = (await asyncio.wait_for(waiting, 30)).messages
            assert leased.message.body == queue.broker_name.encode()


async def test_when_a_broker_goes_the_other_takes_over(tmp_path: Path) -> None:
    async with several_brokers(tmp_path) as cluster, cluster.session() as session, Producer(session) as producer:
        await create_topic(session, "orders", queues=2)
        await producer.send(Message("orders", b"x"))

        await cluster.stop("broker-a")
        outcomes = await producer.send_many([Message("orders", b"x")] * 20)

        assert all(isinstance(outcome, SendResult) for outcome in outcomes)
        assert {outcome.queue.broker_name for outcome in outcomes if isinstance(outcome, SendResult)} == {"broker-b"}
        stats = await Admin(session).topics.stats("orders")
        assert stats.messages >= 20
        (received,) = [await LeaseConsumer(session, "billing").receive("orders", wait_ms=1_000)]
        assert received.messages
