"""Leases over a real socket: pop, acknowledge, redelivery, restart."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.broker import BrokerLimits
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.dead_letters import LEASE_ENDED, Cause, cause_of
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.pop import (
    INIT_MODE_MAX,
    EndPopWaitRequest,
    PeekMessageRequest,
    PollingInfoRequest,
    PollingInfoResponse,
    PopMessageResponse,
)
from broker_core.protocol.headers.topics import DeleteTopicRequest
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES
from tests.support.broker import Wire, another_client, bodies_of, leased_of, started
from tests.support.wait import eventually

MOST_TRIES = 17


async def waiting_pops(wire: Wire) -> int:
    answer = await wire.ask(PollingInfoRequest("lessees", "orders", 0))
    return answer.header(PollingInfoResponse).polling_num


async def dead_letters(wire: Wire) -> list[bytes]:
    return [message.body for message in await wire.pull("%DLQ%lessees", 0)]


# -- leasing


async def test_a_message_is_leased_to_one_at_a_time(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")

    assert bodies_of(await wire.pop("orders", count=2)) == [b"a", b"b"]
    assert bodies_of(await wire.pop("orders")) == [b"c"]
    assert (await wire.try_pop("orders")).code == ResponseCode.PULL_NOT_FOUND


async def test_groups_do_not_see_each_other_s_leases(wire: Wire) -> None:
    await wire.fill("orders", b"a")

    assert bodies_of(await wire.pop("orders", group="one")) == [b"a"]
    assert bodies_of(await wire.pop("orders", group="two")) == [b"a"]


async def test_all_queues_are_taken_from_in_turn(wire: Wire) -> None:
    await wire.fill("orders", *(b"%d" % number for number in range(16)), queues=4)

    first = [(await wire.pop("orders", count=1))[0].message.queue_id for _ in range(4)]

    assert sorted(first) == [0, 1, 2, 3]
    assert len(await wire.pop("orders")) == 12


async def test_one_queue_can_be_asked_for(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", queues=2)

    assert bodies_of(await wire.pop("orders", queue_id=1)) == [b"b"]


async def test_the_header_contains_what_receipts_are_built_from(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")
    await wire.pop("orders", count=1)

    answer = await wire.try_pop("orders", count=1, lease_ms=5_000)

    header = answer.header(PopMessageResponse)
    assert (header.start_offset_info, header.msg_offset_info) == ("0 0 1", "0 0 1")
    assert (header.invisible_time, header.rest_num) == (5_000, 1)


async def test_a_tag_filter_passes_what_it_wants_and_the_rest_is_done(wire: Wire) -> None:
    await wire.create_topic("orders")
    for tag in "aabab":
        await wire.send("orders", tag.encode(), properties={"TAGS": tag})

    leased = await wire.pop("orders", expression="b")

    assert bodies_of(leased) == [b"b", b"b"]
    assert await wire.lag_of("lessees", "orders") == (2, 5)
    for each in leased:
        await wire.ack(each)
    assert await wire.lag_of("lessees", "orders") == (5, 5)


async def test_a_filter_that_wants_little_is_served_far_down_the_queue(wire: Wire) -> None:
    await wire.create_topic("orders")
    for _ in range(900):
        await wire.send("orders", b"x", properties={"TAGS": "a"})
    await wire.send("orders", b"wanted", properties={"TAGS": "b"})

    assert bodies_of(await wire.pop("orders", expression="b")) == [b"wanted"]


@pytest.mark.parametrize(("mode", "found"), [(0, [b"a", b"b"]), (INIT_MODE_MAX, [b"b"])])
async def test_a_new_group_begins_where_it_wants(wire: Wire, mode: int, found: list[bytes]) -> None:
    await wire.fill("orders", b"a", b"b")

    assert bodies_of(await wire.pop("orders", init_mode=mode)) == found


async def test_a_group_that_pulled_before_continues_at_its_offset(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")
    await wire.ask(UpdateConsumerOffsetRequest("lessees", "orders", 0, 2))

    assert bodies_of(await wire.pop("orders")) == [b"c"]


async def test_a_group_that_goes_back_to_pulls_begins_at_its_first_message_without_acknowledgement(wire: Wire) -> None:
    await wire.fill("orders", b"0", b"1", b"2", b"3")
    popped = await wire.pop("orders")
    for leased in (popped[0], popped[2]):
        await wire.ack(leased)

    begin, _ = await wire.lag_of("lessees", "orders")

    assert [message.body for message in await wire.pull("orders", begin)] == [b"1", b"2", b"3"]


# -- waiting


async def test_a_pop_waits_until_a_message_arrives(wire: Wire) -> None:
    await wire.create_topic("orders", queues=4)
    waiting = asyncio.ensure_future(wire.pop("orders", wait_ms=20_000))
    await eventually(lambda: waiting_pops(wire))

    await wire.send("orders", b"news", queue_id=3)

    assert bodies_of(await waiting) == [b"news"]


async def test_one_message_goes_to_the_one_that_waits_longest(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = []
    for count in (1, 2, 3):
        waiting.append(asyncio.ensure_future(wire.pop("orders", wait_ms=20_000)))
        await eventually(lambda count=count: _is(waiting_pops(wire), count))

    await wire.send("orders", b"news")

    assert bodies_of(await waiting[0]) == [b"news"]
    assert await waiting_pops(wire) == 2
    for each in waiting[1:]:
        each.cancel()


async def _is(value: asyncio.Future[int] | object, wanted: int) -> bool:
    return await value == wanted  # type: ignore[misc, no-any-return]


async def test_a_wait_ends_when_its_time_is_over(wire: Wire) -> None:
    await wire.create_topic("orders")
    began = time.monotonic()

    answer = await wire.try_pop("orders", wait_ms=200)

    assert answer.code == ResponseCode.POLLING_TIMEOUT
    # The clocks of loop and test differ by less than a step of the loop's.
    assert time.monotonic() - began >= 0.19


async def test_a_client_that_is_gone_takes_no_message(wire: Wire) -> None:
    await wire.create_topic("orders")
    other = another_client(wire)
    waiting = asyncio.ensure_future(other.pop("orders", wait_ms=20_000))
    await eventually(lambda: waiting_pops(wire))
    await other.client.close()
    await asyncio.wait([waiting])
    assert waiting.exception() is not None

    await wire.send("orders", b"news")

    assert bodies_of(await wire.pop("orders")) == [b"news"]
    assert await waiting_pops(wire) == 0


async def test_a_waiting_pop_with_another_filter_does_not_stand_in_the_way(wire: Wire) -> None:
    await wire.create_topic("orders")
    choosy = asyncio.ensure_future(wire.pop("orders", wait_ms=20_000, expression="b"))
    await eventually(lambda: waiting_pops(wire))
    other = asyncio.ensure_future(wire.pop("orders", wait_ms=20_000, queue_id=0))
    await eventually(lambda: _is(waiting_pops(wire), 2))

    await wire.send("orders", b"for b", properties={"TAGS": "b"})
    assert bodies_of(await choosy) == [b"for b"]

    await wire.send("orders", b"for all", properties={"TAGS": "a"})
    assert bodies_of(await other) == [b"for all"]


# -- attempts


async def test_an_attempt_that_is_repeated_gets_the_same_messages_with_the_same_receipts(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c", queues=2)
    first = await wire.pop("orders", count=2, attempt_id="c0ffee")

    again = await wire.pop("orders", count=2, attempt_id="c0ffee")
    assert again == first

    await wire.ack(first[0])
    assert await wire.pop("orders", attempt_id="c0ffee") == first[1:]
    assert len(await wire.pop("orders", attempt_id="other")) == 1


async def test_an_attempt_whose_leases_ended_is_a_new_one(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    await wire.pop("orders", lease_ms=50, attempt_id="c0ffee")
    await eventually(lambda: wire.due_again("lessees", "orders") == 1)

    (again,) = await wire.pop("orders", attempt_id="c0ffee")

    assert again.message.reconsume_times == 1


# -- order


async def test_an_ordered_group_gets_the_next_only_when_the_last_are_settled(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")
    first, second = await wire.pop("orders", count=2, order=True)
    assert await wire.pop("orders", order=True) == []

    waiting = asyncio.ensure_future(wire.pop("orders", order=True, wait_ms=20_000))
    await eventually(lambda: waiting_pops(wire))
    await wire.ack(first)
    assert not waiting.done()
    await wire.ack(second)

    assert bodies_of(await waiting) == [b"c"]


async def test_an_ordered_group_gets_what_was_not_settled_before_anything_new(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b", b"c")
    first, second = await wire.pop("orders", count=2, order=True)
    await wire.ack(first)
    await wire.change(second, 50)

    again = await wire.pop("orders", count=1, order=True, wait_ms=10_000)

    assert bodies_of(again) == [b"b"]
    assert await wire.pop("orders", order=True) == []


async def test_an_ordered_group_gets_what_it_put_off_and_nothing_that_it_acknowledged(wire: Wire) -> None:
    await wire.fill("orders", b"0", b"1", b"2", b"3")
    first, second, third = await wire.pop("orders", count=3, order=True)
    await wire.ack(first)
    await wire.change(second, 2_000)
    await wire.ack(third)
    assert await wire.pop("orders", order=True) == []

    again = await wire.pop("orders", order=True, wait_ms=10_000)

    assert bodies_of(again) == [b"1", b"3"]
    for leased in again:
        await wire.ack(leased)
    assert await wire.lag_of("lessees", "orders") == (4, 4)


# -- peeking


async def test_a_look_takes_nothing(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b")
    await wire.pop("orders", count=1)

    answer = await wire.ask(PeekMessageRequest("lessees", "orders", 0, 5))

    assert [each.message.body for each in leased_of(answer)] == [b"b"]
    assert bodies_of(await wire.pop("orders")) == [b"b"]


# -- refusals


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"queue_id": 1}, ResponseCode.INVALID_PARAMETER),
        ({"queue_id": -2}, ResponseCode.INVALID_PARAMETER),
        ({"count": 33}, ResponseCode.INVALID_PARAMETER),
        ({"lease_ms": 0}, ResponseCode.INVALID_PARAMETER),
        ({"expression": "||"}, ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        ({"exp_type": "SQL92", "expression": "a >"}, ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        ({"exp_type": "XPATH"}, ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_a_pop_that_cannot_be_served_says_why(wire: Wire, fields: dict[str, object], code: ResponseCode) -> None:
    await wire.fill("orders", b"a")

    answer = await wire.try_pop("orders", **fields)  # type: ignore[arg-type]

    assert answer.code == code
    assert answer.remark


async def test_an_unknown_topic_is_named(wire: Wire) -> None:
    assert (await wire.try_pop("nothing")).code == ResponseCode.TOPIC_NOT_EXIST


async def test_a_receipt_that_is_none_is_refused(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    (leased,) = await wire.pop("orders")

    answer = await wire.ack(replace(leased, pop_time="soon"))  # type: ignore[arg-type]

    assert answer.code == ResponseCode.INVALID_PARAMETER


async def test_a_group_that_holds_too_many_settles_some_first(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(leases_per_group=2)) as wire:
        await wire.fill("orders", b"a", b"b", b"c")
        leased = await wire.pop("orders")
        assert bodies_of(leased) == [b"a", b"b"]

        answer = await wire.try_pop("orders", wait_ms=5_000)
        assert answer.code == ResponseCode.FLOW_CONTROL
        assert "leases_per_group=2" in str(answer.remark)

        await wire.ack(leased[0])
        assert bodies_of(await wire.pop("orders")) == [b"c"]


async def test_one_waiting_pop_too_many_is_turned_away_by_name(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(parked_pops=0)) as wire:
        await wire.create_topic("orders")

        assert (await wire.try_pop("orders", wait_ms=5_000)).code == ResponseCode.POLLING_FULL


async def test_a_client_that_disconnects_takes_its_waits_with_it(wire: Wire) -> None:
    await wire.create_topic("orders")
    gone = another_client(wire)
    asking = [asyncio.ensure_future(gone.try_pop("orders", wait_ms=30_000)) for _ in range(20)]

    async def all_wait() -> bool:
        return await waiting_pops(wire) == 20

    async def none_waits() -> bool:
        return await waiting_pops(wire) == 0

    await eventually(all_wait)
    await gone.client.close()
    await asyncio.gather(*asking, return_exceptions=True)
    await eventually(none_waits)

    await wire.fill("orders", b"a")

    (leased,) = await wire.pop("orders")
    assert leased.message.reconsume_times == 0


async def test_a_wait_is_ended_by_its_name_on_its_own_connection(wire: Wire) -> None:
    await wire.create_topic("orders")
    other = another_client(wire)
    asking = asyncio.ensure_future(wire.try_pop("orders", wait_ms=30_000, poll_id="7"))
    staying = asyncio.ensure_future(wire.try_pop("orders", wait_ms=30_000, poll_id="8"))

    async def both_wait() -> bool:
        return await waiting_pops(wire) == 2

    await eventually(both_wait)
    for stranger in (await other.ask(EndPopWaitRequest("7")), await wire.ask(EndPopWaitRequest("9"))):
        assert stranger.code == ResponseCode.SUCCESS
    assert await waiting_pops(wire) == 2

    await wire.ask(EndPopWaitRequest("7"))

    assert (await asking).code == ResponseCode.POLLING_TIMEOUT
    await wire.fill("orders", b"a")
    assert bodies_of(leased_of(await staying)) == [b"a"]
    await other.client.close()


async def test_a_message_with_a_receipt_of_another_delivery_can_be_acknowledged(wire: Wire) -> None:
    await wire.create_topic("orders")
    await wire.send("orders", b"forwarded", properties={"POP_CK": "1 2 3 0 0 broker-b 4 5", "1ST_POP_TIME": "7"})

    (leased,) = await wire.pop("orders")

    assert not {"POP_CK", "1ST_POP_TIME"} & {*leased.message.properties}
    assert (await wire.ack(leased)).code == ResponseCode.SUCCESS
    assert await wire.lag_of("lessees", "orders") == (1, 1)


async def test_a_redelivered_message_has_its_first_delivery_time_also_after_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"nacked", b"extended", b"expired")
        first = await wire.pop("orders", lease_ms=400)
        assert not any("1ST_POP_TIME" in leased.message.properties for leased in first)
        await wire.change(first[0], 0)
        await wire.change(first[1], 300)
        again: list[str] = []
        while len(again) < 3:
            for leased in await wire.pop("orders", wait_ms=10_000):
                again.append(leased.message.properties["1ST_POP_TIME"])
                await wire.change(leased, 0)
        assert again == [str(first[0].pop_time)] * 3

    async with started(tmp_path) as wire:
        (last, *_) = await wire.pop("orders", wait_ms=10_000)
        assert last.message.properties["1ST_POP_TIME"] == again[0]


async def test_a_message_that_no_client_received_counts_as_undelivered_also_after_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"a")
        for _ in range(20):
            (leased,) = await wire.pop("orders", wait_ms=10_000)
            assert leased.message.reconsume_times == 0
            await wire.change(leased, 0, suspend=True)

    async with started(tmp_path) as wire:
        (leased,) = await wire.pop("orders", wait_ms=10_000)
        assert leased.message.reconsume_times == 0
        await wire.change(leased, 0)
        (leased,) = await wire.pop("orders", wait_ms=10_000)
        assert leased.message.reconsume_times == 1


# -- outside changes and restarts


async def test_setting_the_offset_back_gives_the_messages_again(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b")
    for leased in await wire.pop("orders"):
        await wire.ack(leased)

    await wire.ask(UpdateConsumerOffsetRequest("lessees", "orders", 0, 0))

    again = await wire.pop("orders")
    assert bodies_of(again) == [b"a", b"b"]
    assert [each.message.reconsume_times for each in again] == [0, 0]


async def test_a_recreated_topic_is_popped_from_its_beginning(wire: Wire) -> None:
    await wire.fill("orders", b"a", b"b")
    await wire.pop("orders")
    await wire.ask(DeleteTopicRequest("orders"))

    await wire.fill("orders", b"c")

    assert bodies_of(await wire.pop("orders")) == [b"c"]


async def test_leases_survive_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"a", b"b", b"c", b"d")
        first, second, third = await wire.pop("orders", count=3, lease_ms=60_000)
        await wire.ack(second)
        await wire.change(third, 300)

    async with started(tmp_path) as wire:
        # Acknowledged messages do not come again, leased ones not yet, and messages never leased are new.
        assert bodies_of(await wire.pop("orders")) == [b"d"]
        (again,) = await wire.pop("orders", wait_ms=10_000)
        assert (again.message.body, again.message.reconsume_times) == (b"c", 1)
        # A receipt from before the restart is still valid.
        assert (await wire.ack(first)).code == ResponseCode.SUCCESS
        assert await wire.lag_of("lessees", "orders") == (2, 4)


async def test_a_poison_message_becomes_one_dead_letter_and_is_never_redelivered(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.fill("orders", b"poison")
        counts: list[int] = []
        for _ in range(60):
            for leased in await wire.pop("orders", wait_ms=10_000 if len(counts) < MOST_TRIES else 50):
                counts.append(leased.message.reconsume_times + 1)
                await wire.change(leased, 0)

        assert counts == list(range(1, MOST_TRIES + 1))
        (letter,) = await wire.pull("%DLQ%lessees", 0)
        assert letter.body == b"poison"
        assert letter.reconsume_times == MOST_TRIES
        assert cause_of(letter) == Cause(LEASE_ENDED, "reason")
        assert await wire.lag_of("lessees", "orders") == (1, 1)

    async with started(tmp_path) as wire:
        assert bodies_of(await wire.pop("orders")) == []
        assert await dead_letters(wire) == [b"poison"]
        assert await wire.lag_of("lessees", "orders") == (1, 1)


async def test_a_message_with_all_the_properties_that_fit_becomes_a_dead_letter_without_a_cause(wire: Wire) -> None:
    text = "x" * (MAX_PROPERTIES_BYTES - 300)
    await wire.send("orders", b"large", properties={"a": text})
    for _ in range(MOST_TRIES):
        (leased,) = await wire.pop("orders", wait_ms=10_000)
        await wire.change(leased, 0, failure="y" * 500)
    await eventually(lambda: _buried(wire))
    (letter,) = await wire.pull("%DLQ%lessees", 0)
    assert letter.properties["a"] == text
    assert cause_of(letter) == Cause(None, "none")


async def _buried(wire: Wire) -> bool:
    return bodies_of(await wire.pop("orders", wait_ms=50)) == [] and await wire.lag_of("lessees", "orders") == (1, 1)


async def test_an_offset_after_the_end_passes_over_nothing_that_comes(wire: Wire) -> None:
    await wire.fill("orders", b"a")
    for leased in await wire.pop("orders"):
        await wire.ack(leased)
    await wire.ask(UpdateConsumerOffsetRequest("lessees", "orders", 0, 9))
    assert bodies_of(await wire.pop("orders")) == []

    await wire.fill("orders", b"b")

    assert bodies_of(await wire.pop("orders")) == [b"b"]


async def test_a_broker_that_may_not_be_read_lends_nothing(wire: Wire) -> None:
    await wire.fill("orders", b"x")
    wire.broker.components.settings.update({"brokerPermission": "2"}, now=1)

    assert (await wire.try_pop("orders")).code == ResponseCode.NO_PERMISSION
