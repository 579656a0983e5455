"""Reading a queue by its offset."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.client.consumer.pull import PullConsumer, PullStatus
from broker_core.client.errors import BrokerRefused, NoRoute, TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from tests.broker_core.client.conftest import Live

FOR_EVER_MS = 600_000
"""Longer than a test may take, so that an unnecessary wait is noticed."""


async def test_messages_come_in_queue_order_from_the_offset_on(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a", "b", "c")
    (queue,) = await PullConsumer(live.session).queues(topic)

    result = await PullConsumer(live.session).pull(queue, 1)

    assert result.status is PullStatus.FOUND
    assert [message.body for message in result.messages] == [b"b", b"c"]
    assert (result.next_offset, result.min_offset, result.max_offset) == (3, 0, 3)


async def test_no_more_than_wanted_come(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a", "b", "c")

    result = await PullConsumer(live.session).pull(MessageQueue(topic, "broker-a", 0), 0, max_messages=2)

    assert len(result.messages) == 2


async def test_the_end_of_the_queue_is_not_a_fault(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a")

    result = await PullConsumer(live.session).pull(MessageQueue(topic, "broker-a", 0), 1)

    assert (result.status, result.messages, result.next_offset) == (PullStatus.NO_NEW, [], 1)


async def test_an_offset_outside_says_where_to_continue(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a")

    result = await PullConsumer(live.session).pull(MessageQueue(topic, "broker-a", 0), 99)

    assert (result.status, result.next_offset) == (PullStatus.OFFSET_ILLEGAL, 1)


async def test_only_wanted_tags_come(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a", tag="AaAa")
    await live.send(topic, "b", tag="BBBB")  # the same hash
    await live.send(topic, "c", tag="other")
    queue = MessageQueue(topic, "broker-a", 0)

    result = await PullConsumer(live.session).pull(queue, 0, expression="AaAa || paid")

    assert [message.body for message in result.messages] == [b"a"]
    assert result.next_offset == 3
    nothing = await PullConsumer(live.session).pull(queue, 0, expression="paid")
    assert (nothing.status, nothing.next_offset) == (PullStatus.NO_MATCHED, 3)


async def test_a_pull_waits_for_a_message(live: Live) -> None:
    topic = await live.topic(queues=1)
    queue = MessageQueue(topic, "broker-a", 0)
    await live.send(topic, "a")
    waiting = asyncio.ensure_future(PullConsumer(live.session).pull(queue, 1, wait_ms=FOR_EVER_MS))
    # It is most likely at the broker by now; if not, it finds the message there.
    await asyncio.wait([waiting], timeout=0.1)
    await live.send(topic, "b")

    result = await waiting

    assert [message.body for message in result.messages] == [b"b"]


async def test_a_large_body_comes_back_as_it_was(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "0123456789" * 1_000)

    result = await PullConsumer(live.session).pull(MessageQueue(topic, "broker-a", 0), 0)

    assert result.messages[0].is_compressed
    assert result.messages[0].body == b"0123456789" * 1_000


async def test_what_is_not_there_is_named(live: Live) -> None:
    topic = await live.topic(queues=1)
    consumer = PullConsumer(live.session)

    with pytest.raises(TopicNotFound):
        await consumer.queues("nowhere")
    with pytest.raises(NoRoute):
        await consumer.pull(MessageQueue(topic, "broker-z", 0), 0)
    with pytest.raises(BrokerRefused):
        await consumer.pull(MessageQueue(topic, "broker-a", 7), 0)


async def test_a_damaged_message_comes_as_it_is_stored_among_its_neighbours(live: Live) -> None:
    topic = await live.topic(queues=1)
    await live.send(topic, "a")
    await live.send_damaged(topic)
    await live.send(topic, "b")

    result = await PullConsumer(live.session).pull(MessageQueue(topic, "broker-a", 0), 0)

    assert [message.body for message in result.messages] == [b"a", b"hello", b"b"]
    assert [message.damage is None for message in result.messages] == [True, False, True]
    assert result.next_offset == 3
