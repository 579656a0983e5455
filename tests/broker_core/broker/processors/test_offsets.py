"""Offsets over a real socket: consumed, smallest, largest, by time, and resets."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import ConsumerOffsetSerializeWrapper, QueryCorrectionOffsetBody
from broker_core.protocol.codes import EXACT_TIME_VERSION, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import offsets as headers
from broker_core.protocol.headers.admin import UpdateBrokerConfigRequest
from tests.support.broker import TIMEOUT_MS, Wire, bodies_of, started
from tests.support.wait import eventually


async def stored(wire: Wire, count: int, topic: str = "orders") -> list[int]:
    """Send messages and return their store times."""
    for number in range(count):
        await wire.send(topic, b"%d" % number)
    times = [wire.broker.store.store_time(topic, 0, offset) for offset in range(count)]
    return [time for time in times if time is not None]


async def commit(wire: Wire, offset: int, group: str = "billing", queue_id: int = 0) -> None:
    await wire.ask(headers.UpdateConsumerOffsetRequest(group, "orders", queue_id, offset))


async def offset_by_time(wire: Wire, timestamp: int) -> int:
    answer = await wire.ask(headers.SearchOffsetRequest("orders", 0, timestamp))
    return answer.header(headers.SearchOffsetResponse).offset


async def test_what_was_committed_is_returned(wire: Wire) -> None:
    await commit(wire, 17)

    answer = await wire.ask(headers.QueryConsumerOffsetRequest("billing", "orders", 0))

    assert answer.header(headers.QueryConsumerOffsetResponse).offset == 17


async def test_a_new_group_begins_at_zero_on_a_young_queue(wire: Wire) -> None:
    await stored(wire, 3)

    answer = await wire.ask(headers.QueryConsumerOffsetRequest("billing", "orders", 0))

    assert answer.header(headers.QueryConsumerOffsetResponse).offset == 0


async def test_a_group_whose_offset_is_not_a_place_is_like_a_new_one(wire: Wire) -> None:
    await stored(wire, 3)
    await commit(wire, -4)

    answer = await wire.ask(headers.QueryConsumerOffsetRequest("billing", "orders", 0))

    assert answer.header(headers.QueryConsumerOffsetResponse).offset == 0


async def test_a_new_group_learns_that_it_is_new_where_nothing_counts_as_young(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await stored(wire, 3)
        change = b"accessMessageInMemoryMaxRatio=0"
        assert (await wire.ask(UpdateBrokerConfigRequest(), change)).code == ResponseCode.SUCCESS

        answer = await wire.ask(headers.QueryConsumerOffsetRequest("billing", "orders", 0))

        assert answer.code == ResponseCode.QUERY_NOT_FOUND


async def test_a_new_group_learns_that_it_is_new_when_it_asks_for_that(wire: Wire) -> None:
    header = headers.QueryConsumerOffsetRequest("billing", "orders", 0, set_zero_if_not_found=False)

    assert (await wire.ask(header)).code == ResponseCode.QUERY_NOT_FOUND


async def test_a_commit_may_be_one_way(wire: Wire) -> None:
    header = headers.UpdateConsumerOffsetRequest("billing", "orders", 0, 5)

    await wire.client.one_way(wire.address, Command.request(header, one_way=True))

    await eventually(lambda: wire.broker.components.offsets.find("billing", "orders", 0) == 5)


async def test_the_range_of_a_queue_is_reported(wire: Wire) -> None:
    times = await stored(wire, 3)

    smallest = await wire.ask(headers.GetMinOffsetRequest("orders", 0))
    largest = await wire.ask(headers.GetMaxOffsetRequest("orders", 0))
    earliest = await wire.ask(headers.GetEarliestMsgStoretimeRequest("orders", 0))

    assert smallest.header(headers.GetMinOffsetResponse).offset == 0
    assert largest.header(headers.GetMaxOffsetResponse).offset == 3
    assert earliest.header(headers.GetEarliestMsgStoretimeResponse).timestamp == times[0]


async def test_an_unknown_queue_is_an_empty_one(wire: Wire) -> None:
    largest = await wire.ask(headers.GetMaxOffsetRequest("nothing", 9))
    earliest = await wire.ask(headers.GetEarliestMsgStoretimeRequest("nothing", 9))

    assert largest.header(headers.GetMaxOffsetResponse).offset == 0
    assert earliest.header(headers.GetEarliestMsgStoretimeResponse).timestamp == -1


async def test_a_time_leads_to_the_nearest_message_and_never_beyond_the_last(wire: Wire) -> None:
    times = await stored(wire, 3)

    assert await offset_by_time(wire, times[0] - 10_000) == 0
    assert await offset_by_time(wire, times[-1] + 10_000) == 2


async def test_to_a_client_of_5_a_time_after_the_last_message_is_the_end(wire: Wire) -> None:
    times = await stored(wire, 3)
    request = Command.request(headers.SearchOffsetRequest("orders", 0, times[-1] + 10_000))
    request.version = EXACT_TIME_VERSION

    answer = await wire.client.invoke(wire.address, request, TIMEOUT_MS)

    assert answer.header(headers.SearchOffsetResponse).offset == 3


async def test_clients_of_5_say_which_side_of_a_time_they_want(wire: Wire) -> None:
    times = await stored(wire, 3)

    async def ask(timestamp: int, side: str) -> int:
        answer = await wire.ask(headers.SearchOffsetRequest("orders", 0, timestamp, boundary_type=side))
        return answer.header(headers.SearchOffsetResponse).offset

    later = times[-1] + 10_000
    assert [await ask(later, "LOWER"), await ask(later, "upper")] == [3, 2]
    assert [await ask(times[0] - 1, "LOWER"), await ask(times[0] - 1, "UPPER")] == [0, 0]
    wrong = await wire.ask(headers.SearchOffsetRequest("orders", 0, later, boundary_type="MIDDLE"))
    assert (wrong.code, "MIDDLE" in str(wrong.remark)) == (ResponseCode.INVALID_PARAMETER, True)


async def test_all_offsets_are_reported_in_one_table(wire: Wire) -> None:
    await commit(wire, 5, queue_id=1)

    answer = await wire.client.invoke(wire.address, Command(RequestCode.GET_ALL_CONSUMER_OFFSET), TIMEOUT_MS)

    assert bodies.decode(ConsumerOffsetSerializeWrapper, answer.body).offset_table == {"orders@billing": {1: 5}}


async def test_the_smallest_offset_of_all_groups_corrects_another(wire: Wire) -> None:
    await commit(wire, 5, "billing")
    await commit(wire, 3, "audit")
    await commit(wire, 1, "left-out")

    answer = await wire.ask(headers.QueryCorrectionOffsetRequest("billing", "orders", "left-out"))

    assert bodies.decode(QueryCorrectionOffsetBody, answer.body).correction_offsets == {0: 3}
    assert wire.broker.components.offsets.find("left-out", "orders", 0) == 1


@pytest.mark.parametrize("topic", ["orders", None])
async def test_a_group_takes_over_another_s_offsets(wire: Wire, topic: str | None) -> None:
    await commit(wire, 5)

    await wire.ask(headers.CloneGroupOffsetRequest("billing", "billing-2", topic))

    assert wire.broker.components.offsets.find("billing-2", "orders", 0) == 5


async def test_a_group_that_takes_by_lease_continues_where_the_other_is(wire: Wire) -> None:
    await wire.fill("orders", b"0", b"1", b"2")
    for leased in await wire.pop("orders", group="billing-2"):
        await wire.ack(leased, group="billing-2")
    await commit(wire, 1)

    await wire.ask(headers.CloneGroupOffsetRequest("billing", "billing-2", "orders"))

    assert bodies_of(await wire.pop("orders", group="billing-2")) == [b"1", b"2"]


async def test_offsets_survive_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await commit(wire, 17)
    async with started(tmp_path) as wire:
        assert wire.broker.components.offsets.find("billing", "orders", 0) == 17
