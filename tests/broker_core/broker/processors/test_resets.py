"""Resetting a group's offsets, over a real socket."""

from __future__ import annotations

import pytest

from broker_core.broker.request_modes import POP
from broker_core.protocol import bodies
from broker_core.protocol.bodies.pop import SetMessageRequestModeRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import ResetOffsetBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import offsets as headers
from broker_core.protocol.headers.pop import SetMessageRequestModeRequest
from tests.support.broker import Wire, bodies_of
from tests.support.wait import eventually


async def stored(wire: Wire, count: int, topic: str = "orders") -> list[int]:
    """Send messages and return their store times."""
    for number in range(count):
        await wire.send(topic, b"%d" % number)
    times = [wire.broker.store.store_time(topic, 0, offset) for offset in range(count)]
    return [time for time in times if time is not None]


async def commit(wire: Wire, offset: int, group: str = "billing", queue_id: int = 0) -> None:
    await wire.ask(headers.UpdateConsumerOffsetRequest(group, "orders", queue_id, offset))


async def reset(wire: Wire, timestamp: int, *, force: bool = True, group: str = "billing") -> Command:
    return await wire.ask(headers.ResetOffsetRequest("orders", group, timestamp, force))


def table(answer: Command) -> dict[int, int]:
    body = bodies.decode(ResetOffsetBody, answer.body)
    return {queue.queue_id: offset for queue, offset in body.offset_table.items()}


async def test_a_reset_is_pushed_to_the_members_and_changes_nothing_here(wire: Wire) -> None:
    await wire.create_topic("orders")
    times = await stored(wire, 3)
    await commit(wire, 3)
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    answer = await reset(wire, times[0])

    assert table(answer) == {0: 0}
    await eventually(lambda: any(push.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET for push in wire.pushed))
    push = next(push for push in wire.pushed if push.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET)
    assert bodies.decode(ResetOffsetBody, push.body).offset_table == {MessageQueue("orders", "broker-a", 0): 0}
    assert wire.broker.components.offsets.find("billing", "orders", 0) == 3


async def test_a_reset_to_the_end_needs_force_to_go_forward(wire: Wire) -> None:
    await wire.create_topic("orders")
    await stored(wire, 3)
    await commit(wire, 1)
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    assert table(await reset(wire, -1, force=False)) == {0: 1}
    assert table(await reset(wire, -1, force=True)) == {0: 3}


async def test_a_group_without_members_is_reset_by_administration_itself(wire: Wire) -> None:
    await wire.create_topic("orders")
    await commit(wire, 1)

    assert (await reset(wire, -1)).code == ResponseCode.CONSUMER_NOT_ONLINE


async def test_a_group_that_takes_by_lease_is_reset_here(wire: Wire) -> None:
    await wire.create_topic("orders")
    await stored(wire, 3)
    for leased in await wire.pop("orders", group="billing"):
        await wire.ack(leased, group="billing")

    assert table(await reset(wire, 0)) == {0: 0}

    assert len(await wire.pop("orders", group="billing")) == 3


@pytest.mark.parametrize("queue_id", [-1, 0])
async def test_members_that_pop_are_not_told_and_those_that_pull_are(wire: Wire, queue_id: int) -> None:
    await wire.create_topic("orders")
    await stored(wire, 3)
    mode = bodies.encode(SetMessageRequestModeRequestBody("orders", "billing", POP))
    await wire.ask(SetMessageRequestModeRequest(), mode)
    header = headers.ResetOffsetRequest("orders", "billing", 0, True, queue_id, 0 if queue_id == 0 else -1)

    def told() -> int:
        return sum(push.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET for push in wire.pushed)

    await commit(wire, 3)
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})
    assert table(await wire.ask(header)) == {0: 0}
    await eventually(lambda: told() == 1)

    for _ in range(2):
        popped = await wire.pop("orders", group="billing")
        assert len(popped) == 3
        for leased in popped:
            await wire.ack(leased, group="billing")
        assert table(await wire.ask(header)) == {0: 0}
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})
    assert told() == 1


async def test_a_group_that_never_stored_an_offset_cannot_go_back(wire: Wire) -> None:
    await wire.create_topic("orders")

    answer = await reset(wire, 0)

    assert (answer.code, answer.remark) == (
        ResponseCode.SYSTEM_ERROR,
        "THe consumer group <billing> not exist",
    )


# -- one queue


async def reset_queue(wire: Wire, queue_id: int, offset: int = -1, *, group: str = "billing") -> Command:
    """Send the request of 5.x tools: without force, and with time 0 next to an offset."""
    return await wire.ask(headers.ResetOffsetRequest("orders", group, 0, queue_id=queue_id, offset=offset))


def offsets_of(wire: Wire, group: str = "billing") -> dict[int, int]:
    return dict(wire.broker.components.offsets.of(group, "orders"))


@pytest.mark.parametrize("offset", [1, 3])
async def test_one_queue_goes_to_an_offset_and_the_others_stay(wire: Wire, offset: int) -> None:
    await wire.fill("orders", *(b"%d" % number for number in range(6)), queues=2)
    for queue_id in (0, 1):
        await commit(wire, 2, queue_id=queue_id)

    assert table(await reset_queue(wire, 0, offset)) == {0: offset}

    assert offsets_of(wire) == {0: offset, 1: 2}


async def test_members_are_notified_of_the_one_queue_only(wire: Wire) -> None:
    await wire.fill("orders", *(b"%d" % number for number in range(6)), queues=2)
    await commit(wire, 3, queue_id=1)
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    await reset_queue(wire, 1, 2)

    await eventually(lambda: any(push.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET for push in wire.pushed))
    push = next(push for push in wire.pushed if push.code == RequestCode.RESET_CONSUMER_CLIENT_OFFSET)
    assert bodies.decode(ResetOffsetBody, push.body).offset_table == {MessageQueue("orders", "broker-a", 1): 2}


async def test_one_queue_goes_to_a_time_where_no_offset_is_reported(wire: Wire) -> None:
    await wire.fill("orders", *(b"%d" % number for number in range(6)), queues=2)
    for queue_id in (0, 1):
        await commit(wire, 2, queue_id=queue_id)

    assert table(await reset_queue(wire, 1)) == {1: 0}

    assert offsets_of(wire) == {0: 2, 1: 0}


async def test_what_is_on_lease_in_one_queue_is_taken_back_and_in_the_others_not(wire: Wire) -> None:
    await wire.fill("orders", b"0", b"1", b"2", b"3", queues=2)
    await wire.pop("orders", group="billing")

    await reset_queue(wire, 0, 1)

    assert bodies_of(await wire.pop("orders", group="billing")) == [b"2"]


@pytest.mark.parametrize(
    ("queue_id", "offset", "group", "code", "remark"),
    [
        (0, 4, "billing", ResponseCode.SYSTEM_ERROR, "Target offset 4 not in consume queue range [0-3]"),
        (1, 0, "billing", ResponseCode.SYSTEM_ERROR, "request queueId[1] is illegal, topic:[orders] has 1 queues"),
        (0, 0, "nobody", ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "subscription group [nobody] does not exist"),
    ],
)
async def test_what_does_not_exist_is_not_a_place_to_go(
    wire: Wire, queue_id: int, offset: int, group: str, code: int, remark: str
) -> None:
    await wire.create_topic("orders")
    await stored(wire, 3)
    await commit(wire, 2)

    answer = await reset_queue(wire, queue_id, offset, group=group)

    assert answer.code == code
    assert (answer.remark or "").startswith(remark)
    assert offsets_of(wire) == {0: 2}
    assert not offsets_of(wire, "nobody")
