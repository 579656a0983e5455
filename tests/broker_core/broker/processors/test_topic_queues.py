"""The queues of a topic according to the name servers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from broker_core.broker.processors.topic_queues import FRESH_MS, TopicQueues
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import QueueData, TopicRouteData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting import Dispatch, RemotingClient, Server
from broker_core.remoting.connection import Connection

QUEUES = (MessageQueue("orders", "a", 0), MessageQueue("orders", "a", 1), MessageQueue("orders", "b", 0))


class Setup:
    """A name server that counts its requests, and a clock."""

    def __init__(self) -> None:
        self.asked = 0
        self.now = 0
        self.answer = Command.response(
            ResponseCode.SUCCESS,
            body=bodies.encode(
                TopicRouteData(
                    queue_datas=[QueueData("b", 1, 1, 4), QueueData("a", 2, 2, 6), QueueData("write-only", 4, 4, 2)]
                )
            ),
        )
        dispatch = Dispatch()
        dispatch.register(RequestCode.GET_ROUTEINFO_BY_TOPIC, self._route)
        self.server = Server(dispatch, host="127.0.0.1", port=0)
        self.client = RemotingClient()

    def _route(self, _request: Command, _: Connection) -> Command:
        self.asked += 1
        return self.answer

    def queues(self, *first: str) -> TopicQueues:
        return TopicQueues([*first, f"127.0.0.1:{self.server.port}"], self.client, lambda: self.now)


@pytest.fixture
async def around() -> AsyncIterator[Setup]:
    around = Setup()
    await around.server.start()
    yield around
    await around.client.close()
    await around.server.close()


async def test_readable_queues_of_all_brokers_are_reported_in_order(around: Setup) -> None:
    assert await around.queues().find("orders") == QUEUES


async def test_members_that_ask_within_moments_are_answered_by_one_question(around: Setup) -> None:
    queues = around.queues()

    for around.now in (0, FRESH_MS - 1):
        await queues.find("orders")
    assert around.asked == 1
    around.now = FRESH_MS
    await queues.find("orders")
    assert around.asked == 2


async def test_a_name_server_that_is_gone_is_passed_over(around: Setup) -> None:
    assert await around.queues("127.0.0.1:1").find("orders") == QUEUES


async def test_what_was_known_holds_while_no_name_server_answers(around: Setup) -> None:
    queues = around.queues()
    await queues.find("orders")
    await around.server.close()

    around.now = FRESH_MS

    assert await queues.find("orders") == QUEUES
    assert await queues.find("invoices") is None


async def test_a_topic_that_no_name_server_knows_has_no_queues(around: Setup) -> None:
    around.answer = Command.response(ResponseCode.TOPIC_NOT_EXIST)

    assert await around.queues().find("orders") is None
