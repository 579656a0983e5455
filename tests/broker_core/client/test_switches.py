"""A broker name that gets another master: what clients do meanwhile, and where they go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.broker import Broker
from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.offsets import BrokerOffsets
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.consumer.reader import QueueReader
from broker_core.client.consumer.subscriptions import subscription
from broker_core.client.errors import BrokerUnavailable, NoMaster, SendUncertain
from broker_core.client.producer import Producer, SendStatus
from broker_core.client.retry import FAIR_MS
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import BrokerData, QueueData, TopicRouteData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.message import Message, StoredMessage
from tests.broker_core.broker.replication.switching import unconfirmed
from tests.broker_core.client.test_producer import stored
from tests.support.replica_group import ReplicaGroup, in_sync_set, replica_group
from tests.support.scripted import Cluster, hang_up, in_turn, refuse, say_nothing, scripted_cluster, succeed
from tests.support.wait import eventually

SEND = RequestCode.SEND_MESSAGE_V2
LONG_MS = 30_000
QUEUE, QUEUE_OF_ORDERS = MessageQueue("T", "b", 0), MessageQueue("orders", "b", 0)


@asynccontextmanager
async def session_of(group: ReplicaGroup) -> AsyncIterator[Session]:
    async with Session(ClientConfig(name_servers=(group.name_server,))) as session:
        await eventually(lambda: len(in_sync_set(group.brokers[group.masters()[-1]])) == 2)
        yield session


def members(broker: Broker, group: str) -> list[str]:
    found = broker.components.clients.find_consumers(group)
    return [] if found is None else list(found.client_ids())


async def switch(group: ReplicaGroup) -> None:
    """Take the master away, and return when there is another."""
    (first,) = group.masters()
    await group.stop(first)
    await group.master()


@pytest.mark.parametrize("queue", [None, QUEUE], ids=["any queue", "its queue"])
async def test_no_send_fails_while_its_time_allows_a_switch(tmp_path: Path, queue: MessageQueue | None) -> None:
    async with replica_group(tmp_path) as group, session_of(group) as session, Producer(session) as producer:
        await producer.send(Message("T", b"before"), queue=queue)

        switching = asyncio.create_task(switch(group))
        results = []
        while not switching.done():
            results.append(await producer.send(Message("T", b"during"), timeout_ms=LONG_MS, queue=queue))
            await asyncio.sleep(0.01)
        await switching

        assert {each.status for each in results} == {SendStatus.SEND_OK}
        after = await producer.send(Message("T", b"after"), timeout_ms=LONG_MS, queue=queue)
        assert after.queue_offset >= len(results)


@pytest.mark.parametrize("queue", [None, QUEUE], ids=["any queue", "its queue"])
async def test_what_the_next_master_has_of_a_send_without_an_answer_is_not_stored_again(
    tmp_path: Path, queue: MessageQueue | None
) -> None:
    async with replica_group(tmp_path) as group, session_of(group) as session, Producer(session) as producer:
        await producer.send(Message("T", b"before"), queue=queue)
        (first,) = group.masters()
        (slave,) = group.slaves()
        end = slave.store.appended_log_offset
        with unconfirmed(group.brokers[first]):
            sending = asyncio.ensure_future(producer.send(Message("T", b"once"), timeout_ms=LONG_MS, queue=queue))
            await eventually(lambda: slave.store.appended_log_offset > end)
            await switch(group)
            sent = await sending

        assert (sent.status, sent.queue_offset) == (SendStatus.SEND_OK, 1)
        after = await producer.send(Message("T", b"after"), timeout_ms=LONG_MS, queue=queue)
        assert after.queue_offset == 2


async def test_queues_are_asked_for_while_there_is_no_master(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, session_of(group) as session, Producer(session) as producer:
        await producer.send(Message("T", b"before"))
        before = await producer.queues("T")
        route = session.routes.find("T")
        assert route is not None
        (slaves,) = route.data.broker_datas
        slaves = replace(slaves, broker_addrs={1: next(iter(slaves.broker_addrs.values()))})
        session.routes.learn(slaves)

        with pytest.raises(NoMaster, match="'b'"):
            await producer.queues("T", timeout_ms=1)
        assert await producer.queues("T", timeout_ms=LONG_MS) == before


async def test_the_new_master_is_found_without_waiting_for_the_next_poll(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        never = ClientConfig(name_servers=(group.name_server,), route_refresh_ms=3_600_000, heartbeat_ms=3_600_000)
        async with Session(never) as session, Producer(session) as producer:
            await producer.send(Message("T", b"before"))

            await switch(group)

            await producer.send(Message("T", b"after"), timeout_ms=LONG_MS)
            assert session.routes.master("b") == (await group.master()).address


async def test_a_push_consumer_goes_on_at_the_new_master(tmp_path: Path) -> None:
    seen: list[bytes] = []

    async def handle(message: StoredMessage) -> None:
        seen.append(message.body)

    async with replica_group(tmp_path) as group, session_of(group) as session, Producer(session) as producer:
        consumer = PushConsumer(session, "readers", handle, PushConfig(start_from="first"))
        consumer.subscribe("T")
        async with consumer:
            await producer.send(Message("T", b"before"))
            await eventually(lambda: b"before" in seen)

            await switch(group)
            await producer.send(Message("T", b"after"), timeout_ms=LONG_MS)

            await eventually(lambda: b"after" in seen)
            master = await group.master()
            await eventually(lambda: session.client_id in members(master, "readers"))


async def test_a_lease_consumer_waits_over_a_switch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group, session_of(group) as session, Producer(session) as producer:
        consumer = LeaseConsumer(session, "readers")
        await consumer.receive("T")
        receiving = asyncio.create_task(consumer.receive("T", wait_ms=LONG_MS))

        await switch(group)
        await producer.send(Message("T", b"after"), timeout_ms=LONG_MS)

        (leased,) = (await receiving).messages
        assert leased.message.body == b"after"
        assert await consumer.ack(leased.receipt)


# Brokers as a test says


def is_at(cluster: Cluster, *names: str) -> None:
    """Have the name server tell one broker name, whose master is the first of these and whose slaves are the others."""
    addrs = {number: cluster[name].addr for number, name in enumerate(names)}
    cluster.routes["orders"] = TopicRouteData(
        broker_datas=[BrokerData("b", "test", addrs)], queue_datas=[QueueData("b", 1, 1, 6)]
    )


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Two brokers of one name; the first one is the master."""
    async with scripted_cluster("one", "two") as cluster:
        is_at(cluster, "one", "two")
        cluster["two"].on(SEND, stored())
        yield cluster


