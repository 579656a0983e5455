"""What the Java producer was told is stored under sync flush is there after `kill -9` of the broker.

A kill leaves what the system holds for the disk: these tests see whether answers come before the store has the message,
and that clients are at home with brokers that flush first, but not whether the disk has it.
"""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.compat.conftest import Server
from tests.compat.driver import Driver, JavaError, JavaObject
from tests.compat.java_values import CALLBACK, JavaMessage, Queue, Received
from tests.compat.sending import QUEUES, numbers_of
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = {"flushDiskType": "SYNC_FLUSH"}
TIMEOUT_MS = 5_000
BATCH = 16
SENDERS = 8
MANY = 1_000_000
"""More than one of them sends in any time."""


@pytest.fixture
def producer(driver: Driver, server: Server) -> JavaObject:
    """A producer that tries each message once: what it counts as sent was acknowledged, and nothing was sent twice."""
    return driver.producer(
        server.name_server, sendMsgTimeout=TIMEOUT_MS, retryTimesWhenSendFailed=0, retryTimesWhenSendAsyncFailed=0
    )


def numbered(topic: str, number: int) -> JavaMessage:
    return JavaMessage(topic, b"%d" % number, keys=f"k{number}")


def consumed(driver: Driver, server: Server, topic: str, wanted: set[int]) -> list[Received]:
    """Have a new group consume the topic until it has what is wanted; return everything that came, queue by queue."""
    consumer = driver.push_consumer(server.name_server, topic, {topic: "*"})
    wait_until(lambda: wanted <= set(numbers_of(consumer.received)))
    return sorted(consumer.received, key=lambda message: (message.queue.id, message.queue_offset))


def test_the_broker_flushes_before_it_answers(driver: Driver, server: Server) -> None:
    admin = driver.admin(server.name_server)
    assert admin.call("getBrokerConfig", server.address)["flushDiskType"] == "SYNC_FLUSH"


def test_what_was_acknowledged_one_by_one_is_there_after_a_kill(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    sent: list[dict[str, Any]] = []
    # Given single messages, batches, and asynchronous ones, each kind to every queue
    for number in range(20):
        sent.append(producer.call("send", numbered(name, number), Queue(name, number % QUEUES)))
    for begin in range(100, 100 + 4 * BATCH, BATCH):
        batch = [numbered(name, number) for number in range(begin, begin + BATCH)]
        sent.append(producer.call("send", batch, Queue(name, begin // BATCH % QUEUES)))
    for number in range(200, 220):
        sent.append(producer.call("send", numbered(name, number), Queue(name, number % QUEUES), CALLBACK, TIMEOUT_MS))
    assert {each["status"] for each in sent} == {"SEND_OK"}
    # When the broker is killed right after its last answer
    server.restart(kill=True)
    # Then all is there, once and in the order in which it was sent to its queue
    wanted = [*range(20), *range(100, 100 + 4 * BATCH), *range(200, 220)]
    found = consumed(driver, server, name, set(wanted))
    assert sorted(numbers_of(found)) == wanted
    for queue_id in range(QUEUES):
        of_queue = numbers_of(message for message in found if message.queue.id == queue_id)
        assert of_queue == sorted(of_queue)


def test_what_was_acknowledged_while_the_broker_was_killed_is_there(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    producer.call("send", numbered(name, 0))
    acknowledged, stop = {0}, threading.Event()

    def send(messages: JavaMessage | list[JavaMessage], *arguments: object) -> None:
        assert producer.call("send", messages, *arguments)["status"] == "SEND_OK"
        taken = messages if isinstance(messages, list) else [messages]
        acknowledged.update(int(message.body) for message in taken)

    def send_until_killed(first: int) -> None:
        """Send single messages, asynchronous ones and batches in turn; a failure is the end."""
        with contextlib.suppress(JavaError):
            for begin in range(first, first + MANY, BATCH):
                if stop.is_set():
                    return
                single, in_background, *rest = [numbered(name, number) for number in range(begin, begin + BATCH)]
                send(single)
                send(in_background, CALLBACK, TIMEOUT_MS)
                send(rest)

    # When the broker is killed while many send, having answered some of what was sent
    with ThreadPoolExecutor(SENDERS) as threads:
        senders = [threads.submit(send_until_killed, MANY * number) for number in range(1, 1 + SENDERS)]
        try:
            wait_until(lambda: len(acknowledged) >= 40 * BATCH)
            server.restart(kill=True)
        finally:
            stop.set()
        for sender in senders:
            sender.result()
    # Then what it answered is there, and nothing twice
    found = numbers_of(consumed(driver, server, name, acknowledged))
    assert len(found) == len(set(found))
