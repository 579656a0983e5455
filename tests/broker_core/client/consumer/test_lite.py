"""A consumer that is polled for messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.client.consumer.lite import LITE, LitePullConsumer
from broker_core.client.errors import ClientClosed, TopicNotFound
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumeResult
from broker_core.protocol.message import QueueOffset
from tests.broker_core.client.conftest import Live
from tests.support.stored import stored
from tests.support.wait import eventually

FOR_EVER_MS = 600_000
"""Longer than a test may take, so that an unnecessary wait is noticed."""
FIRST = replace(LITE, start_from="first", persist_offsets_ms=50)


async def test_a_later_poll_commits_what_an_earlier_one_gave(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.send(topic, "a", "b")
    queue = MessageQueue(topic, "broker-a", 0)
    async with LitePullConsumer(live.session, group, FIRST, auto_commit_ms=0) as consumer:
        consumer.subscribe(topic)
        assert [message.body for message in await consumer.poll()] == [b"a", b"b"]
        assert consumer.positions(topic) == {}

        assert await consumer.poll(10) == []

        assert consumer.positions(topic) == {queue: 2}
        assert await live.admin.offsets.find(group, queue) in (0, 2)

        async def is_stored() -> bool:
            return await consumer.committed(queue) == 2

        await eventually(is_stored)


async def test_it_goes_where_it_is_sent(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.send(topic, "a", "b", "c")
    queue = MessageQueue(topic, "broker-a", 0)
    async with LitePullConsumer(live.session, group, FIRST) as consumer:
        await consumer.assign([queue])
        await consumer.seek_to_end(queue)
        await live.send(topic, "d")
        assert [message.body for message in await consumer.poll()] == [b"d"]
        await consumer.seek_to_begin(queue)
        assert [message.body for message in await consumer.poll(max_messages=2)] == [b"a", b"b"]
        # As an operator who resets the group does
        consumer.reset_offsets(topic, {queue: 3})
        assert [message.body for message in await consumer.poll()] == [b"d"]
        await consumer.commit({queue: QueueOffset(1)})
        assert consumer.positions(topic) == {queue: 1}
        with pytest.raises(ValueError, match="not assigned to this consumer"):
            await consumer.seek(replace(queue, queue_id=9), 0)


async def test_queues_are_subscribed_or_assigned(live: Live) -> None:
    topic = await live.topic(queues=1)
    queue = MessageQueue(topic, "broker-a", 0)
    async with LitePullConsumer(live.session, live.group(), FIRST) as by_hand:
        await by_hand.assign([queue])
        with pytest.raises(ValueError, match="either"):
            by_hand.subscribe(topic)
    async with LitePullConsumer(live.session, live.group(), FIRST) as by_topic:
        by_topic.subscribe(topic)
        with pytest.raises(ValueError, match="either"):
            await by_topic.assign([queue])


async def test_an_operator_sees_it_and_cannot_call_its_handler(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    async with LitePullConsumer(live.session, group, FIRST) as consumer:
        consumer.subscribe(topic)
        await eventually(lambda: consumer.assigned)
        assert consumer.running_info().properties["PROP_CONSUME_TYPE"] == "CONSUME_ACTIVELY"
        assert (await consumer.consume_directly(stored())).consume_result is ConsumeResult.CR_THROW_EXCEPTION
        connected = await live.admin.groups.connections(group)
        assert connected is not None


async def test_a_start_that_fails_leaves_the_group_free(live: Live) -> None:
    group = live.group()
    early = LitePullConsumer(live.session, group, FIRST)
    early.subscribe("not-there-yet")
    with pytest.raises(TopicNotFound):
        await early.start()

    async with LitePullConsumer(live.session, group, FIRST) as consumer:
        assert consumer.assigned == ()


async def test_offsets_of_other_queues_are_committed_too(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    await live.send(topic, "a", "b", "c", "d")
    mine, other = (MessageQueue(topic, "broker-a", number) for number in (0, 1))
    async with LitePullConsumer(live.session, group, FIRST, auto_commit=False) as consumer:
        await consumer.assign([mine])

        await consumer.commit({other: 1})

        async def is_stored() -> bool:
            return await consumer.committed(other) == 1

        await eventually(is_stored)


async def test_a_consumer_that_does_not_run_has_nothing_to_poll(live: Live) -> None:
    consumer = LitePullConsumer(live.session, live.group(), FIRST)
    with pytest.raises(ClientClosed):
        await consumer.poll()

    async with consumer:
        assert await consumer.poll(10) == []

    with pytest.raises(ClientClosed):
        await consumer.poll()


async def test_a_damaged_message_is_left_out_and_logged(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.send_damaged(topic)
    await live.send(topic, "a")
    queue = MessageQueue(topic, "broker-a", 0)
    async with LitePullConsumer(live.session, group, FIRST) as consumer:
        consumer.subscribe(topic)
        polled = await consumer.poll(FOR_EVER_MS)
        await consumer.commit()

        assert [message.body for message in polled] == [b"a"]
        assert consumer.positions(topic) == {queue: 2}
    assert f"topic={topic} queue=broker-a/0 offset=0: the message is damaged" in caplog.text
