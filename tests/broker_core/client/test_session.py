"""The parts of a session that all its users share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from broker_core.client.config import ClientConfig
from broker_core.client.errors import BrokerRefused, ClientClosed, TimedOut, TopicNotFound, Unreachable
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.heartbeat import HeartbeatData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest, GetMaxOffsetResponse
from tests.support.scripted import Cluster, hang_up, refuse, say_nothing, scripted_cluster, succeed
from tests.support.wait import eventually

QUESTION = GetMaxOffsetRequest("orders", 0)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        answer = GetMaxOffsetResponse(42)
        cluster["broker-a"].on(
            RequestCode.GET_MAX_OFFSET, succeed(lambda _: Command.response(ResponseCode.SUCCESS, answer))
        )
        yield cluster


@pytest.fixture
async def session(cluster: Cluster) -> AsyncIterator[Session]:
    async with Session(ClientConfig([cluster.name_server.addr], timeout_ms=2_000)) as session:
        yield session


async def test_a_call_returns_the_answer(cluster: Cluster, session: Session) -> None:
    answer = await session.call(cluster["broker-a"].addr, QUESTION)

    assert answer.header(GetMaxOffsetResponse).offset == 42


async def test_a_refusal_is_raised(cluster: Cluster, session: Session) -> None:
    cluster["broker-a"].on(RequestCode.GET_MAX_OFFSET, refuse(ResponseCode.SYSTEM_ERROR, "no"))

    with pytest.raises(BrokerRefused, match="no"):
        await session.call(cluster["broker-a"].addr, QUESTION)


async def test_an_address_without_a_listener_is_unreachable_and_nothing_was_sent(session: Session) -> None:
    with pytest.raises(Unreachable) as caught:
        await session.call("127.0.0.1:1", QUESTION)

    assert not caught.value.was_sent


async def test_no_answer_in_time_is_a_time_out(cluster: Cluster, session: Session) -> None:
    cluster["broker-a"].on(RequestCode.GET_MAX_OFFSET, say_nothing())

    with pytest.raises(TimedOut):
        await session.call(cluster["broker-a"].addr, QUESTION, timeout_ms=50)


async def test_a_broken_connection_leaves_open_what_happened(cluster: Cluster, session: Session) -> None:
    cluster["broker-a"].on(RequestCode.GET_MAX_OFFSET, hang_up())

    with pytest.raises(Unreachable) as caught:
        await session.call(cluster["broker-a"].addr, QUESTION)

    assert caught.value.was_sent


async def test_a_connection_without_any_answer_is_reopened(cluster: Cluster, session: Session) -> None:
    broker = cluster["broker-a"]
    broker.on(RequestCode.GET_MAX_OFFSET, say_nothing())
    for _ in range(3):
        with pytest.raises(TimedOut):
            await session.call(broker.addr, QUESTION, timeout_ms=500)
    broker.on(RequestCode.GET_MAX_OFFSET, succeed(lambda _: Command.response(ResponseCode.SUCCESS)))

    await session.call(broker.addr, QUESTION)

    assert len(broker.connections) == 2


async def test_the_next_name_server_is_asked_when_one_is_gone(cluster: Cluster) -> None:
    config = ClientConfig(["127.0.0.1:1", cluster.name_server.addr])
    async with Session(config) as session:
        assert (await session.routes.get("orders")).read_queues
        assert (await session.routes.refresh("orders")).read_queues
    with pytest.raises(Unreachable):
        async with Session(ClientConfig(["127.0.0.1:1", "127.0.0.1:2"])) as session:
            await session.routes.get("orders")


async def test_an_unknown_topic_has_no_route(session: Session) -> None:
    with pytest.raises(TopicNotFound):
        await session.routes.get("bills")


async def test_a_broker_is_found_without_a_route(cluster: Cluster, session: Session) -> None:
    assert await session.master_of("broker-a") == cluster["broker-a"].addr
    assert await session.master_of("broker-z") is None


async def test_a_producer_is_made_known_as_soon_as_its_broker_is(cluster: Cluster, session: Session) -> None:
    async with Producer(session, "checkout"):
        await session.routes.get("orders")
        await eventually(lambda: cluster["broker-a"].asked(RequestCode.HEART_BEAT))

    heartbeat = coder.decode(HeartbeatData, cluster["broker-a"].asked(RequestCode.HEART_BEAT)[0].body)
    assert heartbeat.client_id == session.client_id
    assert [producer.group_name for producer in heartbeat.producer_data_set] == ["checkout"]
    (left,) = cluster["broker-a"].asked(RequestCode.UNREGISTER_CLIENT)
    assert left.ext_fields == {"clientID": session.client_id, "producerGroup": "checkout"}


async def test_without_groups_there_is_no_heartbeat(cluster: Cluster, session: Session) -> None:
    await session.routes.get("orders")

    await session.heartbeat()

    assert not cluster["broker-a"].asked(RequestCode.HEART_BEAT)


async def test_heartbeats_and_routes_are_repeated(cluster: Cluster) -> None:
    config = ClientConfig([cluster.name_server.addr], heartbeat_ms=10, route_refresh_ms=10)
    async with Session(config) as session, Producer(session):
        await session.routes.get("orders")
        await eventually(lambda: len(cluster["broker-a"].asked(RequestCode.HEART_BEAT)) > 3)
        await eventually(lambda: len(cluster.name_server.asked(RequestCode.GET_ROUTEINFO_BY_TOPIC)) > 3)


async def test_a_closed_session_refuses(cluster: Cluster) -> None:
    session = Session(ClientConfig([cluster.name_server.addr]))
    with pytest.raises(ClientClosed):
        await session.call(cluster["broker-a"].addr, QUESTION)
    await session.start()
    await session.call(cluster["broker-a"].addr, QUESTION)

    await session.close()

    with pytest.raises(ClientClosed):
        await session.call(cluster["broker-a"].addr, QUESTION)


async def test_closing_does_not_wait_for_a_silent_broker(cluster: Cluster) -> None:
    cluster["broker-a"].on(RequestCode.UNREGISTER_CLIENT, say_nothing())
    session = await Session(ClientConfig([cluster.name_server.addr], timeout_ms=600_000)).start()
    producer = await Producer(session).start()
    await session.routes.get("orders")

    await producer.close()
    await session.close()
