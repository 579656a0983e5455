"""Transactions on the wire: half messages, decisions, check-backs and refusals."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from broker_core.broker import Periods
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import UpdateBrokerConfigRequest
from broker_core.protocol.headers.messages import ViewMessageByIdRequest
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.protocol.headers.transactions import (
    CheckTransactionStateRequest,
    EndTransactionRequest,
    ResumeCheckHalfMessageRequest,
)
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from broker_core.remoting.errors import RemotingTimeout
from tests.support.broker import Wire, another_client, started
from tests.support.wait import eventually

pytestmark = pytest.mark.asyncio(loop_scope="module")

GROUP = "payers"
COMMIT, ROLLBACK, UNKNOWN = 8, 12, 0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wire]:
    folder: Path = tmp_path_factory.mktemp("broker")
    async with started(folder / "store", periods=Periods(transaction_step=20)) as wire:
        yield wire


async def prepared(wire: Wire, topic: str, body: bytes, **pairs: str) -> SendMessageResponse:
    properties = {"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": f"{topic}-{body.decode()}", **pairs}
    return await wire.send(topic, body, properties=properties, sys_flag=4)


def decision(sent: SendMessageResponse, how: int, **changes: object) -> EndTransactionRequest:
    header = EndTransactionRequest(GROUP, sent.queue_offset, parse_offset_id(sent.msg_id).log_offset, how)
    return replace(header, **changes)  # type: ignore[arg-type]


async def settings(wire: Wire, **changed: object) -> None:
    text = "".join(f"{name}={value}\n" for name, value in changed.items())
    answer = await wire.ask(UpdateBrokerConfigRequest(), text.encode())
    assert answer.code == ResponseCode.SUCCESS, answer.remark


async def test_a_half_message_is_read_when_it_is_committed(wire: Wire) -> None:
    await wire.create_topic("paid", queues=2)
    first = await prepared(wire, "paid", b"1")
    second = await prepared(wire, "paid", b"2")
    assert (first.queue_id, second.queue_offset - first.queue_offset) == (0, 1)
    assert (await wire.runtime_info())["openTransactions"] == "2"
    waiting = asyncio.create_task(wire.pull("paid", 0, wait_ms=30_000))

    assert (await wire.ask(decision(second, ROLLBACK))).code == ResponseCode.SUCCESS
    assert (await wire.ask(decision(first, COMMIT))).code == ResponseCode.SUCCESS

    assert [message.body for message in await waiting] == [b"1"]
    assert (await wire.runtime_info())["openTransactions"] == "0"


async def test_a_half_message_inside_the_body_of_another_message_is_not_decided(wire: Wire) -> None:
    await wire.create_topic("forged")
    half = await prepared(wire, "forged", b"1")
    place = parse_offset_id(half.msg_id).log_offset
    record = (await wire.ask(ViewMessageByIdRequest(place))).body
    inside = place + len(record) + 88
    sent = await wire.send("forged", record[:28] + inside.to_bytes(8, "big") + record[36:])
    assert parse_offset_id(sent.msg_id).log_offset == inside - 88

    refused = await wire.ask(decision(half, ROLLBACK, commit_log_offset=inside))

    assert (refused.code, refused.remark) == (ResponseCode.SYSTEM_ERROR, "Find prepared transaction message failed")
    assert (await wire.ask(decision(half, COMMIT))).code == ResponseCode.SUCCESS


async def test_a_decision_that_is_repeated_does_nothing_and_one_that_contradicts_is_refused(wire: Wire) -> None:
    await wire.create_topic("twice")
    sent = await prepared(wire, "twice", b"1")
    for _ in range(3):
        assert (await wire.ask(decision(sent, COMMIT))).code == ResponseCode.SUCCESS
    refused = await wire.ask(decision(sent, ROLLBACK))
    assert (refused.code, refused.remark) == (1, "the transaction of message twice-1 was committed before")
    assert len(await wire.pull("twice", 0)) == 1


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"producer_group": "strangers"}, "The producer group wrong"),
        ({"tran_state_table_offset": 7_000}, "The transaction state table offset wrong"),
        ({"commit_log_offset": 1 << 40}, "Find prepared transaction message failed"),
        ({"commit_log_offset": -1}, "Find prepared transaction message failed"),
        ({"commit_or_rollback": 4}, "commitOrRollback 4 is none of 0, 8 and 12"),
    ],
)
async def test_a_wrong_decision_is_refused_and_decides_nothing(
    wire: Wire, changes: dict[str, object], remark: str, request: pytest.FixtureRequest
) -> None:
    topic = re.sub(r"\W", "", request.node.name)
    await wire.create_topic(topic)
    sent = await prepared(wire, topic, b"1")
    refused = await wire.ask(decision(sent, COMMIT, **changes))
    assert refused.code != ResponseCode.SUCCESS
    assert refused.remark == remark
    assert await wire.pull(topic, 0) == []
    assert (await wire.ask(decision(sent, COMMIT))).code == ResponseCode.SUCCESS


async def test_the_producer_is_asked_and_its_answer_decides(wire: Wire) -> None:
    await settings(wire, transactionTimeOut=50)
    producer = another_client(wire)
    try:
        await producer.heartbeat("client", producer_group=GROUP)
        await wire.create_topic("asked")
        await prepared(wire, "asked", b"1")
        await eventually(lambda: any(asked.code == RequestCode.CHECK_TRANSACTION_STATE for asked in producer.pushed))
        (asked,) = (each for each in producer.pushed if decode_one(each.body).topic == "asked")
        header = asked.header(CheckTransactionStateRequest)
        assert (asked.is_one_way, header.msg_id, decode_one(asked.body).body) == (True, "asked-1", b"1")

        end = EndTransactionRequest(
            GROUP, header.tran_state_table_offset, header.commit_log_offset, COMMIT, from_transaction_check=True
        )
        assert (await producer.ask(end)).code == ResponseCode.SUCCESS
        assert [message.body for message in await wire.pull("asked", 0)] == [b"1"]
    finally:
        await producer.client.close()
        await settings(wire, transactionTimeOut=6_000)


async def test_a_producer_that_does_not_know_yet_gets_no_answer_as_in_the_original(wire: Wire) -> None:
    sent = await prepared(wire, "orders", b"1")
    with pytest.raises(RemotingTimeout):
        await wire.client.invoke(wire.address, Command.request(decision(sent, UNKNOWN)), 100)
    assert (await wire.ask(decision(sent, ROLLBACK))).code == ResponseCode.SUCCESS


async def test_a_half_message_that_was_given_up_is_resumed_by_the_id_of_its_record(wire: Wire) -> None:
    await settings(wire, transactionTimeOut=1, transactionCheckInterval=1, transactionCheckMax=1)
    producer = another_client(wire)
    try:
        await producer.heartbeat("client", producer_group=GROUP)
        await wire.create_topic("resumed")
        await prepared(wire, "resumed", b"1")

        async def was_given_up() -> bool:
            return len(await wire.pull(TRANSACTION_EXPIRED_TOPIC, 0)) == 1

        await eventually(was_given_up)
        await settings(wire, transactionTimeOut=6_000, transactionCheckInterval=60_000, transactionCheckMax=15)
        (kept,) = await wire.pull(TRANSACTION_EXPIRED_TOPIC, 0)
        assert (await wire.ask(ResumeCheckHalfMessageRequest(kept.offset_id))).code == ResponseCode.SUCCESS
        half = (await wire.pull(HALF_TOPIC, 0, count=1_000))[-1]
        assert (half.body, half.properties["TRANSACTION_CHECK_TIMES"]) == (b"1", "0")
        end = EndTransactionRequest(GROUP, half.queue_offset, half.log_offset, COMMIT)
        assert (await wire.ask(end)).code == ResponseCode.SUCCESS
        refused = await wire.ask(ResumeCheckHalfMessageRequest(kept.offset_id))
        assert (refused.code, refused.remark) == (1, "the transaction of message resumed-1 was committed before")
        assert [message.body for message in await wire.pull("resumed", 0)] == [b"1"]
    finally:
        await producer.client.close()
        await settings(wire, transactionTimeOut=6_000, transactionCheckInterval=60_000, transactionCheckMax=15)


@pytest.mark.parametrize(
    ("properties", "sys_flag", "code"),
    [
        ({"TRAN_MSG": "true", "PGROUP": GROUP, "DELAY": "1"}, 4, ResponseCode.MESSAGE_ILLEGAL),
        ({"TRAN_MSG": "true", "PGROUP": GROUP, "TIMER_DELAY_SEC": "1"}, 4, ResponseCode.MESSAGE_ILLEGAL),
        ({"TRAN_MSG": "true"}, 4, ResponseCode.MESSAGE_ILLEGAL),
        ({}, 4, ResponseCode.MESSAGE_ILLEGAL),
        ({}, 12, ResponseCode.MESSAGE_ILLEGAL),
    ],
)
async def test_a_first_phase_that_cannot_have_a_second_is_refused(
    wire: Wire, properties: dict[str, str], sys_flag: int, code: ResponseCode
) -> None:
    answer = await wire.try_send("orders", b"x", properties=properties, sys_flag=sys_flag)
    assert answer.code == code, answer.remark


async def test_all_of_them_are_refused_when_the_settings_say_so(wire: Wire) -> None:
    await settings(wire, rejectTransactionMessage="true")
    try:
        answer = await wire.try_send("orders", b"x", properties={"TRAN_MSG": "true", "PGROUP": GROUP}, sys_flag=4)
        assert answer.code == ResponseCode.NO_PERMISSION
        assert answer.remark == f"the broker[{wire.address}] sending transaction message is forbidden"
    finally:
        await settings(wire, rejectTransactionMessage="false")


async def test_clients_cannot_send_to_the_topics_of_transactions(wire: Wire) -> None:
    for topic in (HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC):
        assert (await wire.try_send(topic, b"x")).code == ResponseCode.NO_PERMISSION


async def test_open_transactions_are_there_after_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        sent = await prepared(wire, "orders", b"1")
        done = await prepared(wire, "orders", b"2")
        assert (await wire.ask(decision(done, COMMIT))).code == ResponseCode.SUCCESS
    async with started(tmp_path) as wire:
        for each in (sent, done):
            assert (await wire.ask(decision(each, COMMIT))).code == ResponseCode.SUCCESS
        assert [message.body for message in await wire.pull("orders", 0)] == [b"2", b"1"]
