"""Questions that a broker forwards to clients, over real sockets."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.broker import Periods
from broker_core.broker.limits import BrokerLimits
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import GetConsumerStatusBody
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import clients as headers
from broker_core.protocol.record import decode_one
from tests.support.broker import Wire, another_client, started

QUEUE = MessageQueue("orders", "broker-a", 0)


async def test_a_request_is_forwarded_to_the_client_and_its_answer_returned(wire: Wire) -> None:
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    answer = await wire.ask(headers.GetConsumerRunningInfoRequest("billing", "one"))

    assert (answer.code, answer.body) == (ResponseCode.SUCCESS, b"from the client")


async def test_a_message_is_sent_to_a_client_to_be_consumed_now(wire: Wire) -> None:
    sent = await wire.send("orders", b"hello")
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    await wire.ask(headers.ConsumeMessageDirectlyRequest("billing", "one", sent.msg_id))

    push = next(push for push in wire.pushed if push.code == RequestCode.CONSUME_MESSAGE_DIRECTLY)
    assert push.ext_fields["brokerName"] == "broker-a"
    assert decode_one(push.body).body == b"hello"


async def test_a_client_that_is_not_there_cannot_be_asked(wire: Wire) -> None:
    answer = await wire.ask(headers.GetConsumerRunningInfoRequest("billing", "one"))

    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "The Consumer <billing> <one> not online")


async def test_a_client_that_does_not_answer_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    async with started(tmp_path, periods=replace(Periods(), relay_timeout=50)) as wire:
        other = another_client(wire)
        connection = await other.client.connection(wire.address)
        await other.heartbeat("one", group="billing", topics={"orders": "*"})
        connection.stop_reading()

        answer = await wire.ask(headers.GetConsumerRunningInfoRequest("billing", "one"))

        assert answer.code == ResponseCode.CONSUME_MSG_TIMEOUT
        await asyncio.wait_for(other.client.close(), 5)


# -- positions of the members of a group


def answering(wire: Wire, *offsets: int) -> None:
    """Make a client answer with these offsets, one after another."""
    left = list(offsets)

    def answer(_: Command) -> Command:
        body = GetConsumerStatusBody(message_queue_table={QUEUE: left.pop(0)})
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    wire.answers[RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT] = answer


async def positions(wire: Wire, client_id: str | None = None) -> dict[str, dict[MessageQueue, int]]:
    answer = await wire.ask(headers.GetConsumerStatusRequest("orders", "billing", client_id))
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return bodies.decode(GetConsumerStatusBody, answer.body).consumer_table


async def test_members_are_asked_where_they_are(wire: Wire) -> None:
    answering(wire, 7, 8)
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    assert await positions(wire) == {"one": {QUEUE: 7}}
    assert await positions(wire, "one") == {"one": {QUEUE: 8}}
    assert await positions(wire, "two") == {}


async def test_a_member_whose_answer_takes_too_long_to_read_is_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with started(tmp_path, limits=BrokerLimits(loose_json_bytes=100)) as wire:
        body = bodies.encode(GetConsumerStatusBody(message_queue_table={QUEUE: 10**18}))
        assert len(body) > 100
        wire.answers[RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT] = lambda _: Command.response(0, body=body)
        await wire.heartbeat("one", group="billing", topics={"orders": "*"})

        assert await positions(wire) == {}
        assert "group=billing client=one: did not report its offsets: limit loose_json_bytes=100 reached" in caplog.text


async def test_a_member_whose_answer_cannot_be_read_is_left_out(wire: Wire) -> None:
    await wire.heartbeat("one", group="billing", topics={"orders": "*"})

    assert await positions(wire) == {}  # it says "from the client", which is not a table


async def test_a_group_without_members_has_no_positions(wire: Wire) -> None:
    answer = await wire.ask(headers.GetConsumerStatusRequest("orders", "billing"))

    assert (answer.code, answer.remark) == (
        ResponseCode.SYSTEM_ERROR,
        "No Any Consumer online in the consumer group: [billing]",
    )
