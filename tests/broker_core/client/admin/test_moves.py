"""Requirements of moving a group: at brokers that take connected members along, and at those that cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.errors import MembersConnected, Unreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import ABILITIES_KEY, RESETS_QUEUES, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import ResetOffsetRequest, UpdateConsumerOffsetRequest
from tests.support.scripted import Cluster, hang_up, scripted_cluster, succeed

STORE, RESET = RequestCode.UPDATE_CONSUMER_OFFSET, RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
FIRST, SECOND = MessageQueue("orders", "broker-a", 0), MessageQueue("orders", "broker-a", 1)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders", queues=2)
        for code in (STORE, RESET):
            cluster["broker-a"].on(code, succeed())
        yield cluster


@pytest.fixture
async def admin(cluster: Cluster) -> AsyncIterator[Admin]:
    async with Session(ClientConfig([cluster.name_server.addr])) as session:
        yield Admin(session)


def is_of(cluster: Cluster, **figures: str) -> None:
    """Let the broker report these figures."""
    table = coder.encode(KVTable(figures))
    runtime = succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=table))
    cluster["broker-a"].on(RequestCode.GET_BROKER_RUNTIME_INFO, runtime)


@pytest.mark.parametrize(
    "figures", [{"brokerVersionDesc": "V5_3_3"}, {"brokerVersionDesc": "V4_9_8", ABILITIES_KEY: RESETS_QUEUES}]
)
async def test_a_broker_that_can_takes_the_members_along(
    cluster: Cluster, admin: Admin, figures: dict[str, str]
) -> None:
    is_of(cluster, **figures)
    answers = await admin.offsets.move("billing", {FIRST: 7, SECOND: 9}, members=["client-1"])
    assert not answers.failed
    asked = [each.header(ResetOffsetRequest) for each in cluster["broker-a"].asked(RESET)]
    assert sorted((each.queue_id, each.offset) for each in asked) == [(0, 7), (1, 9)]
    assert not cluster["broker-a"].asked(STORE)


async def test_elsewhere_the_offsets_are_stored_if_nobody_is_connected(cluster: Cluster, admin: Admin) -> None:
    is_of(cluster, brokerVersionDesc="V4_9_7")
    answers = await admin.offsets.move("billing", {FIRST: 7}, members=[])
    assert not answers.failed
    [stored] = [each.header(UpdateConsumerOffsetRequest) for each in cluster["broker-a"].asked(STORE)]
    assert (stored.queue_id, stored.commit_offset) == (0, 7)
    assert not cluster["broker-a"].asked(RESET), "4.9 would move every queue of the topic"


async def test_elsewhere_connected_members_are_in_the_way(cluster: Cluster, admin: Admin) -> None:
    is_of(cluster, brokerVersionDesc="V4_9_7")
    answers = await admin.offsets.move("billing", {FIRST: 7}, members=["client-1"])
    assert [type(each) for each in answers.failed.values()] == [MembersConnected]
    assert not cluster["broker-a"].asked(STORE)
    assert not cluster["broker-a"].asked(RESET)


@pytest.mark.parametrize(
    ("figures", "code"), [({ABILITIES_KEY: RESETS_QUEUES}, RESET), ({"brokerVersionDesc": "V4_9_7"}, STORE)]
)
async def test_a_broker_that_does_not_answer_keeps_no_other_from_moving(
    cluster: Cluster, admin: Admin, figures: dict[str, str], code: RequestCode
) -> None:
    is_of(cluster, **figures)
    cluster["broker-b"].on(RequestCode.GET_BROKER_RUNTIME_INFO, hang_up())
    answers = await admin.offsets.move("billing", {FIRST: 7, MessageQueue("orders", "broker-b", 0): 8}, members=[])
    assert list(answers.found) == ["orders@broker-a@0"]
    assert {name: type(error) for name, error in answers.failed.items()} == {"orders@broker-b@0": Unreachable}
    assert len(cluster["broker-a"].asked(code)) == 1