@pytest.fixture
async def session(cluster: Cluster) -> AsyncIterator[Session]:
    async with Session(ClientConfig(name_servers=(cluster.name_server.addr,))) as session:
        yield session


async def test_a_send_leaves_a_master_that_hangs_once_there_is_another(cluster: Cluster, session: Session) -> None:
    cluster["one"].on(SEND, say_nothing())
    sending = asyncio.ensure_future(Producer(session).send(Message("orders", b"x"), timeout_ms=LONG_MS))
    await eventually(lambda: len(cluster["one"].asked(SEND)) == 1)

    is_at(cluster, "two")

    assert (await sending).status is SendStatus.SEND_OK
    assert len(cluster["one"].asked(SEND)) == len(cluster["two"].asked(SEND)) == 1


async def test_what_may_be_stored_is_not_sent_again_against_the_callers_wish(
    cluster: Cluster, session: Session
) -> None:
    cluster["one"].on(SEND, hang_up())
    is_at(cluster, "one", "two")

    with pytest.raises(SendUncertain):
        await Producer(session).send(Message("orders", b"x"), timeout_ms=LONG_MS, is_repeatable=False)

    assert cluster["two"].asked(SEND) == []


@pytest.mark.parametrize(
    ("code", "remark"),
    [
        (ResponseCode.SYSTEM_ERROR, "stored, but [NOT_CONFIRMED] not known to be on all replicas in sync"),
        (ResponseCode.SYSTEM_ERROR, "[NOT_CONFIRMED] forwarded to the master, which did not answer: closed"),
        (ResponseCode.SERVICE_NOT_AVAILABLE, "stored, but another replica is the master now"),
    ],
)
async def test_a_refusal_that_leaves_open_what_becomes_of_a_message_is_uncertain(
    cluster: Cluster, session: Session, code: int, remark: str
) -> None:
    cluster["one"].on(SEND, refuse(code, remark))

    with pytest.raises(SendUncertain, match=r"NOT_CONFIRMED|is the master now"):
        await Producer(session).send(Message("orders", b"x"), timeout_ms=LONG_MS, is_repeatable=False)

    assert len(cluster["one"].asked(SEND)) == 1


async def test_a_master_that_says_it_is_none_is_asked_until_the_route_tells_another(
    cluster: Cluster, session: Session
) -> None:
    cluster["one"].on(SEND, refuse(ResponseCode.SERVICE_NOT_AVAILABLE))
    sending = asyncio.ensure_future(Producer(session).send(Message("orders", b"x"), timeout_ms=LONG_MS))
    await eventually(lambda: len(cluster["one"].asked(SEND)) >= 4)

    is_at(cluster, "two", "one")

    assert (await sending).status is SendStatus.SEND_OK
    asked = len(cluster.name_server.asked(RequestCode.GET_ROUTEINFO_BY_TOPIC))
    assert asked <= len(cluster["one"].asked(SEND)) + 2


