"""The work of a master ends with the role, and is taken up with it from what the log and the registers say."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from broker_core.broker import Periods
from broker_core.broker.role import Role, RoleKind
from broker_core.protocol import properties as names
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.sys_flag import TRANSACTION_PREPARED
from broker_core.protocol.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from tests.support.broker import Wire, started
from tests.support.standing import Cut
from tests.support.wait import eventually

SLAVE = Role(RoleKind.SLAVE, 1, "127.0.0.1:1")
QUICK = Periods(delay_step=10, timer_step=10, transaction_step=10)


async def delivered(wire: Wire, topic: str) -> list[bytes]:
    return [each.body for each in await wire.pull(topic, 0)]


async def test_nothing_is_delivered_while_another_broker_is_the_master(tmp_path: Path) -> None:
    async with started(tmp_path, periods=QUICK) as wire:
        store, roles = wire.broker.store, wire.broker.components.roles
        await wire.create_topic("orders")
        due = int(time.time() * 1000) + 1_500
        await wire.send("orders", b"delayed", properties={names.DELAY: "1"})
        await wire.send("orders", b"timed", properties={names.TIMER_DELIVER_MS: str(due)})
        roles.become(SLAVE)
        end = store.appended_log_offset
        await eventually(lambda: time.time() * 1000 > due + 100)
        assert store.appended_log_offset == end
        assert (store.max_offset(SCHEDULE_TOPIC, 0), store.max_offset(TIMER_TOPIC, 0)) == (1, 1)

        roles.become(Role.of_id(0))
        await eventually(lambda: store.max_offset("orders", 0) == 2)
        assert sorted(await delivered(wire, "orders")) == [b"delayed", b"timed"]


async def test_a_slave_checks_no_transaction_and_the_next_master_finds_it_open(tmp_path: Path) -> None:
    settings = {"transactionTimeOut": "1", "transactionCheckInterval": "1000"}
    async with started(tmp_path, periods=QUICK, settings=settings) as wire:
        roles = wire.broker.components.roles
        await wire.create_topic("orders")
        roles.become(Role(RoleKind.MASTER, 0, None, 1))
        pairs = {names.TRAN_MSG: "true", names.PGROUP: "producers", names.UNIQ_KEY: "u1"}
        answer = await wire.try_send("orders", b"half", properties=pairs, sys_flag=TRANSACTION_PREPARED)
        assert answer.code == ResponseCode.SUCCESS, answer.remark

        roles.become(SLAVE)
        assert (await wire.runtime_info())["openTransactions"] == "0"
        await wire.heartbeat("one", producer_group="producers")
        await wire.broker.components.checks.step(2**50)
        assert wire.pushed == []

        roles.become(Role(RoleKind.MASTER, 0, None, 2))
        assert (await wire.runtime_info())["openTransactions"] == "1"
        await eventually(lambda: len(wire.pushed) > 0)


async def test_work_is_taken_up_in_parts_and_not_when_the_role_ends_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with started(tmp_path, periods=QUICK) as wire:
        components = wire.broker.components
        await wire.create_topic("orders")
        pairs = {names.TRAN_MSG: "true", names.PGROUP: "producers", names.UNIQ_KEY: "u1"}
        await wire.try_send("orders", b"half", properties=pairs, sys_flag=TRANSACTION_PREPARED)
        components.roles.become(SLAVE)
        monkeypatch.setattr(components.mode.standing, "_source", Cut(1 << 40))
        components.roles.become(Role(RoleKind.MASTER, 0, None, 2))
        begins = asyncio.create_task(components.master_work.look(0))
        await asyncio.sleep(0)
        components.roles.become(SLAVE)
        await begins
        assert not components.master_work.has_begun()

        components.roles.become(Role(RoleKind.MASTER, 0, None, 2))
        assert not components.master_work.has_begun()
        await eventually(components.master_work.has_begun)
        assert (await wire.runtime_info())["openTransactions"] == "1"


async def test_leases_end_with_the_role_and_come_again(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        roles = wire.broker.components.roles
        await wire.fill("orders", b"one", b"two")
        first, second = await wire.pop("orders")
        assert (await wire.ack(first)).code == ResponseCode.SUCCESS
        roles.become(SLAVE)
        roles.become(Role.of_id(0))
        assert [each.message.body for each in await wire.pop("orders")] == [second.message.body]


async def test_who_waits_is_answered_when_the_role_ends(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        waits = asyncio.create_task(wire.try_pop("orders", wait_ms=30_000))
        pulls = asyncio.create_task(wire.try_pull("orders", 0, wait_ms=30_000))

        async def both_wait() -> bool:
            figures = await wire.runtime_info()
            return figures["parkedPulls"] == figures["parkedPops"] == "1"

        await eventually(both_wait)
        wire.broker.components.roles.become(SLAVE)
        assert (await pulls).code == ResponseCode.PULL_NOT_FOUND
        assert (await waits).code != ResponseCode.SUCCESS
