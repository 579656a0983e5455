"""Numbered messages, sent by the Java client."""

from __future__ import annotations

from collections.abc import Iterable

from tests.compat.driver import JavaObject
from tests.compat.java_values import JavaMessage, Queue, Received

QUEUES = 4
"""How many queues a topic has that the first send creates."""


def send_numbers(producer: JavaObject, topic: str, numbers: Iterable[int]) -> None:
    """Send one message for each number, tagged even or odd, to the queue that is left over when it is divided."""
    for number in numbers:
        message = JavaMessage(topic, b"%d" % number, tag=("even", "odd")[number % 2], keys=f"k{number}")
        sent = producer.call("send", message, Queue(topic, number % QUEUES))
        assert sent["status"] == "SEND_OK"


def numbers_of(messages: Iterable[Received]) -> list[int]:
    """Return the numbers of messages, in their order."""
    return [int(message.body) for message in messages]
