"""Several name servers and brokers on one machine under one cluster name, Gantry's and Apache RocketMQ's together.

Both brokers are registered at both name servers: Apache's broker at Gantry's name server, and the reverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ProducerConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.faults import FaultAvoidance
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import Message, StoredMessage
from tests.compat.driver import Driver, JavaObject
from tests.compat.java_values import JavaMessage
from tests.compat.mixed import BROKERS, Mixed, started_mixed
from tests.support.cluster import create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

CONFIG = PushConfig(start_from="first", rebalance_ms=500, rebalance_again_ms=200)
by_either = pytest.mark.parametrize("kind", ["gantry", "apache"])


@pytest.fixture(scope="module")
def mixed(_java_build: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mixed]:
    """The cluster that the tests of this file share; who ends a part of it starts it again."""
    with started_mixed(tmp_path_factory.mktemp("mixed")) as mixed:
        yield mixed


async def make_topic(session: Session, topic: str, *, queues: int = 4) -> None:
    """Create a topic on both brokers, and wait until the name server tells of both."""
    await create_topic(session, topic, queues=queues)

    async def has_both() -> bool:
        return set((await session.routes.refresh(topic)).masters) == set(BROKERS)

    await eventually(has_both)


def brokers_of(producer: JavaObject, topic: str, count: int) -> Counter[str]:
    """Have the Java producer send messages, and count which broker each went to."""
    results = [producer.call("send", JavaMessage(topic, b"java")) for _ in range(count)]
    assert {result["status"] for result in results} == {"SEND_OK"}
    return Counter(result["queue"]["brokerName"] for result in results)


async def masters(mixed: Mixed, kind: str) -> set[str]:
    """Return the brokers that one name server tells of."""
    async with mixed.session(mixed.name_server(kind)) as session:
        return {broker.name for broker in await Admin(session).clusters.brokers()}


@by_either
async def test_either_name_server_tells_of_both_brokers(mixed: Mixed, driver: Driver, kind: str, name: str) -> None:
    names = mixed.name_server(kind)
    assert await masters(mixed, kind) == set(BROKERS)
    printed = driver.mqadmin("clusterList", "-n", names)
    assert mixed.gantry.address in printed
    assert mixed.apache.address in printed
    topic = f"{name}_{kind}"
    async with mixed.session(names) as session:
        await make_topic(session, topic, queues=2)
        addresses = [mixed.gantry.address, mixed.apache.address]
        assert (await session.routes.refresh(topic)).masters == dict(zip(BROKERS, addresses, strict=True))
    printed = driver.mqadmin("topicRoute", "-n", names, "-t", topic)
    assert all(broker in printed for broker in BROKERS)


@by_either
async def test_producers_and_consumers_use_both_brokers(mixed: Mixed, driver: Driver, kind: str, name: str) -> None:
    topic, names = f"{name}_{kind}", mixed.name_server(kind)
    received: list[StoredMessage] = []

    async def keep(message: StoredMessage) -> None:
        received.append(message)

    # Under load a broker answers slowly at times: like the Java client, ours must not turn away from it then
    going_round = ProducerConfig(fault_avoidance=FaultAvoidance.OFF)
    async with mixed.session(names) as session, Producer(session, config=going_round) as producer:
        await make_topic(session, topic, queues=2)
        # Each producer goes round the four queues of both brokers
        ours = Counter([(await producer.send(Message(topic, b"ours"))).queue.broker_name for _ in range(8)])
        java = brokers_of(driver.producer(names), topic, 8)
        assert ours == dict.fromkeys(BROKERS, 4)
        assert set(java) == set(BROKERS)  # each of its threads goes round on its own
        # And each consumer reads from both
        consumer = driver.push_consumer(names, f"{topic}_java", {topic: "*"})
        push = PushConsumer(session, f"{topic}_ours", keep, CONFIG)
        push.subscribe(topic)
        async with push:
            await eventually(lambda: len(received) == 16)
            await eventually(lambda: len(consumer.received) == 16)
        assert Counter(message.body for message in received) == {b"ours": 8, b"java": 8}
        assert Counter(message.queue.broker for message in consumer.received) == ours + java


@by_either
async def test_a_java_and_a_gantry_member_share_the_queues_of_a_group(
    mixed: Mixed, driver: Driver, kind: str, name: str
) -> None:
    topic, names = f"{name}_{kind}", mixed.name_server(kind)
    received: list[bytes] = []

    async def keep(message: StoredMessage) -> None:
        received.append(message.body)

    async with mixed.session(names) as session, Producer(session) as producer:
        await make_topic(session, topic, queues=2)
        java = driver.push_consumer(names, topic, {topic: "*"})
        push = PushConsumer(session, topic, keep, CONFIG)
        push.subscribe(topic)
        async with push:

            def ours() -> list[MessageQueue]:
                return [queue for queue in push.assigned if queue.topic == topic]

            def theirs() -> list[tuple[str, str, int]]:
                return [queue for queue in java.queues() if queue[0] == topic]

            await eventually(lambda: len(ours()) == 2 and len(theirs()) == 2)
            for number in range(20):
                await producer.send(Message(topic, str(number).encode()))
            await eventually(lambda: {int(body) for body in [*received, *java.bodies]} == set(range(20)))
            assert received
            assert java.bodies
            # The Java member goes: ours takes its queues over
            java.shutdown()
            await eventually(lambda: len(ours()) == 4)


async def test_a_name_server_may_go(mixed: Mixed, driver: Driver, name: str) -> None:
    java = driver.producer(mixed.names, pollNameServerInterval=500)
    async with mixed.session(mixed.names) as session, Producer(session) as producer:
        await make_topic(session, name)
        await producer.send(Message(name, b"x"))
        brokers_of(java, name, 1)
        for end, begin in (
            (mixed.gantry_names.stop, mixed.gantry_names.start),
            (lambda: mixed.apache_names.stop(kill=True), mixed.apache_names.start),
        ):
            end()
            # Routes in use stay, and new ones come from the other name server
            assert {(await producer.send(Message(name, b"x"))).queue.broker_name for _ in range(8)} == set(BROKERS)
            assert set(brokers_of(java, name, 8)) == set(BROKERS)
            async with mixed.session(mixed.names) as newcomer:
                assert set((await newcomer.routes.get(name)).masters) == set(BROKERS)
            begin()
            # One that starts anew knows nobody until they register
            await eventually(lambda: _both_know(mixed))
            await _wait_for_brokers(session, name, set(BROKERS))
            await eventually(lambda: set(brokers_of(java, name, 8)) == set(BROKERS))


async def _both_know(mixed: Mixed) -> bool:
    return await masters(mixed, "gantry") == await masters(mixed, "apache") == set(BROKERS)


async def test_a_broker_may_go_and_come_back(mixed: Mixed, driver: Driver, name: str) -> None:
    received: list[bytes] = []

    async def keep(message: StoredMessage) -> None:
        received.append(message.body)

    java = driver.producer(mixed.names, pollNameServerInterval=500)
    async with mixed.session(mixed.names) as session:
        await make_topic(session, name)
        push = PushConsumer(session, name, keep, replace(CONFIG, pull_error_delay_ms=100))
        push.subscribe(name)
        async with push, Producer(session, config=ProducerConfig(timeout_ms=10_000)) as producer:
            await _wait_for_brokers(session, name, set(BROKERS))
            for going, staying in ((mixed.apache, BROKERS[0]), (mixed.gantry, BROKERS[1])):
                going.server.stop(kill=True) if going is mixed.apache else going.stop(kill=True)
                # Every message finds its way at once, and the name servers tell of the change
                wanted = {f"{staying} {n}".encode() for n in range(8)}
                sent = [await producer.send(Message(name, body)) for body in sorted(wanted)]
                assert {result.queue.broker_name for result in sent} == {staying}
                assert set(brokers_of(java, name, 8)) == {staying}
                await _wait_for_brokers(session, name, {staying})
                await eventually(lambda wanted=wanted: wanted <= set(received))
                # It comes back and is used again
                going.start()
                await _wait_for_brokers(session, name, set(BROKERS))
                await eventually(lambda: len({queue.broker_name for queue in push.assigned}) == 2)
                await eventually(lambda: set(brokers_of(java, name, 8)) == set(BROKERS))
                await eventually(lambda: _uses_both(producer, name))


async def _uses_both(producer: Producer, topic: str) -> bool:
    return {(await producer.send(Message(topic, b"x"))).queue.broker_name for _ in range(8)} == set(BROKERS)


async def _wait_for_brokers(session: Session, topic: str, brokers: set[str]) -> None:
    """Wait until the client's route names exactly these brokers, without being asked for it."""

    def names_them() -> bool:
        route = session.routes.find(topic)
        return route is not None and set(route.masters) == brokers

    await eventually(names_them)
