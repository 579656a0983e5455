"""Queues that the broker assigns to a group's members, over a real socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker import BrokerLimits, TopicDefaults
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.heartbeat import MessageModel
from broker_core.protocol.bodies.pop import (
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
    SetMessageRequestModeRequestBody,
)
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.groups import DeleteSubscriptionGroupRequest
from broker_core.protocol.headers.pop import QueryAssignmentRequest, SetMessageRequestModeRequest
from broker_core.protocol.headers.topics import DeleteTopicRequest
from tests.support.broker import Wire, another_client, started

CLUSTERING = MessageModel.CLUSTERING


async def join(wire: Wire, *client_ids: str) -> list[Wire]:
    """Return members of the group with separate connections; the first is `wire` itself."""
    members = [wire, *(another_client(wire) for _ in client_ids[1:])]
    for member, client_id in zip(members, client_ids, strict=True):
        await member.heartbeat(client_id, group="billing", topics={"orders": "*"})
    return members[1:]


async def ask(
    wire: Wire, client_id: str, *, topic: str = "orders", strategy: str = "AVG", model: MessageModel = CLUSTERING
) -> Command:
    body = QueryAssignmentRequestBody(topic, "billing", client_id, strategy, model)
    return await wire.ask(QueryAssignmentRequest(), bodies.encode(body))


async def own(wire: Wire, client_id: str, **changes: object) -> list[tuple[int, str]] | None:
    """Return queue id and mode of the queues assigned to a member."""
    answer = await ask(wire, client_id, **changes)  # type: ignore[arg-type]
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    given = bodies.decode(QueryAssignmentResponseBody, answer.body).message_queue_assignments
    return None if given is None else [(each.message_queue.queue_id, each.mode) for each in given]


async def set_mode(wire: Wire, mode: str, share: int = 0, *, topic: str = "orders", group: str = "billing") -> Command:
    body = SetMessageRequestModeRequestBody(topic, group, mode, share)
    return await wire.ask(SetMessageRequestModeRequest(), bodies.encode(body))


@pytest.mark.parametrize(("strategy", "shares"), [("AVG", ([0, 1, 2], [3, 4])), ("AVG_BY_CIRCLE", ([0, 2, 4], [1, 3]))])
async def test_each_member_pulls_its_own_share(wire: Wire, strategy: str, shares: tuple[list[int], list[int]]) -> None:
    await wire.create_topic("orders", queues=5)
    others = await join(wire, "one", "two")

    for client_id, share in zip(("one", "two"), shares, strict=True):
        assert await own(wire, client_id, strategy=strategy) == [(queue_id, "PULL") for queue_id in share]
    for other in others:
        await other.client.close()


async def test_every_member_of_a_broadcast_has_all_queues(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)

    assert await own(wire, "one", model=MessageModel.BROADCASTING) == [(0, "PULL"), (1, "PULL")]


async def test_a_strategy_that_only_clients_know_is_left_to_them_by_name(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    await join(wire, "one")

    answer = await ask(wire, "one", strategy="CONSISTENT_HASH")

    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert "'CONSISTENT_HASH' is not one of AVG, AVG_BY_CIRCLE" in (answer.remark or "")


async def test_a_member_keeps_what_it_has_while_topic_or_member_is_unknown(wire: Wire) -> None:
    assert await own(wire, "one", topic="nothing") is None
    await wire.create_topic("orders")
    assert await own(wire, "stranger") is None


async def test_members_that_pop_take_all_queues_together(wire: Wire) -> None:
    await wire.create_topic("orders", queues=4)
    others = await join(wire, "one", "two")

    assert (await set_mode(wire, "POP")).code == ResponseCode.SUCCESS

    for client_id in ("one", "two"):
        assert await own(wire, client_id) == [(-1, "POP")]
    for other in others:
        await other.client.close()


async def test_members_that_pop_may_share_with_their_neighbours_only(wire: Wire) -> None:
    await wire.create_topic("orders", queues=4)
    others = await join(wire, "a", "b", "c", "d")
    await set_mode(wire, "POP", share=1)

    assert await own(wire, "a") == [(0, "POP"), (1, "POP")]
    assert await own(wire, "d") == [(3, "POP"), (0, "POP")]
    for other in others:
        await other.client.close()


async def test_members_that_pop_and_outnumber_the_queues_have_one_each(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    others = await join(wire, "a", "b", "c", "d")
    await set_mode(wire, "POP", share=1)

    assert [await own(wire, client_id) for client_id in "abcd"] == [[(queue, "POP")] for queue in (0, 1, 0, 1)]
    for other in others:
        await other.client.close()


@pytest.mark.parametrize(
    ("mode", "topic", "group", "code"),
    [
        ("PUSH", "orders", "billing", ResponseCode.INVALID_PARAMETER),
        ("POP", "%RETRY%billing", "billing", ResponseCode.SYSTEM_ERROR),
        ("POP", "no topic", "billing", ResponseCode.SYSTEM_ERROR),
        ("POP", "orders", "", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
    ],
)
async def test_a_mode_that_makes_no_sense_is_refused(wire: Wire, mode: str, topic: str, group: str, code: int) -> None:
    await wire.create_topic("orders")
    await join(wire, "one")

    assert (await set_mode(wire, mode, topic=topic, group=group)).code == code


async def test_the_mode_of_a_group_may_be_set_before_its_topic_and_first_member_are_there(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        assert (await set_mode(wire, "POP", group="coming")).code == ResponseCode.SUCCESS

    async with started(tmp_path) as wire:
        assert wire.broker.components.groups.find("coming") == SubscriptionGroupConfig("coming")
        assert wire.broker.components.request_modes.find("orders", "coming").mode == "POP"
        assert wire.broker.components.request_modes.find("orders", "coming").mode == "POP"


async def test_no_mode_is_set_for_a_group_that_may_not_be_created(tmp_path: Path) -> None:
    async with started(tmp_path, topics=TopicDefaults(auto_create_groups=False)) as wire:
        await wire.create_topic("orders")

        refused = await set_mode(wire, "POP", group="coming")

        assert refused.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        assert wire.broker.components.request_modes.find("orders", "coming").mode == "PULL"


async def test_a_mode_survives_a_restart_and_goes_with_its_topic_or_group(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        await join(wire, "one")
        await set_mode(wire, "POP")
    async with started(tmp_path) as wire:
        modes = wire.broker.components.request_modes
        assert modes.find("orders", "billing").mode == "POP"
        await wire.ask(DeleteTopicRequest("orders"))
        assert modes.find("orders", "billing").mode == "PULL"
        await wire.create_topic("orders")
        await set_mode(wire, "POP")
        await wire.ask(DeleteSubscriptionGroupRequest("billing"))
        assert modes.find("orders", "billing").mode == "PULL"


async def test_the_number_of_modes_is_limited(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(request_modes=1)) as wire:
        for topic in ("orders", "invoices"):
            await wire.create_topic(topic)
        await join(wire, "one")

        assert (await set_mode(wire, "POP")).code == ResponseCode.SUCCESS
        refused = await set_mode(wire, "POP", topic="invoices")

        assert "request_modes=1" in (refused.remark or "")
