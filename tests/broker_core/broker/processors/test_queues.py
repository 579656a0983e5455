"""Entries of a consume queue over a real socket."""

from __future__ import annotations

from broker_core.protocol import bodies
from broker_core.protocol.bodies.topics import QueryConsumeQueueResponseBody
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.topics import QueryConsumeQueueRequest
from broker_core.protocol.string_hash import tags_code
from tests.support.broker import Wire


async def entries(wire: Wire, index: int, count: int = 5, group: str | None = None) -> QueryConsumeQueueResponseBody:
    answer = await wire.ask(QueryConsumeQueueRequest("orders", 0, index, count, group))
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    return bodies.decode(QueryConsumeQueueResponseBody, answer.body)


async def filled(wire: Wire) -> None:
    await wire.create_topic("orders")
    for _ in range(3):
        await wire.send("orders", b"x", properties={"TAGS": "a"})
    await wire.pull("orders", 0)


async def test_entries_are_returned_from_an_index_on(wire: Wire) -> None:
    await filled(wire)

    answer = await entries(wire, 1)

    assert (answer.min_queue_index, answer.max_queue_index) == (0, 3)
    assert [entry.tags_code for entry in answer.queue_data] == [tags_code("a")] * 2
    sizes = [entry.physic_size for entry in answer.queue_data]
    assert answer.queue_data[1].physic_offset - answer.queue_data[0].physic_offset == sizes[0]
    assert len((await entries(wire, 0, 1)).queue_data) == 1
    assert answer.subscription_data is None
    assert answer.filter_data is None


async def test_an_index_outside_the_queue_has_no_entries(wire: Wire) -> None:
    await filled(wire)

    for index in (-1, 3, 2**62):
        answer = await entries(wire, index)
        assert answer.queue_data == []
        assert answer.max_queue_index == 3


async def test_a_group_is_returned_with_its_subscription(wire: Wire) -> None:
    await filled(wire)
    assert (await entries(wire, 0, group="billing")).filter_data == "billing@orders is not online!"

    await wire.heartbeat("one", group="billing", topics={"orders": "a"})

    answer = await entries(wire, 0, group="billing")
    assert answer.subscription_data is not None
    assert (answer.subscription_data.sub_string, answer.filter_data) == ("a", "null")


async def test_a_queue_without_a_message_is_empty_and_another_is_not_there(wire: Wire) -> None:
    await wire.create_topic("orders")

    assert (await entries(wire, 0)).queue_data == []
    missing = await wire.ask(QueryConsumeQueueRequest("orders", 1, 0, 5))

    assert (missing.code, missing.remark) == (ResponseCode.SYSTEM_ERROR, "1@orders is not exist!")
