"""Reading queues of a replica: over the wire, from one of its address or of an id; and from its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.client.consumer.pull import Pull, PullResult, PullStatus, pull
from broker_core.client.consumer.subscriptions import subscription
from broker_core.client.errors import refusal
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.store.reader import StoreReader
from tests.scenarios.failover.cluster import BROKER_NAME
from tests.scenarios.failover.operations import Queue, Read

_TIMEOUT_MS: Final = 3_000
_AT_ONCE: Final = 32
_NEVER: Final = 1 << 60
_FOUND: Final = 64


@dataclass(frozen=True)
class Part:
    """What one request brought."""

    reads: Sequence[Read]
    next_offset: int
    is_turned_back: bool
    is_end: bool


async def read_from(
    session: Session,
    queue: Queue,
    offset: int,
    client: str,
    *,
    broker_id: int = 0,
    now: Callable[[], float] = time.monotonic,
) -> Part:
    """Return what the replica of an id has from an offset on; raises GantryError."""
    at = MessageQueue(queue[0], BROKER_NAME, queue[1])
    wanted = Pull(
        client, at, offset, subscription(queue[0]), _AT_ONCE, timeout_ms=_TIMEOUT_MS, broker_id=broker_id
    )  # fmt: skip
    result: PullResult = await pull(session, wanted)
    reads = [read_of(client, message, now(), str(broker_id)) for message in result.messages]
    return Part(
        reads, result.next_offset, result.status is PullStatus.OFFSET_ILLEGAL, result.status is PullStatus.NO_NEW
    )


async def read_all(session: Session, topic: str, queues: int, client: str, *, broker_id: int = 0) -> list[Read]:
    """Return all messages that the replica of an id has, queue by queue; raises GantryError."""
    found: list[Read] = []
    for queue_id in range(queues):
        offset = 0
        while True:
            part = await read_from(session, (topic, queue_id), offset, client, broker_id=broker_id)
            found += part.reads
            if part.is_end or part.is_turned_back or part.next_offset <= offset:
                break
            offset = part.next_offset
    return found


async def look_up(session: Session, topic: str, key: str, client: str) -> list[Read]:
    """Return the newest messages that the master finds by a key; raises GantryError."""
    master = session.routes.master(BROKER_NAME)
    if master is None:
        await session.routes.refresh(topic)
        master = session.routes.master(BROKER_NAME)
    assert master is not None
    answer = await session.invoke(master, QueryMessageRequest(topic, key, _FOUND, 0, _NEVER), timeout_ms=_TIMEOUT_MS)
    if answer.code == ResponseCode.QUERY_NOT_FOUND:
        return []
    if answer.code != ResponseCode.SUCCESS:
        raise refusal(answer.code, answer.remark, master, topic=topic)
    return [read_of(client, message, time.monotonic()) for message in decode_many(answer.body)]


def read_store(folder: Path, topic: str, client: str) -> list[Read]:
    """Return the messages of a topic in the log of a store that nobody has open, in the order of the log."""
    with StoreReader.open(folder) as reader:
        walk = reader.walk(check_crc=True)
        messages = [reader.find(head.log_offset) for head, _ in walk]
        assert walk.damaged == []
        return [
            read_of(client, message, time.monotonic())
            for message in messages
            if message is not None and message.topic == topic
        ]


def read_of(client: str, message: StoredMessage, at: float, replica: str = "") -> Read:
    """Return a message as a reader's."""
    queue = message.topic, message.queue_id
    return Read(client, message.body.decode(), queue, message.queue_offset, message.log_offset, at, replica)
