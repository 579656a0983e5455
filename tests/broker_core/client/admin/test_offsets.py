"""Offsets of queues and groups."""

from __future__ import annotations

import pytest

from broker_core.client.admin.offsets import TO_THE_END
from broker_core.client.errors import NoRoute, TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from tests.broker_core.client.conftest import Live


async def test_bounds_of_a_queue(live: Live) -> None:
    topic = await live.topic(queues=1)
    queue = MessageQueue(topic, "broker-a", 0)
    assert await live.admin.offsets.earliest_at(queue) is None

    await live.send(topic, "a", "b")

    assert (await live.admin.offsets.min(queue), await live.admin.offsets.max(queue)) == (0, 2)
    assert await live.admin.offsets.earliest_at(queue)


async def test_an_offset_by_time(live: Live) -> None:
    topic = await live.topic(queues=1)
    queue = MessageQueue(topic, "broker-a", 0)
    await live.send(topic, "a", "b", "c")
    second = await live.admin.messages.at(queue, 1)
    assert second is not None

    assert await live.admin.offsets.by_time(queue, 0) == 0
    assert await live.admin.offsets.by_time(queue, 2**62) == 2
    found = await live.admin.offsets.by_time(queue, second.message.store_timestamp)
    at = await live.admin.messages.at(queue, found)
    assert at is not None
    assert at.message.store_timestamp == second.message.store_timestamp


async def test_a_group_has_the_offset_that_was_set(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    queue = MessageQueue(topic, "broker-a", 0)
    await live.send(topic, "a", "b")

    answers = await live.admin.offsets.set(group, {queue: 1})

    assert answers.complete
    assert await live.admin.offsets.find(group, queue) == 1


async def test_a_queue_of_an_unknown_broker_is_named(live: Live) -> None:
    queue = MessageQueue("orders", "broker-z", 0)

    with pytest.raises(NoRoute, match="broker-z"):
        await live.admin.offsets.max(queue)
    answers = await live.admin.offsets.set("g", {queue: 1})
    assert list(answers.failed) == ["orders@broker-z@0"]


async def test_a_group_without_members_is_reset(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    results = await live.send(topic, "a", "b", "c", "d")
    queues = {result.queue for result in results}
    await live.admin.offsets.set(group, dict.fromkeys(queues, 2))

    back = await live.admin.offsets.reset(group, topic, 0)
    assert back.failed == {}
    assert back.offsets == dict.fromkeys(queues, 0)
    assert (await live.admin.groups.consume_stats(group, topic=topic)).lag == 4

    forward = await live.admin.offsets.reset(group, topic, TO_THE_END)
    assert forward.offsets == dict.fromkeys(queues, 2)
    assert (await live.admin.groups.consume_stats(group, topic=topic)).lag == 0


async def test_without_force_no_queue_goes_forward(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    queue = MessageQueue(topic, "broker-a", 0)
    await live.send(topic, "a", "b")
    await live.admin.offsets.set(group, {queue: 1})

    reset = await live.admin.offsets.reset(group, topic, TO_THE_END, force=False)

    assert reset.offsets == {queue: 1}


async def test_a_group_that_never_read_one_of_the_queues_is_reset_all_the_same(live: Live) -> None:
    topic, group = await live.topic(queues=3), live.group()
    await live.send(topic, "a", "b", "c")
    await live.admin.offsets.set(group, {MessageQueue(topic, "broker-a", 0): 1})

    reset = await live.admin.offsets.reset(group, topic, TO_THE_END)

    assert reset.failed == {}
    assert set(reset.offsets.values()) == {1}
    with pytest.raises(TopicNotFound):
        await live.admin.offsets.reset(group, "nowhere", 0)
