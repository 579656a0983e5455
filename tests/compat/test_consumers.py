"""Every way in which the unmodified Java client consumes, against Gantry and against Apache RocketMQ."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from tests.compat.driver import Driver, JavaObject, PushConsumer, started_driver
from tests.compat.java_values import CALLBACK, JavaMessage, Queue, Received, in_json, made
from tests.compat.reading import messages_of
from tests.compat.sending import QUEUES, numbers_of, send_numbers
from tests.compat.servers import FROM_DISK, Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = FROM_DISK

NEVER_BY_ITSELF = 600_000


@pytest.fixture
def producer(driver: Driver, server: Server, name: str) -> JavaObject:
    """A producer, and a topic with one message 0."""
    producer = driver.producer(server.name_server)
    send_numbers(producer, name, [0])
    return producer


def has(consumer: PushConsumer, *numbers: int) -> bool:
    return set(numbers) <= set(numbers_of(consumer.received))


def share(first: PushConsumer, second: PushConsumer, topic: str) -> bool:
    """Say whether each of two members has two of the topic's four queues."""
    ones, others = queues_of(first, topic), queues_of(second, topic)
    return len(ones) == len(others) == 2 and ones | others == {0, 1, 2, 3}


def queues_of(consumer: PushConsumer, topic: str) -> set[int]:
    return {queue_id for of, _, queue_id in consumer.queues() if of == topic}


