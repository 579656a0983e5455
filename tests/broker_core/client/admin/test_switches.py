"""Administration when a broker name gets another master: the former one is not asked for half a minute more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.config import ClientConfig
from broker_core.client.errors import BrokerRefused, BrokerUnavailable, Unreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import GetMaxOffsetResponse
from broker_core.remoting.dispatch import Handler
from tests.support.scripted import Cluster, hang_up, refuse, scripted_cluster, succeed
from tests.support.stored import stored

QUEUE: Final = MessageQueue("orders", "b", 0)
ASKED: Final = RequestCode.GET_MAX_OFFSET
SLAVE: Final = "Can't modify topic or subscription group from slave broker, please execute it from master broker."


def at(offset: int) -> Handler:
    return succeed(lambda _: Command.response(0, header=GetMaxOffsetResponse(offset)))


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """Two replicas of one broker name."""
    async with scripted_cluster("first", "second") as cluster:
        cluster.list_as("b", "first", "second")
        cluster.add_topic("orders", queues=1)
        yield cluster


@pytest.fixture
async def admin(cluster: Cluster) -> AsyncIterator[Admin]:
    """A client that knows the first one as master."""
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        await session.routes.get("orders")
        yield Admin(session)


def switch(cluster: Cluster) -> None:
    cluster.list_as("b", "second")
    cluster.add_topic("orders", queues=1)


@pytest.mark.parametrize(
    "former", [hang_up(), refuse(ResponseCode.SERVICE_NOT_AVAILABLE), refuse(ResponseCode.SYSTEM_ERROR, SLAVE)]
)
async def test_the_successor_is_asked_when_the_former_master_is_away_or_none(
    cluster: Cluster, admin: Admin, former: Handler
) -> None:
    cluster["first"].on(ASKED, former)
    cluster["second"].on(ASKED, at(7))
    switch(cluster)

    assert await admin.offsets.max(QUEUE) == 7
    assert await admin.offsets.max(QUEUE) == 7
    assert len(cluster["first"].asked(ASKED)) == 1, "the route is known from then on"


async def test_a_change_is_made_by_the_successor(cluster: Cluster, admin: Admin) -> None:
    cluster["first"].on(RequestCode.UPDATE_CONSUMER_OFFSET, hang_up())
    cluster["second"].on(RequestCode.UPDATE_CONSUMER_OFFSET, succeed())
    switch(cluster)

    assert (await admin.offsets.set("billing", {QUEUE: 7})).complete


@pytest.mark.parametrize(
    ("former", "error"),
    [(hang_up(), Unreachable), (refuse(ResponseCode.SERVICE_NOT_AVAILABLE), BrokerUnavailable)],
)
async def test_without_a_successor_the_failure_stays(
    cluster: Cluster, admin: Admin, former: Handler, error: type[Exception]
) -> None:
    cluster["first"].on(ASKED, former)

    with pytest.raises(error):
        await admin.offsets.max(QUEUE)

    assert not cluster["second"].requests


async def test_another_refusal_is_final(cluster: Cluster, admin: Admin) -> None:
    cluster["first"].on(ASKED, refuse(ResponseCode.SYSTEM_ERROR, "the queue is damaged"))
    switch(cluster)

    with pytest.raises(BrokerRefused, match="damaged"):
        await admin.offsets.max(QUEUE)


async def test_a_message_is_not_handed_to_a_client_twice(cluster: Cluster, admin: Admin) -> None:
    cluster["first"].on(RequestCode.CONSUME_MESSAGE_DIRECTLY, hang_up())
    switch(cluster)

    with pytest.raises(Unreachable):
        await admin.messages.deliver(PlacedMessage(stored(), "b"), "billing", "client-1")

    assert not cluster["second"].requests
