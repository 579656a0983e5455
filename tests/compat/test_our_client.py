"""Gantry's own client against Gantry's broker and against Apache RocketMQ's: each test passes on both."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ProducerConfig, PushConfig
from broker_core.client.consumer.lite import LITE, LitePullConsumer
from broker_core.client.consumer.pull import PullConsumer, PullStatus
from broker_core.client.consumer.push import PushConsumer, RetryLater
from broker_core.client.errors import TopicNotFound
from broker_core.client.producer import Producer, SendStatus
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import Message, StoredMessage
from tests.compat.servers import FROM_DISK, Server
from tests.support.cluster import create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

SETTINGS = FROM_DISK
CONFIG = PushConfig(start_from="first", rebalance_ms=500, rebalance_again_ms=200)


class Inbox:
    """What handlers were called with."""

    def __init__(self) -> None:
        self.messages: list[StoredMessage] = []

    async def __call__(self, message: StoredMessage) -> None:
        self.messages.append(message)

    @property
    def numbers(self) -> list[int]:
        return [int(message.body) for message in self.messages]

    def has(self, *numbers: int) -> bool:
        return set(numbers) <= set(self.numbers)


@pytest.fixture
async def session(server: Server, name: str) -> AsyncIterator[Session]:
    """A session, and a topic with four queues."""
    async with server.session() as session:
        await create_topic(session, name)
        yield session


@pytest.fixture
async def producer(session: Session) -> AsyncIterator[Producer]:
    async with Producer(session, "checkout") as producer:
        yield producer


async def send(producer: Producer, topic: str, *numbers: int, tag: str | None = None) -> None:
    for number in numbers:
        await producer.send(Message.create(topic, str(number).encode(), tag=tag))


def consumer_of(
    session: Session,
    group: str,
    handler: Callable[[StoredMessage], Awaitable[object]],
    config: PushConfig = CONFIG,
    *,
    tags: str = "*",
    offsets_file: Path | None = None,
) -> PushConsumer:
    """Return a consumer of the topic that is named like its group."""
    consumer = PushConsumer(session, group, handler, config, offsets_file=offsets_file)
    consumer.subscribe(group, tags)
    return consumer


# ---- sending ---------------------------------------------------------------------------------------------------------


@pytest.mark.sample
async def test_every_kind_of_message_arrives_as_it_was_sent(session: Session, producer: Producer, name: str) -> None:
    long = b"x" * 10_000
    (queue, *_) = await producer.queues(name)
    message = Message.create(name, b"plain", keys=["A17"], tag="created")
    plain = await producer.send(replace(message, properties={**message.properties, "shop": "north"}), queue=queue)
    batch = await producer.send_batch(name, [Message(name, b"one"), Message(name, b"two")], queue=queue)
    await producer.send(Message(name, long), queue=queue)
    await producer.send_one_way(Message(name, b"one-way"), queue=queue)

    assert (plain.status, plain.queue, plain.queue_offset) == (SendStatus.SEND_OK, queue, 0)
    assert (batch.queue_offset, len(batch.message_ids)) == (1, 2)
    messages = await stored_in(PullConsumer(session), queue, 5)
    assert [message.body for message in messages] == [b"plain", b"one", b"two", long, b"one-way"]
    assert (messages[0].tag, messages[0].properties["KEYS"], messages[0].properties["shop"]) == (
        "created",
        "A17",
        "north",
    )
    assert [message.message_id for message in messages[:3]] == [plain.message_id, *batch.message_ids]
    assert (await Admin(session).messages.find(name, plain.message_id)) is not None


async def stored_in(reader: PullConsumer, queue: MessageQueue, count: int) -> list[StoredMessage]:
    """Return what is in a queue once it has `count` messages: Apache RocketMQ answers a send before a pull finds it."""

    async def are_there() -> bool:
        return len((await reader.pull(queue, 0)).messages) == count

    await eventually(are_there)
    return (await reader.pull(queue, 0)).messages


async def test_messages_go_round_the_queues(producer: Producer, name: str) -> None:
    results = [await producer.send(Message(name, b"x")) for _ in range(8)]
    assert set(Counter(result.queue for result in results).values()) == {2}
    assert len({result.queue for result in results}) == 4


async def test_a_delayed_message_comes_later(session: Session, producer: Producer, name: str) -> None:
    inbox = Inbox()
    async with consumer_of(session, name, inbox):
        await producer.send(Message(name, b"1", {"DELAY": "1"}))
        await send(producer, name, 2)
        await eventually(lambda: inbox.has(1, 2))
    (delayed,) = [message for message in inbox.messages if message.body == b"1"]
    assert delayed.store_timestamp - delayed.born_timestamp >= 900


async def test_unknown_topics_are_made_if_wanted(session: Session, name: str) -> None:
    async with Producer(session, "checkout") as careful:
        with pytest.raises(TopicNotFound):
            await careful.send(Message(f"{name}_not", b"x"))
    async with Producer(session, "checkout", ProducerConfig(create_topics=True)) as producer:
        result = await producer.send(Message(f"{name}_new", b"x"))
    assert result.status is SendStatus.SEND_OK

    async def is_known() -> bool:
        try:
            return (await Admin(session).topics.get(f"{name}_new")).brokers == ("broker-a",)
        except TopicNotFound:
            return False  # Apache's broker answers the send before the name server knows of the topic

    await eventually(is_known)


# ---- consuming -------------------------------------------------------------------------------------------------------


async def test_a_group_goes_on_where_it_was(session: Session, producer: Producer, name: str) -> None:
    await send(producer, name, *range(20))
    before, after = Inbox(), Inbox()
    async with consumer_of(session, name, before):
        await eventually(lambda: before.has(*range(20)))
    await send(producer, name, *range(20, 30))
    async with consumer_of(session, name, after):
        await eventually(lambda: after.has(*range(20, 30)))
    assert sorted(before.numbers) == list(range(20))
    assert sorted(after.numbers) == list(range(20, 30))


async def test_only_wanted_tags_arrive_and_the_lag_ends(session: Session, producer: Producer, name: str) -> None:
    await send(producer, name, 1, tag="created")
    await send(producer, name, 2, tag="paid")
    await send(producer, name, *range(3, 9), tag="sent")
    inbox = Inbox()
    async with consumer_of(session, name, inbox, replace(CONFIG, pull_suspend_ms=1_000), tags="created || paid"):
        await eventually(lambda: inbox.has(1, 2))

        async def lag() -> int | None:
            return (await Admin(session).groups.consume_stats(name, topic=name)).lag

        async def has_no_lag() -> bool:
            return await lag() == 0

        await eventually(has_no_lag)
    assert sorted(inbox.numbers) == [1, 2]


@pytest.mark.sample
@pytest.mark.parametrize("dies", [False, True], ids=["leaves", "dies"])
async def test_two_members_share_and_take_over(
    server: Server, session: Session, producer: Producer, name: str, dies: bool
) -> None:
    group = f"{name}_{dies}"
    await create_topic(session, group)
    first, second = Inbox(), Inbox()
    other = await server.session().start()
    one, two = consumer_of(session, group, first), consumer_of(other, group, second)
    async with one:
        await two.start()
        await eventually(lambda: len(one.assigned) == 5 - len(two.assigned) and len(two.assigned) >= 2)
        await send(producer, group, *range(20))
        await eventually(lambda: set(range(20)) <= {*first.numbers, *second.numbers})
        assert first.messages
        assert second.messages
        # One that dies says nothing: its connections break
        if not dies:
            await two.close()
        await other.close()
        await eventually(lambda: len([queue for queue in one.assigned if queue.topic == group]) == 4)
        await send(producer, group, *range(20, 40))
        await eventually(lambda: first.has(*range(20, 40)))


@pytest.mark.sample
async def test_an_orderly_consumer_keeps_the_order_over_failures(
    session: Session, producer: Producer, name: str
) -> None:
    (queue, *_) = await producer.queues(name)
    for number in range(10):
        await producer.send(Message(name, str(number).encode()), queue=queue)
    calls: list[int] = []

    async def fail_once(message: StoredMessage) -> None:
        calls.append(int(message.body))
        if calls.count(4) == 1 and calls[-1] == 4:
            raise RetryLater

    config = replace(CONFIG, orderly=True, suspend_queue_ms=50)
    async with consumer_of(session, name, fail_once, config):
        await eventually(lambda: 9 in calls)
    assert calls == [0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9]


async def test_broadcasting_reaches_every_member(
    server: Server, session: Session, producer: Producer, name: str, tmp_path: Path
) -> None:
    await send(producer, name, *range(8))
    config = replace(CONFIG, broadcasting=True)
    one, two = Inbox(), Inbox()
    async with (
        server.session() as other,
        consumer_of(session, name, one, config, offsets_file=tmp_path / "one.json"),
        consumer_of(other, name, two, config, offsets_file=tmp_path / "two.json"),
    ):
        await eventually(lambda: one.has(*range(8)) and two.has(*range(8)))
    assert sorted(one.numbers) == sorted(two.numbers) == list(range(8))


async def test_a_new_group_starts_where_it_wants(session: Session, producer: Producer, name: str) -> None:
    (queue, *_) = await producer.queues(name)
    for number in range(3):
        await producer.send(Message(name, str(number).encode()), queue=queue)
        await asyncio.sleep(0.02)  # so that each has a time of its own
    stored = await stored_in(PullConsumer(session), queue, 3)
    time_of_second = stored[1].store_timestamp

    async def received(config: PushConfig, *wanted: int) -> list[int]:
        inbox = Inbox()
        consumer = PushConsumer(session, f"{name}_{config.start_from}", inbox, config)
        consumer.subscribe(name)
        async with consumer:
            await eventually(lambda: queue in consumer.assigned)
            await producer.send(Message(name, b"9"), queue=queue)
            await eventually(lambda: len(inbox.numbers) >= len(wanted))
        return sorted(inbox.numbers)

    for config, wanted in (
        (replace(CONFIG, start_from="first"), [0, 1, 2, 9]),
        (replace(CONFIG, start_from="last"), [9]),
        (replace(CONFIG, start_from="time", start_timestamp=time_of_second), [1, 2, 9, 9, 9]),
    ):
        assert await received(config, *wanted) == wanted


@pytest.mark.sample
async def test_a_refused_message_comes_again_and_ends_as_a_dead_letter(
    session: Session, producer: Producer, name: str
) -> None:
    seen: list[tuple[str, int]] = []

    async def refuse(message: StoredMessage) -> None:
        seen.append((message.topic, message.reconsume_times))
        raise RetryLater

    async with consumer_of(session, name, refuse, replace(CONFIG, max_reconsume_times=2)):
        await send(producer, name, 1)
        await eventually(lambda: len(seen) == 3)
        dead = f"%DLQ%{name}"

        async def has_dead_letter() -> bool:
            try:
                return (await Admin(session).topics.stats(dead)).messages == 1
            except TopicNotFound:
                return False

        await eventually(has_dead_letter)
    assert seen == [(name, 0), (name, 1), (name, 2)]


@pytest.mark.sample
async def test_shutting_down_finishes_what_is_in_hand(session: Session, producer: Producer, name: str) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()
    done: list[bytes] = []

    async def slow(message: StoredMessage) -> None:
        begun.set()
        await may_end.wait()
        done.append(message.body)

    consumer = await consumer_of(session, name, slow).start()
    result = await producer.send(Message(name, b"1"))
    await begun.wait()
    closing = asyncio.ensure_future(consumer.close())
    asyncio.get_running_loop().call_later(0.2, may_end.set)
    await closing

    assert done == [b"1"]
    assert await Admin(session).offsets.find(name, result.queue) == 1
    assert name not in [member.group for member in session.members.consumers.values()]


# ---- pulling ---------------------------------------------------------------------------------------------------------


async def test_a_lite_pull_consumer_polls_seeks_and_commits(session: Session, producer: Producer, name: str) -> None:
    await send(producer, name, *range(12))
    config = replace(LITE, start_from="first", rebalance_ms=500)
    consumer = LitePullConsumer(session, name, config, auto_commit=False)
    consumer.subscribe(name)
    async with consumer:
        polled: list[StoredMessage] = []
        while len(polled) < 12:
            polled += await consumer.poll()
        assert sorted(int(message.body) for message in polled) == list(range(12))
        queue = consumer.assigned[0]
        assert await consumer.committed(queue) in (None, 0)
        await consumer.commit()

        async def is_committed() -> bool:
            return await consumer.committed(queue) == 3

        await eventually(is_committed)
        await consumer.seek(queue, 2)
        (again,) = await consumer.poll()
        assert (again.queue_id, again.queue_offset) == (queue.queue_id, 2)
        with pytest.raises(ValueError, match="outside"):
            await consumer.seek(queue, 4)
    # A member that comes later goes on where the group committed
    async with LitePullConsumer(session, name, config) as later:
        later.subscribe(name)
        await send(producer, name, 99)
        assert [message.body for message in await later.poll()] == [b"99"]


async def test_a_lite_pull_consumer_reads_the_queues_it_is_given(
    session: Session, producer: Producer, name: str
) -> None:
    one, other, *_ = await producer.queues(name)
    await producer.send(Message(name, b"1"), queue=one)
    await producer.send(Message(name, b"2"), queue=other)
    async with LitePullConsumer(session, name, replace(LITE, start_from="first")) as consumer:
        await consumer.assign([one])
        assert [message.body for message in await consumer.poll()] == [b"1"]
        consumer.pause(one)
        await producer.send(Message(name, b"3"), queue=one)
        assert await consumer.poll(300) == []
        consumer.resume(one)
        assert [message.body for message in await consumer.poll()] == [b"3"]
        await consumer.assign([other])
        assert [message.body for message in await consumer.poll()] == [b"2"]


async def test_a_plain_pull_says_what_is_there(session: Session, producer: Producer, name: str) -> None:
    (queue, *_) = await producer.queues(name)
    reader = PullConsumer(session, name)
    for tag in ("created", "paid"):
        await producer.send(Message.create(name, b"1", tag=tag), queue=queue)
    await stored_in(reader, queue, 2)

    found = await reader.pull(queue, 0, expression="paid")
    assert (found.status, found.next_offset, found.max_offset) == (PullStatus.FOUND, 2, 2)
    assert [message.tag for message in found.messages] == ["paid"]
    assert (await reader.pull(queue, 2)).status is PullStatus.NO_NEW
    assert (await reader.pull(queue, 7)).status is PullStatus.OFFSET_ILLEGAL
    assert (await reader.pull(queue, 0, expression="none")).status is PullStatus.NO_MATCHED
    # And waits for what is to come
    waiting = asyncio.ensure_future(reader.pull(queue, 2, wait_ms=60_000))
    await producer.send(Message(name, b"3"), queue=queue)
    assert [message.body for message in (await asyncio.wait_for(waiting, 30)).messages] == [b"3"]

    await reader.commit(queue, 2)

    async def is_committed() -> bool:
        return await reader.committed(queue) == 2

    await eventually(is_committed)
