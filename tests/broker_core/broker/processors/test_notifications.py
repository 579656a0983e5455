"""Waiting for a message to pop, over a real socket."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker import BrokerLimits
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pop import NotificationRequest, NotificationResponse
from tests.support.broker import BORN, Wire, started
from tests.support.wait import eventually


async def ask(wire: Wire, *, wait_ms: int = 0, queue_id: int = -1, **fields: Any) -> Command:
    header = NotificationRequest(fields.pop("group", "lessees"), "orders", queue_id, wait_ms, BORN, **fields)
    return await wire.ask(header)


async def has_message(wire: Wire, **options: Any) -> bool:
    answer = await ask(wire, **options)
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return answer.header(NotificationResponse).has_msg


async def waits(wire: Wire, **options: Any) -> asyncio.Task[bool]:
    """Start waiting, and return when the broker holds the request."""
    before = int((await wire.runtime_info())["parkedNotifications"])
    task = asyncio.create_task(has_message(wire, wait_ms=30_000, **options))

    async def is_parked() -> bool:
        return int((await wire.runtime_info())["parkedNotifications"]) > before

    await eventually(is_parked)
    return task


async def test_an_existing_message_is_announced_at_once_and_can_still_be_popped(wire: Wire) -> None:
    await wire.fill("orders", b"x")

    assert await has_message(wire, wait_ms=30_000)

    assert len(await wire.pop("orders")) == 1


@pytest.mark.parametrize("queue_id", [-1, 0])
async def test_an_arriving_message_is_announced(wire: Wire, queue_id: int) -> None:
    await wire.create_topic("orders", queues=2)
    waiting = await waits(wire, queue_id=queue_id)

    await wire.send("orders", b"x", queue_id=0)

    assert await waiting


async def test_a_message_of_another_queue_is_not_waited_for(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)
    await wire.send("orders", b"x", queue_id=1)

    assert not await has_message(wire, queue_id=0)


async def test_a_message_whose_lease_ended_is_announced(wire: Wire) -> None:
    await wire.fill("orders", b"x")
    (leased,) = await wire.pop("orders")
    waiting = await waits(wire)

    await wire.change(leased, 1)

    assert await waiting


async def test_an_ordered_group_waits_for_what_is_on_lease(wire: Wire) -> None:
    await wire.fill("orders", b"0", b"1")
    await wire.pop("orders", count=1, order=True)

    assert not await has_message(wire, order=True)
    assert await has_message(wire)


async def test_a_wait_ends_with_nothing(wire: Wire) -> None:
    await wire.create_topic("orders")

    assert not await has_message(wire, wait_ms=1)


async def test_a_group_that_read_everything_has_nothing_to_pop(wire: Wire) -> None:
    await wire.fill("orders", b"x")
    (leased,) = await wire.pop("orders")
    await wire.ack(leased)

    assert not await has_message(wire)


async def test_too_many_waits_are_refused(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(parked_pops=0)) as wire:
        await wire.create_topic("orders")

        answer = await ask(wire, wait_ms=1_000)

        assert answer.header(NotificationResponse) == NotificationResponse(has_msg=False, polling_full=True)


async def test_what_does_not_exist_is_not_waited_for(wire: Wire) -> None:
    assert (await ask(wire)).code == ResponseCode.TOPIC_NOT_EXIST
    await wire.create_topic("orders")
    assert (await ask(wire, queue_id=1)).code == ResponseCode.INVALID_PARAMETER
