"""A group that shares queues, with the real broker."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.push import MessageHandler, PushConsumer, RetryLater
from broker_core.client.errors import GroupTaken, NameIllegal
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.running import ConsumeResult
from broker_core.protocol.message import StoredMessage
from tests.broker_core.client.conftest import Live
from tests.support.cluster import create_topic
from tests.support.stored import stored
from tests.support.wait import eventually

FIRST = PushConfig(start_from="first", persist_offsets_ms=50)


class Collected:
    """A handler that collects its messages."""

    def __init__(self, then: Callable[[StoredMessage], Awaitable[object]] | None = None) -> None:
        self.messages: list[StoredMessage] = []
        self._then = then

    async def __call__(self, message: StoredMessage) -> None:
        self.messages.append(message)
        if self._then is not None:
            await self._then(message)

    @property
    def bodies(self) -> list[str]:
        """The bodies as text, in order of arrival."""
        return [message.body.decode() for message in self.messages]


async def test_all_messages_arrive_and_are_committed(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, *map(str, range(50)))
    handler = Collected()
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic)

    async with consumer:
        await eventually(lambda: len(handler.messages) == 50)
        await live.send(topic, "late")
        await eventually(lambda: len(handler.messages) == 51)

    assert sorted(handler.bodies) == sorted([*map(str, range(50)), "late"])
    stats = await live.admin.groups.consume_stats(group)
    assert stats.lag == 0
    assert sum(queue.consumer_offset for queue in stats.queues.values()) == 51


async def test_a_second_start_continues_where_the_first_ended(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "a", "b")
    first, second = Collected(), Collected()

    async def consume(handler: Collected, count: int) -> None:
        consumer = PushConsumer(live.session, group, handler, FIRST)
        consumer.subscribe(topic)
        async with consumer:
            await eventually(lambda: len(handler.messages) >= count)

    await consume(first, 2)
    await live.send(topic, "c")
    await consume(second, 1)

    assert sorted(first.bodies) == ["a", "b"]
    assert second.bodies == ["c"]


async def test_only_wanted_tags_arrive_and_the_others_are_no_lag(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "no", "no", "no", "no", tag="other")
    await live.send(topic, "yes", tag="created")
    handler = Collected()
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic, "created || paid")

    async with consumer:
        await eventually(lambda: handler.bodies == ["yes"])

        async def lag() -> bool:
            stats = await live.admin.groups.consume_stats(group)
            return bool(stats.queues) and stats.lag == 0

        await eventually(lag)


async def test_two_members_share_the_queues_and_take_over(live: Live) -> None:
    topic, group = await live.topic(queues=4), live.group()
    first_handler, second_handler = Collected(), Collected()
    first = PushConsumer(live.session, group, first_handler, FIRST)
    first.subscribe(topic)

    def of_topic(consumer: PushConsumer) -> set[MessageQueue]:
        return {queue for queue in consumer.assigned if queue.topic == topic}

    async with first, live.running.session() as other:
        await eventually(lambda: len(of_topic(first)) == 4)
        second = PushConsumer(other, group, second_handler, FIRST)
        second.subscribe(topic)
        async with second:
            await eventually(lambda: len(of_topic(first)) == len(of_topic(second)) == 2)
            assert not of_topic(first) & of_topic(second)
            await live.send(topic, *map(str, range(20)))
            await eventually(lambda: len(first_handler.messages) + len(second_handler.messages) >= 20)
            assert first_handler.messages
            assert second_handler.messages
            assert sorted(first_handler.bodies + second_handler.bodies) == sorted(map(str, range(20)))
        await eventually(lambda: len(of_topic(first)) == 4)


async def test_a_message_that_fails_is_redelivered_through_the_broker(live: Live) -> None:
    topic, group = await live.topic(), live.group()

    async def fail_once(message: StoredMessage) -> None:
        if message.reconsume_times == 0:
            raise RetryLater(delay_level=1)

    handler = Collected(fail_once)
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic)
    await live.send(topic, "a")

    async with consumer:
        await eventually(lambda: len(handler.messages) == 2)

    assert [(message.topic, message.reconsume_times) for message in handler.messages] == [(topic, 0), (topic, 1)]
    assert handler.messages[0].unique_id == handler.messages[1].unique_id


async def test_a_message_given_up_is_a_dead_letter(live: Live) -> None:
    topic, group = await live.topic(), live.group()

    async def fail(message: StoredMessage) -> None:
        raise RetryLater(delay_level=-1)

    consumer = PushConsumer(live.session, group, Collected(fail), FIRST)
    consumer.subscribe(topic)
    await live.send(topic, "poison")

    async def is_there() -> bool:
        dead = f"%DLQ%{group}"
        if dead not in await live.admin.topics.names():
            return False
        return (await live.admin.topics.stats(dead)).messages == 1

    async with consumer:
        await eventually(is_there)


async def test_an_orderly_group_keeps_the_order_through_failures(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    results = await live.send(topic, *map(str, range(10)))
    failures = Counter[str]()

    async def fail_once(message: StoredMessage) -> None:
        body = message.body.decode()
        failures[body] += 1
        if failures[body] == 1 and body in "37":
            raise RetryLater

    handler = Collected(fail_once)
    config = PushConfig(start_from="first", orderly=True, suspend_queue_ms=10)
    consumer = PushConsumer(live.session, group, handler, config)
    consumer.subscribe(topic)

    async with consumer:
        await eventually(lambda: len(handler.messages) == 12)

    for queue_id in (0, 1):
        sent = [str(index) for index, result in enumerate(results) if result.queue.queue_id == queue_id]
        got = [message.body.decode() for message in handler.messages if message.queue_id == queue_id]
        assert list(dict.fromkeys(got)) == sent
        assert [body for body in got if body in "37"] == sorted([body for body in sent if body in "37"] * 2)


async def test_a_broadcasting_consumer_keeps_its_own_offsets(live: Live, tmp_path: Path) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "a", "b")
    config = PushConfig(start_from="first", broadcasting=True)

    async def consume(file: str, count: int) -> list[str]:
        handler = Collected()
        consumer = PushConsumer(live.session, group, handler, config, offsets_file=tmp_path / file)
        consumer.subscribe(topic)
        async with consumer:
            await eventually(lambda: len(handler.messages) >= count)
        return sorted(handler.bodies)

    assert await consume("one.json", 2) == ["a", "b"]
    assert await consume("two.json", 2) == ["a", "b"]
    await live.send(topic, "c")
    assert await consume("one.json", 1) == ["c"]


async def test_closing_waits_for_the_current_message(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(message: StoredMessage) -> None:
        begun.set()
        await go_on.wait()

    handler = Collected(slow)
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic)
    await live.send(topic, "a")
    await consumer.start()
    await begun.wait()

    closing = asyncio.ensure_future(consumer.close())
    await asyncio.sleep(0)
    assert not closing.done()
    go_on.set()
    await closing

    assert (await live.admin.groups.consume_stats(group)).lag == 0


async def test_a_message_not_finished_in_time_is_redelivered(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    begun = asyncio.Event()

    async def hang(message: StoredMessage) -> None:
        begun.set()
        await asyncio.Event().wait()

    first = PushConsumer(live.session, group, hang, PushConfig(start_from="first", shutdown_wait_ms=10))
    first.subscribe(topic)
    await live.send(topic, "a")
    async with first:
        await begun.wait()

    again = Collected()
    second = PushConsumer(live.session, group, again, FIRST)
    second.subscribe(topic)
    async with second:
        await eventually(lambda: again.bodies == ["a"])


async def test_a_reset_sends_members_back(live: Live) -> None:
    topic, group = await live.topic(), live.group()
    await live.send(topic, "a", "b", "c")
    handler = Collected()
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic)

    async with consumer:
        await eventually(lambda: len(handler.messages) == 3)
        await live.admin.offsets.reset(group, topic, 0)
        await eventually(lambda: len(handler.messages) >= 6)

    assert sorted(handler.bodies[3:6]) == ["a", "b", "c"]


async def test_an_operator_sees_who_reads_what(live: Live) -> None:
    topic, group = await live.topic(queues=2), live.group()
    handler = Collected()
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic, "created")
    (result,) = await live.send(topic, "a", tag="other")

    async with consumer:
        await eventually(lambda: len(consumer.assigned) >= 2)
        connections = await live.admin.groups.connections(group)
        owners = await live.admin.groups.owners(group)
        placed = await live.admin.messages.at(result.queue, result.queue_offset)
        assert placed is not None
        outcome = await live.admin.messages.deliver(placed, group, live.session.client_id)

    assert list(connections.members) == [live.session.client_id]
    assert connections.subscriptions[topic].tags_set == ["created"]
    assert owners[result.queue] == live.session.client_id
    assert outcome.consume_result is ConsumeResult.CR_SUCCESS
    assert handler.bodies == ["a"]


async def test_a_group_is_taken_once_per_session(live: Live) -> None:
    group = live.group()
    consumer = PushConsumer(live.session, group, Collected())

    async with consumer:
        with pytest.raises(GroupTaken):
            await PushConsumer(live.session, group, Collected()).start()


async def test_a_new_subscription_of_a_running_consumer_takes_effect(live: Live) -> None:
    topic, later, group = await live.topic(), await live.topic(), live.group()
    handler = Collected()
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic)

    async with consumer:
        await live.send(later, "a")
        consumer.subscribe(later)
        await eventually(lambda: handler.bodies == ["a"])


async def test_an_unsubscribed_topic_is_given_up(live: Live) -> None:
    topic, other, group = await live.topic(queues=1), await live.topic(queues=1), live.group()
    handler = Collected()
    consumer = PushConsumer(live.session, group, handler, FIRST)
    consumer.subscribe(topic)
    consumer.subscribe(other)
    async with consumer:
        await eventually(lambda: {topic, other} <= {queue.topic for queue in consumer.assigned})

        consumer.unsubscribe(topic)

        await eventually(lambda: topic not in {queue.topic for queue in consumer.assigned})
        await live.send(topic, "not wanted")
        await live.send(other, "wanted")
        await eventually(lambda: handler.messages)
    assert handler.bodies == ["wanted"]


async def test_shares_may_be_fixed(live: Live) -> None:
    topic, group = await live.topic(queues=3), live.group()
    own = MessageQueue(topic, "broker-a", 1)

    def mine(_client_id: str, queues: Sequence[MessageQueue], _client_ids: Sequence[str]) -> list[MessageQueue]:
        return [queue for queue in queues if queue == own]

    consumer = PushConsumer(live.session, group, Collected(), replace(FIRST, strategy=mine))
    consumer.subscribe(topic)
    async with consumer:
        await eventually(lambda: consumer.assigned == (own,))


async def test_a_topic_that_comes_later_is_read(live: Live) -> None:
    group, handler = live.group(), Collected()
    consumer = PushConsumer(live.session, group, handler, PushConfig(start_from="first", rebalance_again_ms=20))
    consumer.subscribe(f"later-{group}")

    async with consumer:
        await create_topic(live.session, f"later-{group}")
        await live.send(f"later-{group}", "a")
        await eventually(lambda: handler.bodies == ["a"])


async def test_an_orderly_queue_changes_its_owner_only_when_its_message_is_done(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()
    begun, go_on = asyncio.Event(), asyncio.Event()
    config = PushConfig(start_from="first", orderly=True, rebalance_again_ms=20, rebalance_ms=20)
    at_the_same_time: list[int] = []
    busy = 0

    async def watch(message: StoredMessage) -> None:
        nonlocal busy
        busy += 1
        at_the_same_time.append(busy)
        begun.set()
        await go_on.wait()
        busy -= 1

    await live.send(topic, "a")
    first = PushConsumer(live.session, group, watch, config)
    first.subscribe(topic)
    # The only queue goes to the member with the lowest client id.
    earlier = ClientConfig([live.running.name_server], client_id=f"0@{group}")
    async with first, Session(earlier) as other:
        await begun.wait()
        second = PushConsumer(other, group, watch, config)
        second.subscribe(topic)
        async with second:
            await eventually(lambda: not any(queue.topic == topic for queue in first.assigned))
            await asyncio.sleep(0.1)
            assert not any(queue.topic == topic for queue in second.assigned)
            go_on.set()
            await eventually(lambda: any(queue.topic == topic for queue in second.assigned))

    assert max(at_the_same_time) == 1


def test_broadcasting_needs_a_file() -> None:
    with pytest.raises(ValueError, match="file"):
        PushConsumer(None, "g", Collected(), PushConfig(broadcasting=True))  # type: ignore[arg-type]


async def test_a_handler_cancelled_from_within_has_failed_and_its_worker_continues(live: Live) -> None:
    topic, group = await live.topic(queues=1), live.group()

    async def wait_for_what_is_cancelled(message: StoredMessage) -> None:
        if message.body == b"a" and message.reconsume_times == 0:
            waited_for = asyncio.ensure_future(asyncio.Event().wait())
            waited_for.cancel()
            await waited_for

    handler = Collected(wait_for_what_is_cancelled)
    consumer = PushConsumer(live.session, group, handler, replace(FIRST, concurrency=1))
    consumer.subscribe(topic)
    await live.send(topic, "a", "b")

    async with consumer:
        await eventually(lambda: sorted(handler.bodies) == ["a", "a", "b"])


async def test_a_handler_that_is_not_an_async_function_is_named(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    topic = await live.topic(queues=1)
    consumer = PushConsumer(live.session, live.group(), cast("MessageHandler", lambda _: None), FIRST)
    consumer.subscribe(topic)
    await live.send(topic, "a")

    async with consumer:
        await eventually(lambda: "a handler must be an async function; this one returned None" in caplog.text)


async def test_a_group_that_brokers_refuse_is_refused_here(live: Live) -> None:
    with pytest.raises(NameIllegal, match="'my group'"):
        PushConsumer(live.session, "my group", Collected())


@pytest.mark.parametrize("orderly", [False, True])
async def test_a_damaged_message_becomes_a_dead_letter_alone_and_unhandled(
    live: Live, orderly: bool, caplog: pytest.LogCaptureFixture
) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.send(topic, "a")
    await live.send_damaged(topic)
    await live.send(topic, "b")
    handler = Collected()
    config = replace(FIRST, orderly=orderly, max_reconsume_times=-1 if orderly else 0)
    consumer = PushConsumer(live.session, group, handler, config)
    consumer.subscribe(topic)

    async with consumer:
        await eventually(lambda: len(handler.messages) == 2)
        await eventually(lambda: live.holds(f"%DLQ%{group}", 1))

    assert sorted(handler.bodies) == ["a", "b"]
    assert (await live.admin.groups.consume_stats(group, topic=topic)).lag == 0
    assert f"group={group} topic={topic}: queue=0 offset=1: the message is damaged" in caplog.text
    letter = await live.admin.messages.at(MessageQueue(f"%DLQ%{group}", "broker-a", 0), 0)
    assert letter is not None
    assert (letter.message.body, letter.message.is_compressed) == (b"hello", True)


async def test_a_damaged_message_is_skipped_by_a_broadcasting_member_and_refused_for_an_operator(
    live: Live, tmp_path: Path
) -> None:
    topic, group = await live.topic(queues=1), live.group()
    await live.send_damaged(topic)
    await live.send(topic, "a")
    handler = Collected()
    config = replace(FIRST, broadcasting=True, orderly=True)
    consumer = PushConsumer(live.session, group, handler, config, offsets_file=tmp_path / "offsets.json")
    consumer.subscribe(topic)

    async with consumer:
        await eventually(lambda: len(handler.messages) == 1)
        damaged = replace(stored(topic=topic), damage="it does not unpack")
        result = await consumer.consume_directly(damaged)

    assert (handler.bodies, result.consume_result) == (["a"], ConsumeResult.CR_LATER)
