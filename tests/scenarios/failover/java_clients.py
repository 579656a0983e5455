"""The unmodified Java client as a producer and a consumer of a group; what it does and is told goes on record.

It learns of another master only when it asks name servers again, every 30 s unless it is told otherwise: no answer of a
broker makes it look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from broker_core.protocol.message_id import parse_offset_id
from tests.compat.driver import Driver, JavaError, JavaObject, PushConsumer, started_driver
from tests.compat.java_build import CLIENT, missing_tool
from tests.compat.java_values import JavaMessage, Queue
from tests.scenarios.failover.cluster import BROKER_NAME, Group
from tests.scenarios.failover.operations import Outcome, Read, Record, Send

USUAL_POLL_MS: Final = 30_000
SHORT_POLL_MS: Final = 5_000
_SEND_MS: Final = 3_000
_AGAIN_S: Final = 0.1


@dataclass(frozen=True)
class JavaClients:
    """One JVM whose clients know the name servers of a group."""

    driver: Driver
    name_servers: str
    record: Record

    def producer(self, name: str, poll_ms: int) -> JavaObject:
        """Start a producer; a send of it is one attempt, so that each is told."""
        settings = {"pollNameServerInterval": poll_ms, "sendMsgTimeout": _SEND_MS, "retryTimesWhenSendFailed": 0}
        return self.driver.producer(self.name_servers, name, **settings)

    def consumer(self, group: str, topic: str, poll_ms: int, *, orderly: bool = False) -> PushConsumer:
        """Start a member of a group that reads a topic from its begin."""
        return self.driver.push_consumer(
            self.name_servers, group, {topic: "*"}, orderly=orderly, pollNameServerInterval=poll_ms
        )

    async def produce(
        self, producer: JavaObject, name: str, topic: str, queue_id: int, stop: asyncio.Event, *, pause_s: float = 0.005
    ) -> None:
        """Send numbered messages to a queue, one after the other, each until it is stored."""
        number = 0
        while not stop.is_set():
            text = f"{name}-{queue_id}-{number}"
            send = await asyncio.to_thread(self._send, producer, name, topic, queue_id, text)
            self.record.add(send)
            is_stored = send.outcome in (Outcome.ACKNOWLEDGED, Outcome.STORED)
            number += is_stored
            await asyncio.sleep(pause_s if is_stored else _AGAIN_S)

    def _send(self, producer: JavaObject, name: str, topic: str, queue_id: int, text: str) -> Send:
        now, queue = self.record.now, (topic, queue_id)
        began = now()
        try:
            told = producer.call(
                "send", JavaMessage(topic, text.encode(), keys=text), Queue(topic, queue_id, BROKER_NAME)
            )
        except JavaError as error:
            return Send(name, text, queue, Outcome.UNCERTAIN, began, now(), why=f"{error.kind}: {error.message}")
        return _answered(name, text, told, began, now())


def _answered(name: str, text: str, told: dict[str, Any], began: float, ended: float) -> Send:
    at = told["queue"]
    outcome = Outcome.ACKNOWLEDGED if told["status"] == "SEND_OK" else Outcome.STORED
    return Send(
        name, text, (at["topic"], at["queueId"]), outcome, began, ended, told["queueOffset"],
        parse_offset_id(told["offsetMsgId"]).log_offset, why=told["status"],
    )  # fmt: skip


def reads_of(consumer: PushConsumer, client: str) -> list[Read]:
    """Return what a consumer's listener was given, also more than once; when is not known."""
    return [
        Read(
            client, message.body.decode(), (message.queue.topic, message.queue.id), message.queue_offset,
            parse_offset_id(message.offset_id).log_offset, 0.0,
        )
        for message in consumer.received
    ]  # fmt: skip


@contextmanager
def java_clients(folder: Path, group: Group, record: Record) -> Iterator[JavaClients]:
    """Have a JVM with clients until the block ends; the test is left out with a line where there is no Java."""
    missing = missing_tool()
    if missing is not None:
        pytest.skip(f"left out: the Java client needs a JDK with a compiler and Maven, and there is no {missing}")
    CLIENT.build()
    with started_driver(folder) as driver:
        yield JavaClients(driver, ";".join(group.name_server_addresses), record)
