"""Settling leases over a real socket: acknowledge, extend, return, and refusals."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.pop import (
    AckResult,
    BatchAck,
    BatchAckMessageRequestBody,
    BatchAckMessageResponseBody,
)
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.groups import CreateSubscriptionGroupRequest
from broker_core.protocol.headers.pop import BatchAckMessageRequest, ChangeInvisibleTimeResponse
from tests.support.broker import Wire, bodies_of
from tests.support.wait import eventually

VOID = "the receipt is void: its lease was extended or returned, or the message was delivered again"


async def test_the_group_s_offset_is_the_lowest_message_that_is_not_acknowledged(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")
    first, second, third = await wire.pop("orders")
    assert await wire.lag_of("lessees", "orders") == (0, 3)

    await wire.ack(second)
    assert await wire.lag_of("lessees", "orders") == (0, 3)

    await wire.ack(first)
    assert await wire.lag_of("lessees", "orders") == (2, 3)

    await wire.ack(third)
    assert await wire.lag_of("lessees", "orders") == (3, 3)


async def test_an_acknowledgement_is_idempotent_and_says_so(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (leased,) = await wire.pop("orders")

    first, second = await wire.ack(leased), await wire.ack(leased)

    assert (first.code, first.remark) == (ResponseCode.SUCCESS, None)
    assert (second.code, second.remark) == (ResponseCode.SUCCESS, "already acknowledged")
    extended = await wire.change(leased, 60_000)
    assert (extended.code, extended.remark) == (ResponseCode.NO_MESSAGE, "the message is already done")


async def test_a_message_is_redelivered_when_its_lease_ends_and_says_how_often(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (first,) = await wire.pop("orders", lease_ms=100)

    (second,) = await wire.pop("orders", wait_ms=10_000)

    assert (first.message.reconsume_times, second.message.reconsume_times) == (0, 1)
    assert second.message.queue_offset == first.message.queue_offset
    assert second.message.body == b"a"


async def test_an_acknowledgement_after_the_end_is_refused_and_says_why(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (first,) = await wire.pop("orders", lease_ms=50)
    (second,) = await wire.pop("orders", wait_ms=10_000)

    answer = await wire.ack(first)

    assert answer.code == ResponseCode.NO_MESSAGE
    assert answer.remark == VOID
    assert (await wire.ack(second)).code == ResponseCode.SUCCESS


async def test_an_acknowledgement_between_the_end_and_the_next_delivery_says_when_the_lease_ended(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (first,) = await wire.pop("orders", lease_ms=1)
    await eventually(lambda: wire.due_again("lessees", "orders") == 1)

    assert str((await wire.ack(first)).remark).endswith("ms ago; the message may be delivered again")


async def test_a_lease_can_be_made_longer_and_the_old_receipt_is_void(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (first,) = await wire.pop("orders", lease_ms=300)

    answer = await wire.change(first, 60_000)

    changed = answer.header(ChangeInvisibleTimeResponse)
    assert changed.invisible_time == 60_000
    assert (await wire.ack(first)).remark == VOID
    assert await wire.pop("orders", wait_ms=500) == []
    renewed = replace(first, pop_time=changed.pop_time, invisible_ms=changed.invisible_time)
    assert (await wire.ack(renewed)).code == ResponseCode.SUCCESS


async def test_a_message_can_be_given_back_at_once(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (first,) = await wire.pop("orders")

    await wire.change(first, 0)
    again = await wire.change(first, 60_000)
    assert (again.code, again.remark) == (ResponseCode.NO_MESSAGE, VOID)
    (second,) = await wire.pop("orders", wait_ms=10_000)

    assert second.message.reconsume_times == 1


async def test_what_was_never_leased_cannot_be_acknowledged(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (leased,) = await wire.pop("orders")
    message = replace(leased.message, queue_offset=type(leased.message.queue_offset)(7))

    answer = await wire.ack(replace(leased, message=message))
    assert answer.code == ResponseCode.NO_MESSAGE
    assert (answer.remark or "").startswith("no lease with this receipt is known: a switch of the master")
    stranger = await wire.ack(leased, group="strangers")
    assert stranger.code == ResponseCode.NO_MESSAGE
    assert (stranger.remark or "").endswith("group strangers has none in topic orders queue 0")


async def test_many_can_be_acknowledged_at_once(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c", b"d")
    leased = await wire.pop("orders")
    ack = BatchAck(
        "lessees",
        "orders",
        start_offset=0,
        queue_id=0,
        pop_time=leased[0].pop_time,
        invisible_time=60_000,
        bit_set=base64.b64encode(bytes([0b1011])).decode(),
    )

    strange = replace(ack, consumer_group="strangers")
    body = bodies.encode(BatchAckMessageRequestBody("broker-a", [ack, strange]))

    answer = await wire.ask(BatchAckMessageRequest(), body)
    again = await wire.ask(BatchAckMessageRequest(), body)

    assert (answer.code, answer.remark) == (ResponseCode.SUCCESS, "3 leases were lost")
    assert await wire.lag_of("lessees", "orders") == (2, 4)
    done, known, lost = AckResult.DONE, AckResult.ALREADY_DONE, AckResult.LOST
    results = [bodies.decode(BatchAckMessageResponseBody, each.body).results for each in (answer, again)]
    assert results == [[done] * 3 + [lost] * 3, [known] * 3 + [lost] * 3]


@pytest.mark.parametrize(
    ("bits", "remark"),
    [
        ("no base64!", "the bit set 'no base64!' is not Base64"),
        ("é", "the bit set 'é' is not Base64"),
        (
            base64.b64encode(b"\xff" * 12_501).decode(),
            "a bit set of 100008 messages; limit leases_per_group leaves room for 100000",
        ),
    ],
)
async def test_a_bit_set_that_is_none_or_too_long_is_refused(wire: Wire, bits: str, remark: str) -> None:
    await wire.fill("orders", b"a")
    [leased] = await wire.pop("orders")
    ack = BatchAck("lessees", "orders", pop_time=leased.pop_time, invisible_time=60_000, bit_set=bits)

    answer = await wire.ask(BatchAckMessageRequest(), bodies.encode(BatchAckMessageRequestBody("broker-a", [ack])))

    assert answer.code == ResponseCode.INVALID_PARAMETER
    assert str(answer.remark).startswith(remark)


async def test_a_receipt_of_a_time_that_cannot_be_is_refused(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    [leased] = await wire.pop("orders")

    answer = await wire.ack(replace(leased, pop_time=10**30))

    assert answer.code == ResponseCode.INVALID_PARAMETER


async def test_a_lease_of_more_than_a_month_is_refused(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    assert (await wire.try_pop("orders", lease_ms=2**62)).code == ResponseCode.INVALID_PARAMETER
    [leased] = await wire.pop("orders")
    assert (await wire.change(leased, 2**62)).code == ResponseCode.INVALID_PARAMETER


async def test_a_message_that_was_leased_too_often_is_a_dead_letter(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b")
    config = SubscriptionGroupConfig("lessees", retry_max_times=1)
    await wire.ask(CreateSubscriptionGroupRequest(), bodies.encode(config))
    for tries in (0, 1):
        (leased,) = await wire.pop("orders", count=1, wait_ms=10_000)
        assert leased.message.reconsume_times == tries
        await wire.change(leased, 0)
        await eventually(lambda: wire.due_again("lessees", "orders") == 1)

    assert bodies_of(await wire.pop("orders")) == [b"b"]
    (dead,) = await wire.pull("%DLQ%lessees", 0)
    assert dead.body == b"a"
    assert dead.properties["RETRY_TOPIC"] == "orders"
    assert await wire.lag_of("lessees", "orders") == (1, 2)
