"""What two brokers of one name have: bytes of their logs, units of their queues, what they say of themselves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from broker_core.client.producer import Producer
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.topics import GetAllTopicConfigRequest
from broker_core.protocol.message import Message
from broker_core.remoting import RemotingClient
from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually

Server: TypeAlias = RunningBroker | ApacheBroker

UNIT_BYTES = 20
_TIMEOUT_MS = 30_000
_TOGETHER = 64


async def asked(address: str, header: object) -> Command:
    """Return a broker's answer to one request."""
    client = RemotingClient()
    try:
        return await client.invoke(address, Command.request(header), _TIMEOUT_MS)
    finally:
        await client.close()


async def log_end(server: Server) -> int | None:
    """Return where a broker's log ends; None while one of Apache's that has just started cannot tell."""
    answer = await asked(server.address, GetBrokerRuntimeInfoRequest())
    if answer.code != ResponseCode.SUCCESS:
        return None
    return int(bodies.decode(KVTable, answer.body).table["commitLogMaxOffset"])


async def caught_up(slave: Server, master: Server) -> int:
    """Wait until the slave has the whole log of its master; return where both end."""
    ends: list[int | None] = []

    async def are_equal() -> bool:
        ends[:] = [await log_end(master), await log_end(slave)]
        return ends[0] is not None and ends[0] == ends[1]

    await eventually(are_equal)
    assert ends[0] is not None
    return ends[0]


async def has_topic(server: Server, topic: str) -> bool:
    """Return whether a broker knows a topic."""
    answer = await asked(server.address, GetAllTopicConfigRequest())
    return topic in bodies.decode(TopicConfigSerializeWrapper, answer.body).topic_config_table


def log_of(store: Path) -> bytes:
    """Return the bytes of all segments, with the zeros behind the end."""
    return b"".join(file.read_bytes() for file in sorted((store / "commitlog").iterdir()))


def queues_of(store: Path) -> dict[tuple[str, str], bytes]:
    """Return the units of each queue, by topic and id; files may have different sizes."""
    return {(queue.parent.name, queue.name): units for queue in _queue_folders(store) if (units := _units(queue))}


def _queue_folders(store: Path) -> Iterator[Path]:
    for topic in sorted((store / "consumequeue").iterdir()):
        yield from sorted(topic.iterdir())


def _units(queue: Path) -> bytes:
    data = b"".join(file.read_bytes() for file in sorted(queue.iterdir()))
    end = len(data)
    while end and not any(data[end - UNIT_BYTES : end]):
        end -= UNIT_BYTES
    return data[:end]


async def send_many(server: Server, topic: str, numbers: range, size: int) -> None:
    """Send one message of this size for each number."""
    source = random.Random(numbers.start)  # what is compressed fills no segment
    async with server.session() as session:
        producer: Any = Producer(session)
        for begin in range(numbers.start, numbers.stop, _TOGETHER):
            part = range(begin, min(begin + _TOGETHER, numbers.stop))
            messages = [
                Message(topic, b"%d " % number + source.randbytes(size), {"KEYS": f"k{number}"}) for number in part
            ]
            await asyncio.gather(*map(producer.send, messages))
