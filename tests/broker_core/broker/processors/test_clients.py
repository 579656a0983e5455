"""Live clients over real sockets: members, notifications, queue locks."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker import Periods
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    ConsumeType,
    GetConsumerListByGroupResponseBody,
    HeartbeatData,
    MessageModel,
    SubscriptionData,
)
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody, UnlockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import VERSION, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import clients as headers
from broker_core.protocol.headers.groups import CreateSubscriptionGroupRequest
from tests.support.broker import Wire, another_client, started
from tests.support.wait import eventually

QUEUES = [MessageQueue("orders", "broker-a", queue_id) for queue_id in range(2)]


async def members(wire: Wire, group: str = "billing") -> list[str]:
    answer = await wire.ask(headers.GetConsumerListByGroupRequest(group))
    if answer.code != ResponseCode.SUCCESS:
        return []
    return bodies.decode(GetConsumerListByGroupResponseBody, answer.body).consumer_id_list


def notifications_of(wire: Wire) -> int:
    return sum(push.code == RequestCode.NOTIFY_CONSUMER_IDS_CHANGED for push in wire.pushed)


# -- heartbeats


async def beat_shortly(wire: Wire, fingerprint: int, group: str = "billing") -> headers.HeartBeatResponse:
    """Send a heartbeat that leaves out the subscriptions, as clients of 5.x do, and return the answer."""
    consumer = ConsumerData(group, ConsumeType.CONSUME_PASSIVELY, MessageModel.CLUSTERING)
    data = HeartbeatData("one", [], [consumer], fingerprint, True)
    return (await wire.ask(headers.HeartBeatRequest(), bodies.encode(data))).header(headers.HeartBeatResponse)


async def beat_fully(wire: Wire, fingerprint: int) -> Command:
    consumer = ConsumerData(
        "billing", ConsumeType.CONSUME_PASSIVELY, MessageModel.CLUSTERING, None, [SubscriptionData("orders")]
    )
    data = HeartbeatData("one", [], [consumer], fingerprint, False)
    return await wire.ask(headers.HeartBeatRequest(), bodies.encode(data))


async def test_a_short_heartbeat_keeps_what_the_full_one_said(wire: Wire) -> None:
    full = (await beat_fully(wire, 7)).header(headers.HeartBeatResponse)
    short = await beat_shortly(wire, 7)

    assert (full, short) == (headers.HeartBeatResponse(True, False), headers.HeartBeatResponse(True, False))
    group = wire.broker.components.clients.find_consumers("billing")
    assert group is not None
    assert list(group.subscriptions) == ["orders"]
    assert notifications_of(wire) == 1


async def test_a_short_heartbeat_that_the_broker_cannot_complete_asks_for_a_full_one(wire: Wire) -> None:
    assert (await beat_shortly(wire, 7)).must_repeat
    assert await members(wire) == []

    await beat_fully(wire, 7)
    other = another_client(wire)

    assert (await beat_shortly(other, 7)).must_repeat, "from another connection"
    await eventually(lambda: notifications_of(wire) == 2)
    for _ in range(2):
        assert (await beat_shortly(wire, 8)).must_repeat, "with another number"
    await other.client.close()


async def test_other_clients_are_not_told_of_short_heartbeats(wire: Wire) -> None:
    assert (await wire.heartbeat("one", group="billing", topics={"orders": "*"})).ext_fields == {}


async def test_a_heartbeat_makes_group_retry_topic_and_member(wire: Wire) -> None:
    answer = await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    assert (answer.code, answer.version) == (ResponseCode.SUCCESS, VERSION)
    assert wire.broker.components.groups.find("billing") == SubscriptionGroupConfig("billing")
    assert wire.broker.components.topics.get("%RETRY%billing").read_queue_nums == 1
    assert await members(wire) == ["one"]


async def beat_as(wire: Wire, *groups: str) -> Command:
    consumers = [
        ConsumerData(
            group, ConsumeType.CONSUME_PASSIVELY, MessageModel.CLUSTERING, None, [SubscriptionData("orders", "*")]
        )
        for group in groups
    ]
    return await wire.ask(headers.HeartBeatRequest(), bodies.encode(HeartbeatData("one", [], consumers)))


@pytest.mark.parametrize("length", [121, 255])
async def test_a_group_whose_retry_topic_would_have_too_long_a_name_consumes_all_the_same(
    wire: Wire, length: int
) -> None:
    group = "g" * length

    answer = await beat_as(wire, group)

    assert answer.code == ResponseCode.SUCCESS, answer.remark
    assert await members(wire, group) == ["one"]
    await wire.fill("orders", b"first")
    assert await wire.pull("orders", 0, group=group, sys_flag=0)


@pytest.mark.parametrize("refused", ["g" * 256, "no group"])
async def test_a_group_that_is_refused_keeps_no_other_group_of_its_heartbeat_out(wire: Wire, refused: str) -> None:
    answer = await beat_as(wire, "before", refused, "after")

    assert answer.code != ResponseCode.SUCCESS
    assert await members(wire, "before") == await members(wire, "after") == ["one"]
    assert await members(wire, refused) == []


async def test_all_members_including_the_new_one_are_notified_before_the_heartbeat_is_answered(wire: Wire) -> None:
    other = another_client(wire)
    await other.heartbeat("one", group="billing", topics={"orders": "*"})
    assert notifications_of(other) == 1

    await wire.heartbeat("two", group="billing", topics={"orders": "*"})

    assert notifications_of(wire) == 1
    await eventually(lambda: notifications_of(other) == 2)
    assert sorted(await members(wire)) == ["one", "two"]
    await other.client.close()


async def test_a_repeated_heartbeat_notifies_no_member_and_another_set_of_topics_does(wire: Wire) -> None:
    for topics, expected in (({"orders": "*"}, 1), ({"orders": "a"}, 1), ({"orders": "a", "bills": "*"}, 2)):
        await wire.heartbeat("one", group="billing", topics=topics, version=5)
        assert notifications_of(wire) == expected


async def test_a_group_can_opt_out_of_notifications(wire: Wire) -> None:
    config = SubscriptionGroupConfig("billing", notify_consumer_ids_changed_enable=False)
    await wire.ask(CreateSubscriptionGroupRequest(), bodies.encode(config))

    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    assert notifications_of(wire) == 0


async def test_a_client_that_connects_again_is_listed_once(wire: Wire) -> None:
    other = another_client(wire)
    await other.heartbeat("one", group="billing", topics={"orders": "*"})
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    assert await members(wire) == ["one"]
    await other.client.close()


async def test_the_others_are_notified_when_a_client_is_gone(wire: Wire) -> None:
    other = another_client(wire)
    await other.heartbeat("one", group="billing", topics={"orders": "*"})
    await wire.heartbeat("two", group="billing", topics={"orders": "*"})
    before = notifications_of(wire)

    await other.client.close()

    await eventually(lambda: notifications_of(wire) == before + 1)
    assert await members(wire) == ["two"]


async def test_a_client_can_leave_its_groups(wire: Wire) -> None:
    await wire.heartbeat("one", group="billing", topics={"orders": "*"}, producer_group="checkout")

    await wire.ask(headers.UnregisterClientRequest("one", "checkout", "billing"))

    assert await members(wire) == []
    assert wire.broker.components.clients.producers.of_group("checkout") == {}


async def test_a_silent_client_is_cut_off(tmp_path: Path) -> None:
    async with started(tmp_path, periods=Periods(client_scan=20, client_expiry=100)) as wire:
        await wire.heartbeat("one", group="billing", topics={"orders": "*"})
        await eventually(lambda: wire.broker.components.clients.find_consumers("billing") is None)


async def test_a_group_without_members_has_no_list(wire: Wire) -> None:
    answer = await wire.ask(headers.GetConsumerListByGroupRequest("billing"))

    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "no consumer for this group, billing")


async def test_a_heartbeat_that_cannot_be_read_is_refused(wire: Wire) -> None:
    answer = await wire.ask(headers.HeartBeatRequest(), b'{"clientID":"one","consumerDataSet":null}')

    assert answer.code == ResponseCode.SYSTEM_ERROR


# -- locks


async def lock(wire: Wire, client_id: str) -> list[MessageQueue]:
    body = bodies.encode(LockBatchRequestBody("billing", client_id, QUEUES))
    answer = await wire.ask(headers.LockBatchMqRequest(), body)
    return bodies.decode(LockBatchResponseBody, answer.body).lock_ok_mq_set


async def test_a_queue_is_locked_by_one_client_until_it_lets_go(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    assert await lock(wire, "one") == QUEUES
    assert await lock(wire, "two") == []

    await wire.ask(headers.UnlockBatchMqRequest(), bodies.encode(UnlockBatchRequestBody("billing", "one", QUEUES[:1])))

    assert await lock(wire, "two") == QUEUES[:1]


async def test_queues_that_the_broker_does_not_have_are_not_locked(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    other = [MessageQueue("orders", "broker-b", 0), MessageQueue("bills", "broker-a", 0)]
    wanted = [*QUEUES, *(MessageQueue("orders", "broker-a", queue_id) for queue_id in (-1, 2, 200_000)), *other]
    body = bodies.encode(LockBatchRequestBody("billing", "one", wanted))

    answer = await wire.ask(headers.LockBatchMqRequest(), body)

    assert bodies.decode(LockBatchResponseBody, answer.body).lock_ok_mq_set == QUEUES
    assert len(wire.broker.components.locks) == 2


# -- checking subscriptions


@pytest.mark.parametrize(
    ("expression_type", "expression", "code"),
    [
        ("TAG", "a || b", ResponseCode.SUCCESS),
        ("TAG", "||", ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        ("SQL92", "a > 1", ResponseCode.SUCCESS),
        ("SQL92", "a > 'x'", ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        ("XPATH", "a", ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_a_subscription_is_judged(wire: Wire, expression_type: str, expression: str, code: ResponseCode) -> None:
    body = CheckClientRequestBody("one", "billing", SubscriptionData("orders", expression, expression_type))

    assert (await wire.ask(headers.CheckClientConfigRequest(), bodies.encode(body))).code == code
