"""Reading queues of a replica: over the wire, from the master or one of an address; and from its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.client.consumer.pull import Pull
from broker_core.client.consumer.subscriptions import subscription
from broker_core.client.errors import NoRoute, refusal
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.pull import PullMessageResponse
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.store.reader import StoreReader
from tests.scenarios.failover.cluster import BROKER_NAME
from tests.scenarios.failover.operations import Queue, Read

MASTER: Final = ""
"""Whatever replica is the master by the route."""
_ANSWERS: Final = {
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
}
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
    replica: str = MASTER,
    now: Callable[[], float] = time.monotonic,
) -> Part:
    """Return what a replica, by its address, has from an offset on; raises GantryError."""
    address = replica or await master_of(session, queue[0])
    at = MessageQueue(queue[0], BROKER_NAME, queue[1])
    wanted = Pull(client, at, offset, subscription(queue[0]), _AT_ONCE)
    answer = await session.invoke(address, wanted.header(), timeout_ms=_TIMEOUT_MS)
    if answer.code not in _ANSWERS:
        raise refusal(answer.code, answer.remark, address, topic=queue[0])
    messages = decode_many(answer.body) if answer.code == ResponseCode.SUCCESS else []
    return Part(
        [read_of(client, message, now(), replica) for message in messages],
        answer.header(PullMessageResponse).next_begin_offset,
        answer.code == ResponseCode.PULL_OFFSET_MOVED,
        answer.code == ResponseCode.PULL_NOT_FOUND,
    )


async def master_of(session: Session, topic: str) -> str:
    """Return the address of the master by the route; raises GantryError."""
    master = session.routes.master(BROKER_NAME)
    if master is None:
        await session.routes.refresh(topic)
        master = session.routes.master(BROKER_NAME)
    if master is None:
        raise NoRoute(topic, "there is no master")
    return master


async def read_all(session: Session, topic: str, queues: int, client: str, *, replica: str = MASTER) -> list[Read]:
    """Return all messages that a replica has, queue by queue; raises GantryError."""
    found: list[Read] = []
    for queue_id in range(queues):
        offset = 0
        while True:
            part = await read_from(session, (topic, queue_id), offset, client, replica=replica)
            found += part.reads
            if part.is_end or part.is_turned_back or part.next_offset <= offset:
                break
            offset = part.next_offset
    return found


async def look_up(session: Session, topic: str, key: str, client: str) -> list[Read]:
    """Return the newest messages that the master finds by a key; raises GantryError."""
    master = await master_of(session, topic)
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
