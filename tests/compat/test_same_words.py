"""Gantry's own client says on the wire what the Java client says: both do the same things, and a proxy listens.

Compared is all but the language, the order, and what is different in every run (`spoken.py`).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig, ProducerConfig, PushConfig
from broker_core.client.consumer.lite import LITE, LitePullConsumer
from broker_core.client.consumer.pull import PullConsumer
from broker_core.client.consumer.push import PushConsumer, RetryLater
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode as Code
from broker_core.protocol.command import Command
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.topics import TEMPLATE_TOPIC
from tests.compat.driver import Driver, JavaObject
from tests.compat.java_values import CALLBACK, JavaMessage, Queue
from tests.compat.recording import Recorder, recorder
from tests.compat.servers import SHARED, Server
from tests.compat.spoken import differences, lines_of
from tests.support.cluster import create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

SETTINGS = SHARED
FOR_EVER = 2**62
HEARTBEAT_MS = 500
JAVA: dict[str, Any] = {"heartbeatBrokerInterval": HEARTBEAT_MS}
PUSH = PushConfig(start_from="first", rebalance_ms=1_000)
POLLS = replace(LITE, start_from="first", rebalance_ms=1_000)

# Where the two differ on purpose: a minus is what only Java says, a plus what only we say; a star stands for anything.
EVERYWHERE: Final = {
    "- GET_ROUTEINFO_BY_TOPIC topic = TBW102": "ours asks for the template only when a topic has to be made",
}
INNER_PRODUCER: Final = {
    "- HEART_BEAT body.producerDataSet[]*": "Java has a producer for what cannot be sent back; ours joins no group"
}
BROKER_NAME: Final = {"- * bname*": "for proxies of 5.x; brokers of 4.9 do not look at it"}
OFFSETS: Final = {
    "- UPDATE_CONSUMER_OFFSET one-way: True": "with Java's an older offset may be stored last",
    "+ UPDATE_CONSUMER_OFFSET one-way: False": "ours waits for the answer before it sends the next one",
}
SENDING: Final = {
    "- HEART_BEAT body.producerDataSet[].groupName = CLIENT_INNER_PRODUCER": "Java's producers have one too",
    "- SEND_* n": "the broker's name, short",
    "- SEND_* n = broker-a": "the broker's name, short",
    "- SEND_* property WAIT = true": "brokers take no word for true",
    "- SEND_BATCH_MESSAGE entry's property WAIT = true": "the same",
}
ORDERLY: Final = {
    "- UNLOCK_BATCH_MQ one-way: False": "Java waits for an answer as it leaves, though not when it gives one queue up",
    "+ UNLOCK_BATCH_MQ one-way: True": "nobody would do anything with the answer",
}
LITE_PULL: Final = {
    "- HEART_BEAT body.consumerDataSet[].consumeFromWhere = CONSUME_FROM_LAST_OFFSET": "Java's is fixed",
    "+ HEART_BEAT body.consumerDataSet[].consumeFromWhere = CONSUME_FROM_FIRST_OFFSET": "ours is where it begins",
}
ASKING: Final = {
    "+ PULL_MESSAGE suspendTimeoutMillis = 0": "a pull that is not to be held has no time for it",
    "- QUERY_MESSAGE _UNIQUE_KEY_QUERY*": "only changes how many are found; ours says itself how many",
}

JOINED = {Code.GET_ROUTEINFO_BY_TOPIC, Code.HEART_BEAT, Code.UNREGISTER_CLIENT}
CONSUMED = JOINED | {
    Code.GET_CONSUMER_LIST_BY_GROUP, Code.QUERY_CONSUMER_OFFSET, Code.PULL_MESSAGE, Code.UPDATE_CONSUMER_OFFSET
}  # fmt: skip


@pytest.fixture
def wire(server: Server) -> Iterator[Recorder]:
    with recorder(server) as wire:
        yield wire


@asynccontextmanager
async def our_client(wire: Recorder) -> AsyncIterator[Session]:
    """A session of ours that the proxy listens to."""
    async with Session(ClientConfig([wire.name_server], heartbeat_ms=HEARTBEAT_MS)) as session:
        yield session


async def two_topics(server: Server, name: str) -> tuple[str, str]:
    """Make a topic for Java and one for us, of two queues each; in what their names differ is left out."""
    async with server.session() as session:
        for who in ("java", "ours"):
            await create_topic(session, f"{name}-{who}", queues=2)
    return f"{name}-java", f"{name}-ours"


async def fill(server: Server, *topics: str) -> None:
    """Send a message with tag `a` and key `k` to each queue, past the proxy."""
    async with server.session() as session, Producer(session) as producer:
        for topic in topics:
            for queue in await producer.queues(topic):
                await producer.send(Message.create(topic, b"hi", keys=["k"], tag="a"), queue=queue)


async def ends(java: JavaObject, wire: Recorder) -> None:
    """Shut a client down when it has asked for the route of the template, as each does by and by after its start."""
    await eventually(lambda: wire.has_named(Code.GET_ROUTEINFO_BY_TOPIC, TEMPLATE_TOPIC))
    java.shutdown()


def check(java: list[Command], ours: list[Command], codes: set[Code], table: dict[str, str]) -> None:
    """Compare what was said with each code: all differences are in the table, and it has no others."""
    theirs, mine = lines_of(java, "java"), lines_of(ours, "ours")
    for said in (theirs, mine):
        assert {code.name for code in codes} <= {name.partition(":")[0] for name in said}
    found = differences(theirs, mine)
    explained = {pattern: {line for line in found if _matches(pattern, line)} for pattern in EVERYWHERE | table}
    assert found == set().union(*explained.values())
    assert all(explained.values()), f"no difference any more: {[each for each in explained if not explained[each]]}"


def _matches(pattern: str, line: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), line) is not None


@pytest.mark.sample
async def test_a_producer(driver: Driver, server: Server, wire: Recorder, name: str) -> None:
    topic, our_topic = await two_topics(server, name)
    java = driver.producer(wire.name_server, "makers-java", **JAVA)
    one, other = Queue(topic, 0), Queue(topic, 1)
    # A send to a queue asks for the topic's route only if the template's has not named the broker before.
    java.call("fetchPublishMessageQueues", topic)
    java.call("send", JavaMessage(topic, b"one", tag="a", keys="k", flag=3, properties={"shop": "north"}), one)
    java.call("send", [JavaMessage(topic, b"two", tag="a", keys="k"), JavaMessage(topic, b"three")], one)
    java.call("sendOneway", JavaMessage(topic, b"four"), other)
    java.call("send", JavaMessage(topic, b"five", delay_level=1), other, CALLBACK, 3_000)
    await eventually(lambda: wire.has(Code.HEART_BEAT))
    await ends(java, wire)
    said = wire.take()
    # Unknown topics are made, as Java has them made
    config = ProducerConfig(create_topics=True)
    async with our_client(wire) as session, Producer(session, "makers-ours", config) as producer:
        first, second = await producer.queues(our_topic)
        message = Message.create(our_topic, b"one", keys=["k"], tag="a", properties={"shop": "north"})
        await producer.send(replace(message, flag=3), queue=first)
        batch = [Message.create(our_topic, b"two", keys=["k"], tag="a"), Message(our_topic, b"three")]
        await producer.send_batch(our_topic, batch, queue=first)
        await producer.send_one_way(Message(our_topic, b"four"), queue=second)
        await producer.send(Message(our_topic, b"five", {"DELAY": "1"}), queue=second)
        await eventually(lambda: wire.has(Code.HEART_BEAT))
    check(said, wire.take(), JOINED | {Code.SEND_MESSAGE_V2, Code.SEND_BATCH_MESSAGE}, SENDING)


@pytest.mark.sample
@pytest.mark.parametrize("orderly", [False, True], ids=["concurrent", "orderly"])
async def test_a_push_consumer(driver: Driver, server: Server, wire: Recorder, name: str, orderly: bool) -> None:
    group = f"{name}-{orderly}"
    topic, our_topic = await two_topics(server, group)
    java = driver.push_consumer(wire.name_server, f"{group}-java", {topic: "a || b"}, orderly=orderly, **JAVA)
    java.behave("suspend" if orderly else "later", times=1)
    await fill(server, topic)
    await eventually(lambda: len(java.events) == 4)

    def has_stored() -> bool:
        java.call("getDefaultMQPushConsumerImpl.persistConsumerOffset")
        return wire.has(Code.UPDATE_CONSUMER_OFFSET)

    await eventually(has_stored)
    await eventually(lambda: wire.has_named(Code.PULL_MESSAGE, f"%RETRY%{group}-java"))
    await ends(java, wire)
    said, seen = wire.take(), list[str]()

    async def fail_once(message: StoredMessage) -> None:
        seen.append(message.message_id)
        if seen.count(message.message_id) == 1:
            raise RetryLater

    async with our_client(wire) as session:
        consumer = PushConsumer(session, f"{group}-ours", fail_once, replace(PUSH, orderly=orderly))
        consumer.subscribe(our_topic, "a || b")
        async with consumer:
            await fill(server, our_topic)
            await eventually(lambda: len(seen) == 4)
            await eventually(lambda: wire.has_named(Code.PULL_MESSAGE, f"%RETRY%{group}-ours"))
    more = {Code.LOCK_BATCH_MQ, Code.UNLOCK_BATCH_MQ} if orderly else {Code.CONSUMER_SEND_MSG_BACK}
    check(said, wire.take(), CONSUMED | more, BROKER_NAME | INNER_PRODUCER | OFFSETS | (ORDERLY if orderly else {}))


async def test_a_lite_pull_consumer(driver: Driver, server: Server, wire: Recorder, name: str) -> None:
    topic, our_topic = await two_topics(server, name)
    await fill(server, topic, our_topic)
    java = driver.lite_consumer(
        wire.name_server, f"{name}-java", autoCommit=False, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET", **JAVA
    )
    java.call("subscribe", topic, "a")
    java.call("start")
    polled = 0
    while polled < 2:
        polled += len(java.call("poll", 5_000))
    java.call("commitSync")
    await ends(java, wire)
    said = wire.take()
    async with our_client(wire) as session:
        consumer = LitePullConsumer(session, f"{name}-ours", POLLS, auto_commit=False)
        consumer.subscribe(our_topic, "a")
        async with consumer:
            while polled < 4:
                polled += len(await consumer.poll())
            await consumer.commit()
    check(said, wire.take(), CONSUMED, BROKER_NAME | INNER_PRODUCER | OFFSETS | LITE_PULL)


async def test_who_asks_for_itself(driver: Driver, server: Server, wire: Recorder, name: str) -> None:
    topic, our_topic = await two_topics(server, name)
    await fill(server, topic, our_topic)
    java, queue = driver.old_consumer(wire.name_server, f"{name}-java", **JAVA), Queue(topic, 0)
    (found,) = java.call("pull", queue, "a", 0, 5)["messages"]
    java.call("pullBlockIfNotFound", queue, "*", 0, 5)
    java.call("sendMessageBack", found, 3, server.broker_name)
    java.call("fetchConsumeOffset", queue, True)
    java.call("updateConsumeOffset", queue, 1)
    java.call("persist", queue)
    java.call("maxOffset", queue)
    java.call("minOffset", queue)
    java.call("searchOffset", queue, 1)
    java.call("queryMessage", topic, "k", 10, 0, FOR_EVER)
    await ends(java, wire)
    said = wire.take()
    async with our_client(wire) as session:
        reader, admin = PullConsumer(session, f"{name}-ours"), Admin(session)
        (ours, _) = await reader.queues(our_topic)
        (message,) = (await reader.pull(ours, 0, max_messages=5, expression="a")).messages
        await reader.pull(ours, 0, max_messages=5, wait_ms=20_000)
        await reader.send_back(message, ours.broker_name, delay_level=3)
        await reader.committed(ours)
        await reader.commit(ours, 1)
        await admin.offsets.max(ours)
        await admin.offsets.min(ours)
        await admin.offsets.by_time(ours, 1)
        await admin.messages.search(our_topic, "k", max_messages=10, end=FOR_EVER)
    codes = {
        Code.PULL_MESSAGE, Code.CONSUMER_SEND_MSG_BACK, Code.QUERY_CONSUMER_OFFSET, Code.UPDATE_CONSUMER_OFFSET,
        Code.GET_MAX_OFFSET, Code.GET_MIN_OFFSET, Code.SEARCH_OFFSET_BY_TIMESTAMP, Code.QUERY_MESSAGE,
    }  # fmt: skip
    check(said, wire.take(), codes, BROKER_NAME | OFFSETS | ASKING)
