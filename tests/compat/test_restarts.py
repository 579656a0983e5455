"""What outlives the end of either side: offsets, messages, delays and tries, after a clean stop and after kill -9."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.saving import JsonFile
from tests.compat.conftest import Server
from tests.compat.driver import Driver, JavaObject, PushConsumer, started_driver
from tests.compat.java_values import JavaMessage, Queue
from tests.compat.reading import Reader
from tests.compat.sending import QUEUES, numbers_of, send_numbers
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = {
    "messageDelayLevel": "1s 4s",
    "flushConsumerOffsetInterval": "300",
    # The Java client waits 30 s for the answer to a pull whose connection broke: let few pulls be under way.
    "longPollingEnable": "false",
    "shortPollingTimeMills": "100",
}


def persisted(server: Server, group: str, topic: str) -> int:
    """Return the sum of a group's offsets that the broker's file remembers."""
    kept = ConsumerOffsets(JsonFile(server.store / "config" / "consumerOffset.json"))
    kept.load()
    return sum(kept.of(group, topic).values())


def persist(consumer: PushConsumer) -> None:
    """Have the client tell its offsets now; it begins to do so by itself after ten seconds."""
    consumer.call("getDefaultMQPushConsumerImpl.persistConsumerOffset")


def joined(driver: Driver, server: Server, group: str, topic: str) -> PushConsumer:
    return driver.push_consumer(
        server.name_server,
        group,
        {topic: "*"},
        heartbeatBrokerInterval=1000,
        # By itself it tells its offsets when it leaves, whether or not its listener's last answers count in them yet.
        awaitTerminationMillisWhenShutdown=30_000,
    )


def count(consumer: PushConsumer, numbers: range) -> int:
    return len(set(numbers) & set(numbers_of(consumer.received)))


@pytest.mark.parametrize("kill", [False, True], ids=["clean stop", "kill -9"])
def test_a_broker_goes_on_where_it_was(driver: Driver, server: Server, reader: Reader, name: str, kill: bool) -> None:
    topic = f"{name}-{kill}"
    producer = driver.producer(server.name_server, retryTimesWhenSendFailed=10)
    # Given a group that took everything, and one that refused one message
    send_numbers(producer, topic, range(20))
    takes, refuses = (joined(driver, server, f"{topic}-{kind}", topic) for kind in ("takes", "refuses"))
    for consumer in (takes, refuses):
        wait_until(lambda consumer=consumer: count(consumer, range(20)) == 20)  # type: ignore[misc]
    refuses.behave("later", times=1, delay=2)
    send_numbers(producer, topic, [21])
    wait_until(lambda: count(takes, range(22)) == 21 and count(refuses, range(22)) == 21)
    for consumer in (takes, refuses):
        consumer.call("suspend")
        persist(consumer)
    wait_until(lambda: persisted(server, f"{topic}-takes", topic) == 21)
    # And a delayed message that was delivered meanwhile, and some that wait
    producer.call("send", JavaMessage(topic, b"20", delay_level=1), Queue(topic, 0))
    reader.read(topic, 22)
    for number in range(30, 35):
        producer.call("send", JavaMessage(topic, b"%d" % number, delay_level=2), Queue(topic, number % QUEUES))
    # When the broker ends and comes back under them all
    server.restart(kill=kill)
    send_numbers(producer, topic, range(40, 60))
    for consumer in (takes, refuses):
        consumer.call("resume")
    # Then both go on, the delayed messages come, and the refused one comes again
    for consumer in (takes, refuses):
        wait_until(lambda consumer=consumer: count(consumer, range(60)) == 47)  # type: ignore[misc]
    wait_until(lambda: numbers_of(refuses.received).count(21) >= 2)
    assert max(message.reconsume_times for message in refuses.received) == 1
    if not kill:
        assert sorted(numbers_of(takes.received)) == [*range(22), *range(30, 35), *range(40, 60)]
        assert sorted(numbers_of(refuses.received)) == sorted([*numbers_of(takes.received), 21])


def test_a_client_goes_on_where_its_group_was(driver: Driver, server: Server, name: str, tmp_path: Path) -> None:
    producer = driver.producer(server.name_server)
    first = joined(driver, server, name, name)
    send_numbers(producer, name, range(10))

    def are_kept() -> bool:
        # Again and again: of a group's very first offsets Apache RocketMQ may lose one.
        persist(first)
        return sum(offsets(driver, server, name)) == 10

    wait_until(lambda: count(first, range(10)) == 10)
    wait_until(are_kept)
    # Given a member that leaves in order: its last offsets are kept
    send_numbers(producer, name, range(10, 20))
    wait_until(lambda: count(first, range(20)) == 20)
    first.shutdown()
    assert sum(offsets(driver, server, name)) == 20
    send_numbers(producer, name, range(20, 40))
    # And one that is killed after its offsets went to the broker
    with started_driver(tmp_path / "dies") as dies:
        second = joined(dies, server, name, name)
        wait_until(lambda: count(second, range(40)) == 20)
        persist(second)
        wait_until(lambda: sum(offsets(driver, server, name)) == 40)
        dies.kill()
    assert sorted(numbers_of(second.received)) == list(range(20, 40))
    # Then a third gets what is new, and nothing else
    send_numbers(producer, name, range(40, 48))
    third = joined(driver, server, name, name)
    wait_until(lambda: count(third, range(48)) == 8)
    assert sorted(numbers_of(third.received)) == list(range(40, 48))


def offsets(driver: Driver, server: Server, name: str) -> list[int]:
    """Return the offsets of a group in the four queues of the topic of its name."""
    reader: JavaObject = driver.admin(server.name_server)
    table = reader.call("examineConsumeStats", name, name)["offsetTable"]
    reader.shutdown()
    return [row["consumerOffset"] for row in table.values()]