@pytest.mark.sample
def test_a_push_consumer_receives_each_message_once_and_in_the_order_of_its_queue(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    send_numbers(producer, name, range(1, 100))
    consumer = driver.push_consumer(server.name_server, name, {name: "*"}, consumeThreadMin=1, consumeThreadMax=1)
    wait_until(lambda: has(consumer, *range(100)))
    # And what comes while it waits
    send_numbers(producer, name, range(100, 200))
    wait_until(lambda: has(consumer, *range(200)))
    assert sorted(numbers_of(consumer.received)) == list(range(200))
    for queue_id in range(QUEUES):
        offsets = [message.queue_offset for message in consumer.received if message.queue.id == queue_id]
        assert offsets == list(range(len(offsets)))


@pytest.mark.parametrize(("expression", "wanted"), [("even", {"even"}), ("odd || third", {"odd", "third"})])
def test_a_push_consumer_asks_for_tags_and_gets_no_others(
    driver: Driver, server: Server, producer: JavaObject, name: str, expression: str, wanted: set[str]
) -> None:
    topic = f"{name}-{expression[:3]}"
    send_numbers(producer, topic, range(20))
    producer.call("send", JavaMessage(topic, b"20", tag="third"))
    consumer = driver.push_consumer(server.name_server, topic, {topic: expression})
    tags = {number: "third" if number == 20 else ("even", "odd")[number % 2] for number in range(21)}
    expected = {number for number, tag in tags.items() if tag in wanted}
    wait_until(lambda: has(consumer, *expected))
    # And a wanted one that comes after many unwanted ones
    send_numbers(producer, topic, range(30, 60))
    expected |= {number for number in range(30, 60) if ("even", "odd")[number % 2] in wanted}
    wait_until(lambda: has(consumer, *expected))
    assert set(numbers_of(consumer.received)) == expected


def test_members_share_the_queues_and_take_over_from_each_other_as_soon_as_the_broker_tells_them(
    server: Server, producer: JavaObject, name: str, tmp_path: Path
) -> None:
    with started_driver(tmp_path / "stays", rebalance_ms=NEVER_BY_ITSELF) as stays:
        first = stays.push_consumer(server.name_server, name, {name: "*"})
        wait_until(lambda: queues_of(first, name) == {0, 1, 2, 3})
        # When a second member joins, each has two queues
        with started_driver(tmp_path / "dies", rebalance_ms=NEVER_BY_ITSELF) as dies:
            second = dies.push_consumer(server.name_server, name, {name: "*"})
            wait_until(lambda: share(first, second, name))
            send_numbers(producer, name, range(1, 9))
            wait_until(lambda: set(numbers_of(first.received + second.received)) == set(range(9)))
            # When it is killed, the first takes its queues
            dies.kill()
        wait_until(lambda: queues_of(first, name) == {0, 1, 2, 3})
        send_numbers(producer, name, range(10, 18))
        wait_until(lambda: has(first, *range(10, 18)))
        # And the same when one joins and leaves in order
        third = stays.push_consumer(server.name_server, name, {name: "*"})
        wait_until(lambda: share(first, third, name))
        third.shutdown()
        wait_until(lambda: queues_of(first, name) == {0, 1, 2, 3})
        stays.shutdown_clients()


@pytest.mark.sample
def test_an_orderly_consumer_keeps_the_order_of_each_queue_whoever_reads_it_and_whatever_fails(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    def joined() -> PushConsumer:
        return driver.push_consumer(
            server.name_server, name, {name: "*"}, orderly=True, suspendCurrentQueueTimeMillis=100
        )

    first = joined()
    first.behave("suspend", times=1)
    send_numbers(producer, name, range(1, 20))
    wait_until(lambda: len(first.events) == 40)
    # Each message came twice in a row: the refused one holds up its queue, and no other overtakes it
    for queue_id in range(QUEUES):
        offsets = [message.queue_offset for message in first.received if message.queue.id == queue_id]
        assert offsets == [offset for offset in range(5) for _ in range(2)]
    # When a second member joins while messages come
    first.behave("succeed")
    second = joined()
    for begin in range(100, 1000, 20):
        send_numbers(producer, name, range(begin, begin + 20))
        if share(first, second, name) and second.events:
            break
    wait_until(lambda: set(range(100, begin + 20)) <= set(numbers_of(first.received + second.received)))
    # Then no message of a queue came before the one that lies before it, from one or the other
    events = sorted(first.events[40:] + second.events, key=lambda event: event["at"])
    messages = [Received.of(event["message"]) for event in events]
    for queue_id in range(QUEUES):
        offsets = [message.queue_offset for message in messages if message.queue.id == queue_id]
        assert list(dict.fromkeys(offsets)) == sorted(set(offsets))


def test_each_member_of_a_broadcast_group_gets_every_message(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    members = [
        driver.push_consumer(server.name_server, name, {name: "*"}, messageModel="BROADCASTING") for _ in range(2)
    ]
    for member in members:
        wait_until(lambda member=member: queues_of(member, name) == {0, 1, 2, 3})  # type: ignore[misc]
    send_numbers(producer, name, range(1, 21))
    for member in members:
        wait_until(lambda member=member: has(member, *range(1, 21)))  # type: ignore[misc]
    # And the broker keeps no offsets for them
    reader = driver.old_consumer(server.name_server, name)
    assert {reader.call("fetchConsumeOffset", Queue(name, queue_id), True) for queue_id in range(QUEUES)} == {-1}


def test_a_new_group_begins_at_the_first_the_last_or_a_moment(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    # Given messages on both sides of a full second, the later ones much nearer to it: the search takes the nearest
    send_numbers(producer, name, range(1, 8))
    moment = int(time.time()) + 2
    wait_until(lambda: time.time() > moment + 0.05)
    send_numbers(producer, name, range(10, 18))
    # When three groups begin
    starts = ("FIRST_OFFSET", "TIMESTAMP", "LAST_OFFSET")
    consumers = {
        start: driver.push_consumer(
            server.name_server,
            f"{name}-{start}",
            {name: "*"},
            start=f"CONSUME_FROM_{start}",
            consumeTimestamp=time.strftime("%Y%m%d%H%M%S", time.localtime(moment)),
        )
        for start in starts
    }
    for consumer in consumers.values():
        wait_until(lambda consumer=consumer: queues_of(consumer, name) == {0, 1, 2, 3})  # type: ignore[misc]
    send_numbers(producer, name, range(20, 28))
    expected = {
        "FIRST_OFFSET": {*range(8), *range(10, 18), *range(20, 28)},
        "TIMESTAMP": {*range(10, 18), *range(20, 28)},
        "LAST_OFFSET": {*range(20, 28)},
    }
    # Then each gets what it asked for, and nothing else
    for start, consumer in consumers.items():
        wait_until(lambda start=start, consumer=consumer: has(consumer, *expected[start]))  # type: ignore[misc]
        assert sorted(numbers_of(consumer.received)) == sorted(expected[start])


def committed(session: BlockingSession, group: str) -> dict[int, int]:
    """Return the offsets of a group by queue, of those where it has one."""
    queues = session.run(session.admin.groups.consume_stats(group)).queues
    return {queue.queue_id: at.consumer_offset for queue, at in queues.items() if at.consumer_offset > 0}


@pytest.mark.sample
def test_a_lite_pull_consumer_subscribes_polls_and_commits(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    send_numbers(producer, name, range(1, 20))

    def joined() -> JavaObject:
        consumer = driver.lite_consumer(
            server.name_server, name, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET", autoCommit=False
        )
        consumer.call("subscribe", name, "even")
        consumer.call("start")
        return consumer

    first = joined()
    found: set[int] = set()

    def consumed_and_committed() -> bool:
        found.update(numbers_of(map(Received.of, first.call("poll", 100))))
        # It tells its offsets every few seconds; what a rebalance took from it until then is polled once more.
        first.call("commitSync")
        return committed(session, name) == {0: 5, 2: 5}

    with BlockingSession(ClientConfig(name_servers=(server.name_server,))) as session:
        wait_until(consumed_and_committed)
    assert found == set(range(0, 20, 2))
    # When it leaves, another of its group goes on behind it
    first.shutdown()
    send_numbers(producer, name, range(20, 24))
    second = joined()
    found = set()
    while len(found) < 2:
        found |= set(numbers_of(map(Received.of, second.call("poll", 5000))))
    assert found == {20, 22}


def test_a_lite_pull_consumer_reads_assigned_queues_from_where_it_is_told(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    send_numbers(producer, name, range(1, 40))
    consumer = driver.lite_consumer(server.name_server, name, autoCommit=False)
    consumer.call("start")
    queues = [Queue(name, 1), Queue(name, 3)]
    assert {Queue.of(tree) for tree in consumer.call("fetchMessageQueues", name)} == {
        Queue(name, queue_id) for queue_id in range(QUEUES)
    }
    consumer.call("assign", queues)

    def polled(count: int) -> list[Received]:
        found: list[Received] = []
        while len(found) < count:
            found += map(Received.of, consumer.call("poll", 5000))
        return found

    # From the middle of one and the beginning of the other
    consumer.call("seek", queues[0], 5)
    consumer.call("seekToBegin", queues[1])
    found = polled(15)
    assert sorted(message.queue_offset for message in found if message.queue.id == 1) == list(range(5, 10))
    assert sorted(message.queue_offset for message in found if message.queue.id == 3) == list(range(10))
    # At the end nothing comes but what is new
    consumer.call("seekToEnd", queues[0])
    send_numbers(producer, name, [101])
    assert numbers_of(polled(1)) == [101]
    assert consumer.call("offsetForTimestamp", queues[0], found[0].stored_at - 60_000) == 0


def test_the_old_pull_consumer_is_told_what_it_meets(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    send_numbers(producer, name, range(1, 40))
    consumer = driver.old_consumer(server.name_server, name)
    queue = Queue(name, 1)
    # Found, up to as many as it takes
    pulled = consumer.call("pull", queue, "*", 2, 5)
    assert (pulled["status"], pulled["next"], pulled["min"], pulled["max"]) == ("FOUND", 7, 0, 10)
    assert [message.queue_offset for message in messages_of(pulled)] == [2, 3, 4, 5, 6]
    assert consumer.call("pull", queue, "*", 7, 32, CALLBACK)["next"] == 10
    # At the end, filtered out, beyond the end, and below the beginning
    outcomes = {(10, "*"): ("NO_NEW_MSG", 10), (0, "third"): ("NO_MATCHED_MSG", 10), (99, "*"): ("OFFSET_ILLEGAL", 10)}
    for (offset, tags), (status, following) in outcomes.items():
        pulled = consumer.call("pull", queue, tags, offset, 32)
        assert (pulled["status"], pulled["next"], pulled["messages"]) == (status, following, [])


def test_a_pull_waits_for_the_first_message_and_no_longer(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    consumer = driver.old_consumer(server.name_server, name, brokerSuspendMaxTimeMillis=1000)
    send_numbers(producer, name, range(4))
    queue, end = Queue(name, 2), consumer.call("maxOffset", Queue(name, 2))
    # Nothing comes: the broker answers after the time that the client gave it
    begin = time.monotonic()
    assert consumer.call("pullBlockIfNotFound", queue, "*", end, 32)["status"] == "NO_NEW_MSG"
    assert time.monotonic() - begin > 0.9
    # Something comes: at once
    long = {"brokerSuspendMaxTimeMillis": 80_000, "consumerTimeoutMillisWhenSuspend": 90_000}
    waits = driver.old_consumer(server.name_server, name, **long)
    answer = driver.later("call", waits.name, method="pullBlockIfNotFound", arguments=[in_json(queue), "*", end, 32])
    send_numbers(producer, name, [102])
    assert numbers_of(messages_of(answer.result(60))) == [102]


def test_the_old_pull_consumer_keeps_its_offsets_in_the_broker(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    consumer = driver.old_consumer(server.name_server, name, persistConsumerOffsetInterval=500)
    assert consumer.call("fetchConsumeOffset", Queue(name, 0), True) == -1
    consumer.call("updateConsumeOffset", Queue(name, 0), 7)
    consumer.call("persist", Queue(name, 0))
    other = driver.old_consumer(server.name_server, name)
    wait_until(lambda: other.call("fetchConsumeOffset", Queue(name, 0), True) == 7)


@pytest.mark.parametrize("strategy", ["AllocateMessageQueueAveragely", "AllocateMessageQueueAveragelyByCircle"])
def test_members_agree_on_their_queues_by_any_strategy(
    driver: Driver, server: Server, producer: JavaObject, name: str, strategy: str
) -> None:
    class_name = f"org.apache.rocketmq.client.consumer.rebalance.{strategy}"
    members = [
        driver.push_consumer(
            server.name_server,
            f"{name}-{strategy[-8:]}",
            {name: "*"},
            allocateMessageQueueStrategy=made(class_name),
        )
        for _ in range(3)
    ]
    wait_until(lambda: sorted(queue_id for member in members for queue_id in queues_of(member, name)) == [0, 1, 2, 3])
    wait_until(lambda: all(queues_of(member, name) for member in members))
