"""Message look-ups over a real socket: by key, unique id and log offset."""

from __future__ import annotations

from pathlib import Path

from broker_core.broker import BrokerLimits
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.messages import QueryMessageRequest, QueryMessageResponse, ViewMessageByIdRequest
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.record import decode_many, decode_one
from tests.support.broker import Wire, started

FOREVER = 2**62


async def search(wire: Wire, key: str, *, begin: int = 0, end: int = FOREVER, count: int = 32) -> Command:
    return await wire.ask(QueryMessageRequest("orders", key, count, begin, end))


async def test_a_message_is_found_by_each_of_its_keys_and_its_unique_id(wire: Wire) -> None:
    await wire.send("orders", b"wanted", properties={"KEYS": "A17 cust-9", "UNIQ_KEY": "0AFF"})
    await wire.send("orders", b"other", properties={"KEYS": "A18"})

    for key in ("A17", "cust-9", "0AFF"):
        found = decode_many((await search(wire, key)).body)
        assert [message.body for message in found] == [b"wanted"]


async def test_the_answer_says_how_sure_it_is(wire: Wire) -> None:
    await wire.send("orders", b"x", properties={"KEYS": "A17"})

    figures = (await search(wire, "A17")).header(QueryMessageResponse)

    assert (figures.search_complete, figures.search_index_files, figures.search_entries_visited) == (True, 1, 1)
    assert (figures.search_collisions_dropped, figures.search_expired) == (0, 0)


async def test_nothing_found_is_a_statement_about_everything_there_is(wire: Wire) -> None:
    await wire.send("orders", b"x", properties={"KEYS": "A17"})

    answer = await search(wire, "nothing")

    assert answer.code == ResponseCode.QUERY_NOT_FOUND
    assert answer.header(QueryMessageResponse).search_complete is True


async def test_a_span_of_time_leaves_out_what_is_outside(wire: Wire) -> None:
    await wire.send("orders", b"x", properties={"KEYS": "A17"})
    time = wire.broker.store.store_time("orders", 0, 0)
    assert time is not None

    assert (await search(wire, "A17", begin=time, end=time)).code == ResponseCode.SUCCESS
    assert (await search(wire, "A17", end=time - 1)).code == ResponseCode.QUERY_NOT_FOUND


async def test_the_number_of_results_has_a_limit(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(query_results=3)) as wire:
        for number in range(5):
            await wire.send("orders", b"%d" % number, properties={"KEYS": "A17"})

        assert len(decode_many((await search(wire, "A17", count=1_000)).body)) == 3


async def test_of_results_too_large_for_a_frame_the_newest_are_returned_and_marked_incomplete(wire: Wire) -> None:
    for number in range(5):
        await wire.send("orders", b"%d" % number + b"x" * 3_000_000, properties={"KEYS": "A17"})

    answer = await search(wire, "A17")

    assert [message.body[:1] for message in decode_many(answer.body)] == [b"1", b"2", b"3", b"4"]
    assert answer.header(QueryMessageResponse).search_complete is False


async def test_a_record_is_read_by_its_place(wire: Wire) -> None:
    sent = await wire.send("orders", b"hello")

    answer = await wire.ask(ViewMessageByIdRequest(parse_offset_id(sent.msg_id).log_offset))

    assert decode_one(answer.body).body == b"hello"


async def test_a_place_without_a_record_is_reported(wire: Wire) -> None:
    await wire.send("orders", b"hello")

    answer = await wire.ask(ViewMessageByIdRequest(7))

    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "can not find message by the offset, 7")
