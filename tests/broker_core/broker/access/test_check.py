"""A request is refused unless an account allows it; refusals have Apache's code and words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.broker.server import FAST_PORT_BELOW
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import GetConsumerStatusRequest
from broker_core.protocol.headers.messages import ViewMessageByIdRequest
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest, UpdateConsumerOffsetRequest
from broker_core.protocol.headers.send import (
    ConsumerSendMessageBackRequest,
    SendMessageRequest,
    SendMessageV2Request,
)
from broker_core.protocol.headers.timers import ListTimersRequest
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.protocol.properties import format_properties
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN, CONSUMER, PRODUCER, STRANGER
from tests.support.broker import BORN, Wire, another_client, started
from tests.support.ports import free_ports

REFUSED = "org.apache.rocketmq.acl.common.AclException: "


def assert_refused(answer: Command, reason: str) -> None:
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, REFUSED + reason)


def end_of(wire: Wire) -> int:
    return wire.broker.store.max_offset("orders", 0)


async def test_who_may_send(guarded: Wire) -> None:
    for credentials, reason in (
        (None, "No accessKey is configured"),
        (Credentials("nobody-here", "a-secret-key"), "No acl config for nobody-here"),
        (Credentials("producer-account", "wrong-secret"), "Check signature failed for accessKey=producer-account"),
        (CONSUMER, "No default permission for topic:orders"),
        (STRANGER, "No default permission for topic:orders"),
    ):
        guarded.credentials = credentials
        assert_refused(await guarded.try_send("orders", b"x"), reason)
        assert_refused(await guarded.try_send("orders", b"x", code=RequestCode.SEND_BATCH_MESSAGE), reason)
    guarded.broker.components.arrivals.settle()
    assert end_of(guarded) == 0

    guarded.credentials = PRODUCER
    await guarded.send("orders", b"x")


async def test_a_changed_body_is_noticed(guarded: Wire) -> None:
    request = PRODUCER.sign(Command.request(GetMaxOffsetRequest("orders", 0), b""))
    request.body = b"x"
    answer = await guarded.client.invoke(guarded.address, request, 60_000)
    assert_refused(answer, "Check signature failed for accessKey=producer-account")


async def test_who_may_consume(guarded: Wire) -> None:
    await guarded.send("orders", b"x")

    guarded.credentials = CONSUMER
    assert [each.body for each in await guarded.pull("orders", 0, group="billing")] == [b"x"]
    assert_refused(await guarded.try_pull("orders", 0, group="other"), "No default permission for group:other")
    assert_refused(await guarded.try_pull("secrets", 0, group="billing"), "No default permission for topic:secrets")
    assert (await guarded.heartbeat("c@1", group="billing", topics={"orders": "*"})).code == ResponseCode.SUCCESS
    refused = await guarded.heartbeat("c@1", group="billing", topics={"orders": "*", "secrets": "*"})
    assert_refused(refused, "No default permission for topic:secrets")
    retries = await guarded.heartbeat("c@1", group="billing", topics={"orders": "*", "%RETRY%billing": "*"})
    assert retries.code == ResponseCode.SUCCESS

    guarded.credentials = PRODUCER
    assert_refused(await guarded.try_pop("orders", group="billing"), "No default permission for topic:orders")
    assert (await guarded.ask(GetMaxOffsetRequest("orders", 0))).code == ResponseCode.SUCCESS
    assert_refused(
        await guarded.ask(UpdateConsumerOffsetRequest("billing", "orders", 0, 1)),
        "No default permission for topic:orders",
    )


async def test_only_administrators_change_the_broker(guarded: Wire) -> None:
    guarded.credentials = CONSUMER
    answer = await guarded.ask(CreateTopicRequest("mine", 1, 1, 6))

    assert_refused(answer, "Need admin permission for request code=17, but accessKey=consumer-account is not")
    assert guarded.broker.components.topics.find("mine") is None


async def test_a_place_in_the_log_does_not_get_around_the_topic(guarded: Wire) -> None:
    await guarded.create_topic("secrets")
    await guarded.send("secrets", b"not for consumers")

    guarded.credentials = CONSUMER
    secret = "No default permission for topic:secrets"
    assert_refused(await guarded.ask(ViewMessageByIdRequest(0)), secret)
    assert_refused(await guarded.ask(ConsumerSendMessageBackRequest(0, "billing", 0)), secret)
    assert "No default permission" not in str((await guarded.ask(ViewMessageByIdRequest(1 << 40))).remark)


async def test_a_waiting_message_belongs_to_its_topic(guarded: Wire) -> None:
    await guarded.send("orders", b"later", properties={"DELAY": "18"})

    guarded.credentials = CONSUMER
    assert (await guarded.ask(ViewMessageByIdRequest(0))).code == ResponseCode.SUCCESS
    guarded.credentials = PRODUCER
    assert_refused(await guarded.ask(ViewMessageByIdRequest(0)), "No default permission for topic:orders")
    assert_refused(await guarded.ask(ListTimersRequest()), "No default permission for topic:rmq_sys_wheel_timer")


@pytest.mark.parametrize("code", [RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE])
@pytest.mark.parametrize(
    ("properties", "sys_flag"),
    [
        ({"TRAN_MSG": "true", "PGROUP": "payers"}, 0),
        ({"DELAY": "3"}, 0),
        ({"TIMER_DELAY_SEC": "60"}, 0),
        ({"TIMER_DELAY_MS": "60000"}, 0),
        ({"TIMER_DELIVER_MS": str(2 * BORN)}, 0),
        ({}, 4),
        ({}, 8),
        ({}, 0x304),
    ],
)
async def test_a_trace_neither_waits_nor_opens_a_transaction(
    guarded: Wire, properties: dict[str, str], sys_flag: int, code: RequestCode
) -> None:
    guarded.credentials = STRANGER
    answer = await guarded.try_send(
        "RMQ_SYS_TRACE_TOPIC", b"x", properties={"KEYS": "k"} | properties, sys_flag=sys_flag, code=code
    )
    assert_refused(answer, "No default permission for topic:RMQ_SYS_TRACE_TOPIC")


async def test_every_account_may_send_traces(guarded: Wire) -> None:
    guarded.credentials = STRANGER
    for sys_flag in (0, 1, 0x301):  # packed in the ways of 4.9 and 5.x
        await guarded.send("RMQ_SYS_TRACE_TOPIC", b"x", properties={"KEYS": "a b"}, sys_flag=sys_flag)
    assert_refused(
        await guarded.try_pull("RMQ_SYS_TRACE_TOPIC", 0), "No default permission for topic:RMQ_SYS_TRACE_TOPIC"
    )


@pytest.fixture
async def asker(guarded: Wire) -> AsyncIterator[Wire]:
    """A producer without any right that takes each reply."""
    other = another_client(guarded)
    other.credentials = STRANGER
    await other.heartbeat("asker", producer_group="askers")
    yield other
    await other.client.close()


@pytest.mark.parametrize("code", [RequestCode.SEND_REPLY_MESSAGE_V2, RequestCode.SEND_REPLY_MESSAGE])
async def test_a_reply_is_stored_elsewhere_only_with_the_right(guarded: Wire, asker: Wire, code: RequestCode) -> None:
    def reply(topic: str) -> Command:
        header = SendMessageRequest(topic, 0, 0, 0, 0, properties=format_properties({"REPLY_TO_CLIENT": "asker"}))
        short = SendMessageV2Request(topic, 0, 0, 0, 0, properties=header.properties)
        return Command.request(header if code == RequestCode.SEND_REPLY_MESSAGE else short, b"pong", code=code)

    async def answer(topic: str, credentials: Credentials) -> Command:
        return await guarded.client.invoke(guarded.address, credentials.sign(reply(topic)), 60_000)

    before = guarded.broker.store.appended_log_offset
    for topic, reason in (("orders", "topic:orders"), ("%RETRY%billing", "group:billing")):
        assert_refused(await answer(topic, STRANGER), f"No default permission for {reason}")
    assert (asker.pushed, guarded.broker.store.appended_log_offset) == ([], before)

    assert (await answer("local_REPLY_TOPIC", STRANGER)).code == ResponseCode.SUCCESS
    assert (await answer("orders", PRODUCER)).code == ResponseCode.SUCCESS
    assert [each.body for each in asker.pushed] == [b"pong", b"pong"]


async def test_the_members_of_a_group_are_asked_only_for_who_may_consume_as_it(guarded: Wire, asker: Wire) -> None:
    consumer = another_client(guarded)
    consumer.credentials = CONSUMER
    await consumer.heartbeat("consumer", group="billing", topics={"orders": "*"})
    told = len(consumer.pushed)

    answer = await asker.ask(GetConsumerStatusRequest("orders", "billing"))

    assert_refused(answer, "No default permission for topic:orders")
    assert len(consumer.pushed) == told
    await consumer.client.close()


async def test_an_unknown_request_needs_an_account_too(guarded: Wire) -> None:
    unknown = Command(31_999)
    assert_refused(await guarded.client.invoke(guarded.address, unknown, 60_000), "No accessKey is configured")
    answer = await guarded.client.invoke(guarded.address, STRANGER.sign(Command(31_999)), 60_000)
    assert answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


@pytest.fixture
async def trusting(tmp_path: Path) -> AsyncIterator[Wire]:
    config = tmp_path / "store" / "config"
    (config / "acl").mkdir(parents=True)
    (config / "plain_acl.yml").write_text(
        "accounts: [{accessKey: from-this-host, secretKey: a-secret-key, whiteRemoteAddress: 127.0.0.*}]\n"
    )
    async with started(tmp_path / "store", access_control=True) as wire:
        yield wire


async def test_an_account_without_a_signature_from_its_address(trusting: Wire) -> None:
    trusting.credentials = Credentials("from-this-host", "not its secret")
    await trusting.create_topic("orders")
    trusting.credentials = None
    assert_refused(await trusting.try_send("orders", b"x"), "No accessKey is configured")


async def test_addresses_that_need_no_account(trusting: Wire, tmp_path: Path) -> None:
    access = trusting.broker.components.access
    assert access is not None
    (tmp_path / "store" / "config" / "acl" / "more.yml").write_text("globalWhiteRemoteAddresses: ['10.0.0.1', '::1']\n")
    for _ in range(2):  # a change counts when two looks found the same
        await access.reload(0)
    assert_refused(await trusting.try_send("orders", b"x"), "No accessKey is configured")

    (tmp_path / "store" / "config" / "acl" / "more.yml").write_text("globalWhiteRemoteAddresses: ['127.0.0.{1,2}']\n")
    for _ in range(2):
        await access.reload(0)
    await trusting.create_topic("orders")
    await trusting.send("orders", b"x")


async def test_the_fast_port_checks_too(tmp_path: Path) -> None:
    async with started(tmp_path / "store", port=free_ports(4) + FAST_PORT_BELOW, access_control=True) as wire:
        host, _, port = wire.address.rpartition(":")
        fast = f"{host}:{int(port) - FAST_PORT_BELOW}"
        answer = await wire.client.invoke(fast, Command.request(GetMaxOffsetRequest("orders", 0)), 60_000)
        assert_refused(answer, "No accessKey is configured")
        answer = await wire.client.invoke(fast, ADMIN.sign(Command.request(GetMaxOffsetRequest("orders", 0))), 60_000)
        assert_refused(answer, "No acl config for administrator")
