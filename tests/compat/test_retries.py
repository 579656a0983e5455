"""What the Java client could not consume comes back, later and later, and ends among the dead letters of its group."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.compat.driver import Behaviour, Driver, JavaError, JavaObject, PushConsumer
from tests.compat.java_values import JavaMessage, Queue
from tests.compat.reading import Reader
from tests.compat.sending import numbers_of, send_numbers
from tests.compat.servers import SHARED, Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = SHARED

NO_PERMISSION = 16


@pytest.fixture
def producer(driver: Driver, server: Server, name: str) -> JavaObject:
    """A producer, and a topic with one message 0."""
    producer = driver.producer(server.name_server)
    send_numbers(producer, name, [0])
    return producer


def delays(consumer: PushConsumer) -> list[int]:
    """Return the ms between a consumer's deliveries."""
    return [later["at"] - earlier["at"] for earlier, later in pairwise(consumer.events)]


def dead(group: str) -> str:
    return f"%DLQ%{group}"


@pytest.mark.sample
def test_a_refused_message_comes_back_later_and_later_and_ends_as_a_dead_letter(
    driver: Driver, server: Server, producer: JavaObject, reader: Reader, name: str
) -> None:
    # Given a group that refuses everything and gives up after two more tries, and one that takes all
    refuses = driver.push_consumer(
        server.name_server, name, {name: "*"}, behaviour=Behaviour("later"), maxReconsumeTimes=2
    )
    takes = driver.push_consumer(server.name_server, f"{name}-other", {name: "*"})
    # When a message comes
    sent = producer.call("send", JavaMessage(name, b"1", tag="t", keys="k", properties={"p": "v"}), Queue(name, 1))
    wait_until(lambda: numbers_of(refuses.received).count(1) == 3)
    # Then the group sees it after a second and after two more, each time as it was
    tries = [message for message in refuses.received if message.body == b"1"]
    assert [message.reconsume_times for message in tries] == [0, 1, 2]
    for message in tries:
        assert (message.topic, message.id, message.tag, message.keys) == (name, sent["msgId"], "t", "k")
        assert message.properties["p"] == "v"
    assert [message.queue.topic for message in tries] == [name] * 3
    own = [event["at"] for event in refuses.events if event["message"]["msgId"] == sent["msgId"]]
    first, second = (later - earlier for earlier, later in pairwise(own))
    assert first >= 1000
    assert second >= 2000
    # And then it rests in the group's dead letters, with where it came from
    letters = {message.id: message for message in reader.read(dead(name), 2)}
    letter = letters[sent["msgId"]]
    assert (letter.body, letter.tag, letter.keys, letter.reconsume_times) == (b"1", "t", "k", 3)
    assert letter.properties["RETRY_TOPIC"] == name
    assert letter.properties["ORIGIN_MESSAGE_ID"] == sent["offsetMsgId"]
    assert letter.properties["p"] == "v"
    assert letter.queue == Queue(dead(name), 0)
    # While the other group saw it once
    assert sorted(numbers_of(takes.received)) == [0, 1]
    # And dead letters can be consumed like any topic
    undertaker = driver.push_consumer(server.name_server, f"{name}-dead", {dead(name): "*"})
    wait_until(lambda: sorted(numbers_of(undertaker.received)) == [0, 1])


def test_a_listener_that_throws_or_says_nothing_refuses(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    consumers = {
        answer: driver.push_consumer(server.name_server, f"{name}-{answer}", {name: "*"})
        for answer in ("throw", "nothing", "later")
    }
    for answer, consumer in consumers.items():
        consumer.behave(answer, times=1)
    send_numbers(producer, name, [4])
    for consumer in consumers.values():
        wait_until(lambda consumer=consumer: numbers_of(consumer.received).count(4) == 2)  # type: ignore[misc]
        assert [message.reconsume_times for message in consumer.received if message.body == b"4"] == [0, 1]


def test_a_listener_says_when_it_wants_the_message_again_or_that_it_never_does(
    driver: Driver, server: Server, producer: JavaObject, reader: Reader, name: str
) -> None:
    on_level_4 = driver.push_consumer(
        server.name_server, f"{name}-4", {name: "*"}, behaviour=Behaviour("later", times=1, delay=4)
    )
    never = driver.push_consumer(
        server.name_server, f"{name}-never", {name: "*"}, behaviour=Behaviour("later", delay=-1)
    )
    wait_until(lambda: len(on_level_4.events) == 2)
    assert delays(on_level_4)[0] >= 2000
    assert [message.reconsume_times for message in reader.read(dead(f"{name}-never"), 1)] == [1]
    assert len(never.events) == 1


def test_an_orderly_consumer_gives_up_after_its_tries_and_goes_on(
    driver: Driver, server: Server, producer: JavaObject, reader: Reader, name: str
) -> None:
    consumer = driver.push_consumer(
        server.name_server,
        name,
        {name: "*"},
        orderly=True,
        behaviour=Behaviour("suspend"),
        maxReconsumeTimes=2,
        suspendCurrentQueueTimeMillis=50,
    )
    send_numbers(producer, name, [4])
    # Then each message of the queue is tried three times in a row
    wait_until(lambda: len(consumer.events) == 6)
    assert numbers_of(consumer.received) == [0, 0, 0, 4, 4, 4]
    assert [message.reconsume_times for message in consumer.received] == [0, 1, 2] * 2
    # And becomes a dead letter
    assert numbers_of(reader.read(dead(name), 2)) == [0, 4]


def test_a_pull_consumer_sends_a_message_back_for_its_group(
    driver: Driver, server: Server, producer: JavaObject, reader: Reader, name: str
) -> None:
    consumer = driver.old_consumer(server.name_server, name)
    (message,) = reader.read(name, 1)
    consumer.call("sendMessageBack", message, 1)
    consumer.shutdown()
    # A member of the group gets it, once its delay is over
    member = driver.push_consumer(server.name_server, name, {name: "none"})
    wait_until(lambda: len(member.events) == 1)
    (again,) = member.received
    assert (again.body, again.topic, again.reconsume_times) == (b"0", name, 1)
    (stored,) = reader.read(f"%RETRY%{name}", 1)
    assert stored.properties["RETRY_TOPIC"] == name
    assert stored.properties["ORIGIN_MESSAGE_ID"] == message.offset_id
    assert stored.queue == Queue(f"%RETRY%{name}", 0)


def test_a_group_without_retry_queues_forgets_what_it_refuses_and_a_paused_one_gets_nothing(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    admin = driver.admin(server.name_server)
    group = {"groupName": name, "retryQueueNums": 0}
    admin.call("createAndUpdateSubscriptionGroupConfig", server.address, group)
    consumer = driver.push_consumer(server.name_server, name, {name: "*"}, behaviour=Behaviour("later", times=1))
    wait_until(lambda: len(consumer.events) == 1)
    send_numbers(producer, name, [4, 8])
    wait_until(lambda: len(consumer.events) == 3)
    consumer.shutdown()
    assert sorted(numbers_of(consumer.received)) == [0, 4, 8]
    # When consuming is switched off for it
    admin.call("createAndUpdateSubscriptionGroupConfig", server.address, group | {"consumeEnable": False})
    reader = driver.old_consumer(server.name_server, name)
    with pytest.raises(JavaError, match="subscription group no permission") as refused:
        reader.call("pull", Queue(name, 0), "*", 0, 32)
    assert refused.value.code == NO_PERMISSION
