"""What a new master finds in its log, also if it was not told yet that it is confirmed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from unittest.mock import patch

from broker_core.broker import Broker
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import PULL_SUBSCRIPTION, PULL_SUSPEND, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.offsets import (
    GetMaxOffsetRequest,
    GetMaxOffsetResponse,
    SearchOffsetRequest,
    SearchOffsetResponse,
)
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.headers.send import ConsumerSendMessageBackRequest, SendMessageResponse
from broker_core.protocol.headers.timers import RecallMessageRequest
from broker_core.protocol.headers.transactions import EndTransactionRequest
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import decode_many
from broker_core.protocol.sys_flag import TRANSACTION_COMMIT
from broker_core.protocol.topics import TIMER_TOPIC, retry_topic
from tests.broker_core.broker.replication.switching import deaf, slave_of, stop, switched, unconfirmed
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually

_FOREVER = 1 << 50


async def sent(group: ReplicaGroup, broker: Broker, body: bytes, **properties: str) -> SendMessageResponse:
    answer = await group.send(broker, body, properties=format_properties(properties))
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return answer.header(SendMessageResponse)


def commit(half: SendMessageResponse) -> EndTransactionRequest:
    log_offset = parse_offset_id(half.msg_id).log_offset
    return EndTransactionRequest("producers", half.queue_offset, log_offset, TRANSACTION_COMMIT)


async def pulled(group: ReplicaGroup, broker: Broker, offset: int, wait_ms: int = 0) -> Command:
    flag = PULL_SUBSCRIPTION | (PULL_SUSPEND if wait_ms else 0)
    return await group.ask(
        broker,
        PullMessageRequest("readers", "T", 0, offset, 32, flag, subscription="*", suspend_timeout_millis=wait_ms),
    )


async def max_offset(group: ReplicaGroup, broker: Broker) -> int:
    return (await group.ask(broker, GetMaxOffsetRequest("T", 0))).header(GetMaxOffsetResponse).offset


async def test_a_half_message_is_open_after_a_switch_and_ends_there_once(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        with deaf(slave_of(group, master)):
            half = await sent(group, master, b"a", TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u1")
            await stop(group, master)

        successor = await group.master()
        if not successor.components.master_work.is_on():
            assert (await group.ask(successor, commit(half))).code == ResponseCode.SERVICE_NOT_AVAILABLE
        later = await sent(group, successor, b"b", TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u2")

        await eventually(successor.components.master_work.is_on)
        assert len(successor.components.transactions.table) == 2
        for ended in (half, half, later):
            assert (await group.ask(successor, commit(ended))).code == ResponseCode.SUCCESS
        assert await group.read(successor) == [b"a", b"b"]


async def test_a_transaction_that_ended_is_not_open_after_a_switch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        with deaf(slave_of(group, master)):
            half = await sent(group, master, b"a", TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u1")
            assert (await group.ask(master, commit(half))).code == ResponseCode.SUCCESS
            await stop(group, master)
        successor = await group.master()
        await eventually(successor.components.master_work.is_on)

        assert len(successor.components.transactions.table) == 0
        assert (await group.ask(successor, commit(half))).code == ResponseCode.SUCCESS
        assert await group.read(successor) == [b"a"]


async def test_an_end_that_is_not_confirmed_is_not_answered_as_done_nor_when_repeated(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        half = await sent(group, master, b"a", TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u1")
        with unconfirmed(master):
            ends = [asyncio.ensure_future(group.ask(master, commit(half))) for _ in range(2)]
            await eventually(lambda: waiting(master) == 2)
            assert not any(end.done() for end in ends)
        await sent(group, master, b"next")
        assert [(await end).code for end in ends] == [ResponseCode.SUCCESS] * 2


async def parked_pulls(group: ReplicaGroup, broker: Broker) -> int:
    answer = await group.ask(broker, GetBrokerRuntimeInfoRequest())
    return int(bodies.decode(KVTable, answer.body).table["parkedPulls"])


def waiting(master: Broker) -> int:
    waits = master.components.mode.waits
    assert waits is not None
    return len(waits)


async def test_a_message_that_is_sent_back_is_answered_when_all_have_it(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        stored = await sent(group, master, b"a")
        await eventually(lambda: master.store.max_offset("T", 0) == 1)
        header = ConsumerSendMessageBackRequest(parse_offset_id(stored.msg_id).log_offset, "readers", 1)
        with unconfirmed(master):
            back = asyncio.ensure_future(group.ask(master, header))
            await eventually(lambda: waiting(master) == 1)
            assert not back.done()
        await sent(group, master, b"next")
        assert (await back).code == ResponseCode.SUCCESS

        successor = await switched(group, master)
        await eventually(lambda: successor.store.max_offset(retry_topic("readers"), 0) == 1)


async def test_who_read_further_than_what_is_known_as_confirmed_is_not_moved_back(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        with deaf(slave_of(group, master)):
            for body in (b"a", b"b", b"c"):
                await sent(group, master, body)
            assert await group.read(master) == [b"a", b"b", b"c"]
            await stop(group, master)
            successor = await group.master()
            # Nothing is confirmed in the new epoch yet.
            assert await max_offset(group, successor) == 0
            latest = await group.ask(successor, SearchOffsetRequest("T", 0, _FOREVER))
            assert latest.header(SearchOffsetResponse).offset == 0
            early = await pulled(group, successor, 3)
            held = asyncio.ensure_future(pulled(group, successor, 3, wait_ms=60_000))
            await eventually(lambda: parked_pulls(group, successor))

        assert (early.code, early.header(PullMessageResponse).next_begin_offset) == (ResponseCode.PULL_NOT_FOUND, 3)
        await sent(group, successor, b"d")
        found = await held
        assert [message.body for message in decode_many(found.body)] == [b"d"]
        assert await max_offset(group, successor) == 4
        moved = await pulled(group, successor, 9)
        assert (moved.code, moved.header(PullMessageResponse).next_begin_offset) == (ResponseCode.PULL_OFFSET_MOVED, 4)


async def test_a_message_that_was_recalled_is_not_delivered_after_a_switch_and_others_are_once(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        with deaf(slave_of(group, master)):
            recalled = await sent(group, master, b"no", TIMER_DELAY_MS="1500", UNIQ_KEY="u1")
            await sent(group, master, b"yes", TIMER_DELAY_MS="1500", UNIQ_KEY="u2")
            assert recalled.recall_handle is not None
            answer = await group.ask(master, RecallMessageRequest("T", recalled.recall_handle))
            assert answer.code == ResponseCode.SUCCESS, answer.remark
            await stop(group, master)
        successor = await group.master()

        await eventually(lambda: successor.store.max_offset("T", 0) == 1)
        await eventually(lambda: successor.components.timer.index.count == 0)
        assert await group.read(successor) == [b"yes"]


async def test_what_was_delivered_by_one_master_is_not_delivered_by_the_next(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        with deaf(slave_of(group, master)):
            await sent(group, master, b"once", TIMER_DELAY_MS="100", UNIQ_KEY="u1")
            await eventually(lambda: master.store.max_offset("T", 0) == 1)
            await stop(group, master)
        successor = await group.master()
        await eventually(successor.components.master_work.is_on)

        assert successor.components.timer.index.count == 0
        assert await group.read(successor) == [b"once"]


async def test_a_slave_follows_the_topic_of_waiting_messages(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        await sent(group, master, b"later", TIMER_DELAY_MS="3600000", UNIQ_KEY="u1")

        await eventually(lambda: slave.store.max_offset(TIMER_TOPIC, 0) == 1)
        await eventually(lambda: slave.components.timer.index.count == 1)


async def test_a_delayed_message_is_delivered_after_a_switch(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        with deaf(slave_of(group, master)):
            await sent(group, master, b"a", DELAY="1")
            await stop(group, master)
        successor = await group.master()

        await eventually(lambda: successor.store.max_offset("T", 0) == 1)
        assert await group.read(successor) == [b"a"]


async def test_what_was_delivered_after_a_delay_comes_once_though_the_next_master_was_not_told(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master = await group.master()
        slave = slave_of(group, master)
        with patch.object(slave.components.delay, "replace"):
            for number in range(3):
                await sent(group, master, b"%d" % number, DELAY="1", UNIQ_KEY=f"u{number}")
            await eventually(lambda: slave.store.max_offset("T", 0) == 3)
            assert slave.components.delay.offset_of(1) == 0
            successor = await switched(group, master)
        await sent(group, successor, b"next", DELAY="1", UNIQ_KEY="next")

        await eventually(lambda: b"next" in bodies_at(successor))
        assert bodies_at(successor) == [b"0", b"1", b"2", b"next"]


def bodies_at(broker: Broker) -> list[bytes]:
    found = broker.store.get("T", 0, 0, max_messages=32, max_bytes=1 << 20)
    return [each.body for each in decode_many(b"".join(found.records))]
