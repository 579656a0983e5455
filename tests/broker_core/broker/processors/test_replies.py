"""Request and reply over real sockets: the reply reaches the waiting producer, or its sender gets an error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers.send import PushReplyMessageToClientRequest, SendMessageResponse
from broker_core.protocol.properties import parse_properties
from tests.support.broker import Wire, another_client

REPLIES = "local_REPLY_TOPIC"


@pytest.fixture
async def asker(wire: Wire) -> AsyncIterator[Wire]:
    """A producer that waits for a reply."""
    other = another_client(wire)
    await other.heartbeat("asker", producer_group="askers")
    yield other
    await other.client.close()


async def test_a_reply_goes_to_the_producer_that_asked_and_is_kept(wire: Wire, asker: Wire) -> None:
    properties = {"REPLY_TO_CLIENT": "asker", "CORRELATION_ID": "c1", "MSG_TYPE": "reply"}

    answer = await wire.try_send(REPLIES, b"pong", properties=properties, code=RequestCode.SEND_REPLY_MESSAGE_V2)

    assert answer.code == ResponseCode.SUCCESS
    (pushed,) = asker.pushed
    header = pushed.header(PushReplyMessageToClientRequest)
    assert (pushed.code, pushed.body) == (RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT, b"pong")
    assert (header.topic, header.store_host) == (REPLIES, wire.address)
    properties_sent = parse_properties(header.properties or "")
    assert properties_sent == properties | {"PUSH_REPLY_TIME": str(header.store_timestamp)}
    assert [stored.body for stored in await wire.pull(REPLIES, 0)] == [b"pong"]
    assert answer.header(SendMessageResponse).queue_offset == 0


@pytest.mark.parametrize(
    ("properties", "remark"),
    [
        ({}, "reply message properties[REPLY_TO_CLIENT] is null"),
        ({"REPLY_TO_CLIENT": "nobody"}, "push reply message fail, channel of <nobody> not found."),
    ],
)
async def test_the_sender_of_a_reply_that_reaches_no_client_gets_an_error(
    wire: Wire, properties: dict[str, str], remark: str
) -> None:
    answer = await wire.try_send(REPLIES, b"pong", properties=properties, code=RequestCode.SEND_REPLY_MESSAGE_V2)

    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, remark)
    assert await wire.pull(REPLIES, 0) == []


async def test_the_sender_of_a_reply_gets_an_error_when_the_requester_has_gone(wire: Wire, asker: Wire) -> None:
    await asker.client.close()

    answer = await wire.try_send(
        REPLIES, b"pong", properties={"REPLY_TO_CLIENT": "asker"}, code=RequestCode.SEND_REPLY_MESSAGE_V2
    )

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "push reply message" in str(answer.remark)


@pytest.mark.parametrize(
    ("topic", "properties", "fields"),
    [
        ("%RETRY%billing", {}, {}),
        ("%DLQ%billing", {}, {}),
        ("RMQ_SYS_TRANS_HALF_TOPIC", {}, {}),
        (REPLIES, {"DELAY": "1"}, {}),
        (REPLIES, {"TIMER_DELAY_SEC": "1"}, {}),
        (REPLIES, {"TRAN_MSG": "true", "PGROUP": "producers"}, {}),
        (REPLIES, {}, {"sys_flag": 4}),
        (REPLIES, {}, {"sys_flag": 8}),
        (REPLIES, {}, {"batch": True}),
    ],
)
async def test_a_reply_is_a_plain_message(
    wire: Wire, asker: Wire, topic: str, properties: dict[str, str], fields: dict[str, Any]
) -> None:
    answer = await wire.try_send(
        topic,
        b"pong",
        properties={"REPLY_TO_CLIENT": "asker"} | properties,
        code=RequestCode.SEND_REPLY_MESSAGE_V2,
        **fields,
    )

    assert answer.code == ResponseCode.MESSAGE_ILLEGAL
    assert "a reply" in str(answer.remark)
    assert (asker.pushed, wire.broker.store.appended_log_offset) == ([], 0)
    assert wire.broker.components.topics.find("%RETRY%billing") is None
