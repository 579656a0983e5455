"""What the pages show: topics, messages and groups, put in through the HTTP API."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.session import Session
from broker_core.protocol.message import StoredMessage
from tests.support.gantry import Gantry

LOCAL = "/clusters/local"
_BATCH = 500
_MOST = 1_000
_STRAWS = 150


class Data:
    """Writes through the API of one instance; a client is used by one thread at a time."""

    def __init__(self, http: httpx.Client) -> None:
        self.http = http

    def create_topic(self, name: str, *, queues: int = 4) -> None:
        """Create a topic."""
        self._post(f"{LOCAL}/topics", {"name": name, "read_queues": queues, "write_queues": queues})

    def send(self, topic: str, *numbers: int, **changes: Any) -> None:
        """Send one message for each number; its key is ``topic-number``."""
        for start in range(0, len(numbers), _BATCH):
            messages = [order(topic, number) | changes for number in numbers[start : start + _BATCH]]
            self._post(f"{LOCAL}/topics/{topic}/messages", {"messages": messages})

    def prepare(self, topic: str, *numbers: int, group: str = "payments") -> None:
        """Send one message in a transaction for each number, and leave it open."""
        for number in numbers:
            path = f"{LOCAL}/topics/{topic}/messages?transaction=prepare&group={group}"
            self._post(path, order(topic, number))

    def fill(self, topic: str, count: int) -> None:
        """Send so many messages without keys, whose JSON takes a moment to read, as fast as HTTP takes them."""
        message = {"body": {"encoding": "json", "data": {"straws": list(range(_STRAWS))}}}
        for start in range(0, count, _MOST):
            self._post(f"{LOCAL}/topics/{topic}/messages", {"messages": [message] * min(_MOST, count - start)})

    def send_as(self, topic: str, original: str, number: int, **changes: Any) -> None:
        """Send to `topic` what `send` would send to `original`."""
        self._post(f"{LOCAL}/topics/{topic}/messages", {"messages": [order(original, number) | changes]})

    def take(self, group: str, topic: str, *, most: int = 32, ack: bool = True) -> int:
        """Receive messages and acknowledge them; return how many came."""
        path = f"{LOCAL}/groups/{group}/topics/{topic}"
        answer = self._post(f"{path}:receive", {"max_messages": most, "wait_ms": 1_000, "lease_ms": 60_000})
        receipts = [message["receipt"] for message in answer["messages"]]
        if receipts and ack:
            self._post(f"{path}:ack", {"receipts": receipts})
        return len(receipts)

    def give_up(self, group: str, topic: str, reason: str, *, most: int) -> None:
        """Receive messages and make each a dead letter of the group."""
        path = f"{LOCAL}/groups/{group}/topics/{topic}"
        answer = self._post(f"{path}:receive", {"max_messages": most, "wait_ms": 1_000, "lease_ms": 60_000})
        receipts = [message["receipt"] for message in answer["messages"]]
        self._post(f"{path}:nack", {"receipts": receipts, "dead_letter": True, "reason": reason})

    def create_channel(self, name: str) -> None:
        """Create an alert channel that leads nowhere."""
        self._post("/alert-channels", {"name": name, "kind": "webhook", "url": "https://hooks.example/none"})

    def told(self, channel: str) -> set[str]:
        """Return the events that a channel was to be told of."""
        items = self.http.get("/deliveries").json()["items"]
        return {item["event"] for item in items if item["channel_name"] == channel}

    def consumes(self, group: str) -> bool:
        """Return whether a group is not paused."""
        config = self.http.get(f"{LOCAL}/groups/{group}").json()["config"]
        return bool(config["consume_enabled"])

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.http.post(path, json=body)
        assert answer.is_success, f"{path}: {answer.text}"
        found: dict[str, Any] = answer.json()
        return found


@contextmanager
def flowing(gantry: Gantry, topic: str) -> Iterator[None]:
    """Send to `topic`, now more and now less, until the block ends."""
    enough = threading.Event()

    def send() -> None:
        numbers = itertools.count(1_000_000)
        with gantry.client() as http:
            data = Data(http)
            for amount in itertools.cycle((20, 60, 120, 40)):
                data.send(topic, *itertools.islice(numbers, amount))
                if enough.wait(1):
                    return

    sender = threading.Thread(target=send, name="sender", daemon=True)
    sender.start()
    try:
        yield
    finally:
        enough.set()
        sender.join(30)


@contextmanager
def consuming(gantry: Gantry, group: str, topic: str) -> Iterator[list[str]]:
    """Run a native consumer of what comes from now on until the block ends; the list has the keys that it handled."""
    handled: list[str] = []
    ready, enough = threading.Event(), threading.Event()

    async def handle(message: StoredMessage) -> None:
        handled.extend(message.keys)

    async def consume() -> None:
        async with Session(ClientConfig([gantry.name_server])) as session:
            consumer = PushConsumer(session, group, handle, PushConfig(start_from="last"))
            consumer.subscribe(topic)
            async with consumer:
                ready.set()
                await asyncio.to_thread(enough.wait)

    consumer = threading.Thread(target=asyncio.run, args=(consume(),), name="consumer", daemon=True)
    consumer.start()
    try:
        assert ready.wait(60)
        yield handled
    finally:
        enough.set()
        consumer.join(30)


def order(topic: str, number: int) -> dict[str, Any]:
    """Return the message of a number, as a shop might send it."""
    return {
        "keys": [f"{topic}-{number}"],
        "tag": ("created", "paid", "shipped")[number % 3],
        "properties": {"region": ("north", "south")[number % 2]},
        "body": {
            "encoding": "json",
            "data": {
                "id": f"{topic}-{number}",
                "amount": 100 + number % 900,
                "customer": {"name": f"customer {number % 97}", "since": "2024-03-01T09:30:00Z"},
                "lines": [{"article": f"A{number % 13}", "pieces": 1 + number % 4}],
            },
        },
    }
