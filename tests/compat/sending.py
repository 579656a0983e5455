"""Numbered messages, sent by the Java client."""

from __future__ import annotations

from collections.abc import Iterable

from tests.compat.driver import JavaObject
from tests.compat.java_values import JavaMessage, Queue, Received

QUEUES = 4
"""How many queues a topic has that the first send creates."""


OVER_29 = "amount > 29 AND region IN ('eu', 'asia') AND amount IS NOT NULL"
"""Of what `send_amounts` sends: the even ones from 30 on."""


def send_numbers(producer: JavaObject, topic: str, numbers: Iterable[int]) -> None:
    """Send one message for each number, tagged even or odd, to the queue that is left over when it is divided."""
    for number in numbers:
        message = JavaMessage(topic, b"%d" % number, tag=("even", "odd")[number % 2], keys=f"k{number}")
        sent = producer.call("send", message, Queue(topic, number % QUEUES))
        assert sent["status"] == "SEND_OK"


def send_amounts(producer: JavaObject, topic: str, numbers: Iterable[int]) -> None:
    """Send one message for each number, which it has as its property `amount`, with a region; every tenth has none."""
    for number in numbers:
        properties = {"amount": str(number), "region": ("eu", "us")[number % 2]} if number % 10 != 9 else {}
        sent = producer.call(
            "send", JavaMessage(topic, b"%d" % number, properties=properties), Queue(topic, number % 4)
        )
        assert sent["status"] == "SEND_OK"


def numbers_of(messages: Iterable[Received]) -> list[int]:
    """Return the numbers of messages, in their order."""
    return [int(message.body) for message in messages]