@pytest.mark.parametrize("queue", [None, QUEUE_OF_ORDERS], ids=["any queue", "its queue"])
async def test_a_refusal_stays_known_since_no_attempt_begins_without_time_for_an_answer(
    cluster: Cluster, session: Session, queue: MessageQueue | None
) -> None:
    """Brokers that refuse, and do not answer any more when less than half of a fair time is left."""
    timeout_ms = 3_000
    ends = time.monotonic() + (timeout_ms - FAIR_MS / 2) / 1000
    refused = refuse(ResponseCode.SERVICE_NOT_AVAILABLE)
    cluster["one"].on(SEND, lambda *asked: refused(*asked) if time.monotonic() < ends else None)

    with pytest.raises(BrokerUnavailable):
        await Producer(session).send(Message("orders", b"x"), timeout_ms=timeout_ms, queue=queue)

    assert len(cluster["one"].asked(SEND)) > 1


async def test_only_what_may_be_stored_is_called_a_repetition(cluster: Cluster, session: Session) -> None:
    cluster["one"].on(SEND, in_turn(refuse(ResponseCode.SERVICE_NOT_AVAILABLE), hang_up()))
    sending = asyncio.ensure_future(Producer(session).send(Message("orders", b"x"), timeout_ms=LONG_MS))
    await eventually(lambda: len(cluster["one"].asked(SEND)) >= 2)
    is_at(cluster, "two", "one")
    await sending

    asked = [each.ext_fields.get("gantryRepeated") for each in cluster["one"].asked(SEND)]
    assert asked[:2] == [None, None]
    assert [each.ext_fields["gantryRepeated"] for each in cluster["two"].asked(SEND)] == ["true"]


async def test_a_topic_without_master_is_waited_for(cluster: Cluster, session: Session) -> None:
    addrs = {1: cluster["one"].addr, 2: cluster["two"].addr}
    cluster.routes["orders"] = TopicRouteData(
        broker_datas=[BrokerData("b", "test", addrs)], queue_datas=[QueueData("b", 1, 1, 6)]
    )
    sending = asyncio.ensure_future(Producer(session).send(Message("orders", b"x"), timeout_ms=LONG_MS))
    await eventually(lambda: len(cluster.name_server.asked(RequestCode.GET_ROUTEINFO_BY_TOPIC)) >= 3)

    is_at(cluster, "two", "one")

    assert (await sending).status is SendStatus.SEND_OK


async def test_one_answer_tells_the_routes_of_all_topics(cluster: Cluster, session: Session) -> None:
    cluster.routes["others"] = cluster.routes["orders"]
    await session.routes.get("orders")
    await session.routes.get("others")

    is_at(cluster, "two", "one")
    await session.masters.renew("b")

    route = session.routes.find("others")
    assert route is not None
    assert route.masters == {"b": cluster["two"].addr}


async def test_an_offset_is_stored_at_the_new_master(cluster: Cluster, session: Session) -> None:
    commit = RequestCode.UPDATE_CONSUMER_OFFSET
    cluster["one"].on(commit, hang_up())
    cluster["two"].on(commit, succeed())
    await session.routes.get("orders")
    offsets = BrokerOffsets(session, "readers")
    queue = MessageQueue("orders", "b", 0)
    offsets.note(queue, 7)
    storing = asyncio.ensure_future(offsets.persist([queue]))
    await eventually(lambda: len(cluster["one"].asked(commit)) >= 1)

    is_at(cluster, "two", "one")
    await storing

    assert len(cluster["two"].asked(commit)) == 1


async def test_a_reader_asks_the_master_after_a_slave_that_hangs(cluster: Cluster, session: Session) -> None:
    """A slave that is stopped keeps its place in the routes for two minutes."""
    await session.routes.get("orders")
    cluster["one"].on(RequestCode.PULL_MESSAGE, say_nothing())
    cluster["two"].on(RequestCode.PULL_MESSAGE, hang_up())
    config = PushConfig(start_from="first", pull_error_delay_ms=20)
    reader = QueueReader(
        session,
        "readers",
        MessageQueue("orders", "b", 0),
        0,
        config=config,
        offsets=BrokerOffsets(session, "readers"),
        subscription=subscription,
        on_arrival=lambda _: None,
    )
    reader.broker_id = 1  # as a broker suggested

    reading = asyncio.ensure_future(reader.run())
    await eventually(lambda: len(cluster["one"].asked(RequestCode.PULL_MESSAGE)) == 1)

    (slaves,) = cluster["two"].asked(RequestCode.PULL_MESSAGE)
    assert slaves.header(PullMessageRequest).suspend_timeout_millis <= 1_000
    reading.cancel()
