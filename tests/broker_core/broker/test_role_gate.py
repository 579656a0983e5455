"""What a slave answers, and what changes at once when the role does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.broker.role import Role, RoleKind
from broker_core.native import native
from broker_core.protocol import bodies
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers.admin import GetBrokerConfigRequest, GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.clients import LockBatchMqRequest, UnlockBatchMqRequest
from broker_core.protocol.headers.groups import DeleteSubscriptionGroupRequest, GetAllSubscriptionGroupConfigRequest
from broker_core.protocol.headers.offsets import CloneGroupOffsetRequest, GetMaxOffsetRequest, GetMinOffsetRequest
from broker_core.protocol.headers.replication import GetAllConsumerOffsetRequest, GetAllDelayOffsetRequest
from broker_core.protocol.headers.send import ConsumerSendMessageBackRequest
from broker_core.protocol.headers.topics import CreateTopicRequest, DeleteTopicRequest, GetAllTopicConfigRequest
from broker_core.protocol.headers.transactions import EndTransactionRequest, ResumeCheckHalfMessageRequest
from tests.broker_core.broker.processors.test_send_runs import Sent, connected
from tests.support.broker import Wire, started

MASTER = "10.0.0.1:10911"
SLAVE = Role(RoleKind.SLAVE, 1, MASTER)
APACHE = "Can't modify topic or subscription group from slave broker, please execute it from master broker."


async def lock(wire: Wire, *queues: MessageQueue) -> list[MessageQueue]:
    body = bodies.encode(LockBatchRequestBody("billing", "one", list(queues)))
    answer = await wire.ask(LockBatchMqRequest(), body)
    assert answer.code == ResponseCode.SUCCESS
    return bodies.decode(LockBatchResponseBody, answer.body).lock_ok_mq_set


async def test_a_slave_takes_no_message_and_names_its_master(tmp_path: Path) -> None:
    async with started(tmp_path, broker_id=1) as wire:
        for code in (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2):
            answer = await wire.try_send("TBW102", b"body", code=code)
            assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
            assert (answer.remark or "").endswith("this broker is a slave, and its master is not known")
        wire.broker.components.roles.follow(MASTER)
        back = await wire.ask(ConsumerSendMessageBackRequest(0, "readers", 3))
        popped = await wire.try_pop("TBW102")
        assert {back.code, popped.code} == {ResponseCode.SERVICE_NOT_AVAILABLE}
        assert MASTER in (back.remark or "")
        assert wire.broker.store.appended_log_offset == 0


async def test_a_slave_changes_nothing_that_it_takes_over(tmp_path: Path) -> None:
    async with started(tmp_path, broker_id=1) as wire:
        for header in (
            CreateTopicRequest("orders", 1, 1, 6),
            DeleteTopicRequest("BenchmarkTest"),
            DeleteSubscriptionGroupRequest("SELF_TEST_C_GROUP"),
            ResumeCheckHalfMessageRequest("0"),
        ):
            answer = await wire.ask(header)
            assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, APACHE)
        ended = await wire.ask(EndTransactionRequest("producers", 0, 0, 8))
        assert ended.code == ResponseCode.SLAVE_NOT_AVAILABLE
        cloned = await wire.ask(CloneGroupOffsetRequest("one", "other", "orders"))
        assert cloned.code == ResponseCode.SERVICE_NOT_AVAILABLE


async def test_a_slave_serves_its_own_tables_and_its_log(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"one", b"two")
        wire.broker.components.roles.become(SLAVE)
        assert [each.body for each in await wire.pull("orders", 0)] == [b"one", b"two"]
        for header in (
            GetMaxOffsetRequest("orders", 0),
            GetMinOffsetRequest("orders", 0),
            GetAllTopicConfigRequest(),
            GetAllConsumerOffsetRequest(),
            GetAllDelayOffsetRequest(),
            GetAllSubscriptionGroupConfigRequest(),
            GetBrokerConfigRequest(),
            GetBrokerRuntimeInfoRequest(),
        ):
            assert (await wire.ask(header)).code == ResponseCode.SUCCESS


async def test_a_slave_grants_no_lock(tmp_path: Path) -> None:
    queue = MessageQueue("orders", "broker-a", 0)
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        assert await lock(wire, queue) == [queue]

        wire.broker.components.roles.become(SLAVE)
        assert await lock(wire, queue) == []
        body = bodies.encode(LockBatchRequestBody("billing", "one", [queue]))
        assert (await wire.ask(UnlockBatchMqRequest(), body)).code == ResponseCode.SUCCESS


async def test_a_fenced_broker_tells_only_of_itself(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"one")
        wire.broker.components.roles.become(Role(RoleKind.FENCED, 1))
        assert (await wire.try_pull("orders", 0)).code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert (await wire.try_send("orders", b"two")).code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert (await wire.ask(GetMaxOffsetRequest("orders", 0))).code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert (await wire.ask(GetBrokerRuntimeInfoRequest())).code == ResponseCode.SUCCESS


@pytest.mark.skipif(native is None, reason="runs need the compiled functions")
async def test_a_run_of_sends_ends_with_the_role_and_begins_with_it(tmp_path: Path) -> None:
    async with started(tmp_path) as wire, connected(wire) as producer:
        roles = wire.broker.components.roles
        await wire.create_topic("orders")
        assert {each.code for each in await producer.send([Sent()] * 100)} == {ResponseCode.SUCCESS}

        roles.become(SLAVE)
        end = wire.broker.store.appended_log_offset
        assert {each.code for each in await producer.send([Sent()] * 100)} == {ResponseCode.SERVICE_NOT_AVAILABLE}
        assert wire.broker.store.appended_log_offset == end

        roles.become(Role.of_id(0))
        assert {each.code for each in await producer.send([Sent()] * 100)} == {ResponseCode.SUCCESS}


async def test_no_send_gets_between_a_change_of_role_and_its_answers(tmp_path: Path) -> None:
    """A role that changes while sends are on their way: what is refused is not stored, what is taken is."""
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        sends = [asyncio.create_task(wire.try_send("orders", b"%d" % number)) for number in range(200)]
        await asyncio.sleep(0)
        wire.broker.components.roles.become(SLAVE)
        codes = [(await each).code for each in sends]
        wire.broker.components.roles.become(Role.of_id(0))
        stored = wire.broker.store.max_offset("orders", 0)
        assert codes.count(ResponseCode.SUCCESS) == stored
        assert set(codes) <= {ResponseCode.SUCCESS, ResponseCode.SERVICE_NOT_AVAILABLE}
