"""A crowd of clients in one process: thousands of connections to a broker, each of a few lines, and how it fares.

::

    async with crowd(running.address, 2000) as clients:
        park_all(clients, "parked", per_client=5)
        await eventually(lambda: parked_pulls(…) == 10_000)
"""

from __future__ import annotations

import asyncio
import math
import os
import resource
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import cast

from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import PULL_SUBSCRIPTION, PULL_SUSPEND
from broker_core.protocol.command import Command
from broker_core.protocol.frame import FrameReader
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.protocol.message_id import UniqueIds
from broker_core.protocol.properties import UNIQ_KEY, WAIT, format_properties
from tests.support.cluster import RunningBroker

_AT_ONCE = 200  # connections opened side by side: the listener's queue has an end
_ANSWER_SECONDS = 30.0
_UNIQUE_IDS = UniqueIds(ip="127.0.0.1", pid=os.getpid(), loader=0)


class Client(asyncio.Protocol):
    """One connection: sends commands, keeps the answers by their number."""

    def __init__(self) -> None:
        self.answers: dict[int, Command] = {}
        self.is_closed = False
        self.transport: asyncio.Transport
        self._frames = FrameReader()
        self._waiting: dict[int, asyncio.Future[Command]] = {}
        self._next = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            answer = Command.decode(frame)
            if not answer.is_response:
                continue
            waiting = self._waiting.pop(answer.opaque, None)
            if waiting is None:
                self.answers[answer.opaque] = answer
            elif not waiting.done():
                waiting.set_result(answer)
        if self._frames.fault is not None:
            raise self._frames.fault

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("closed by the broker"))

    def post(self, command: Command) -> int:
        """Send a request and do not wait; return its number."""
        self._next += 1
        command.opaque = self._next
        self.transport.write(command.encode())
        return self._next

    def expect(self, number: int) -> asyncio.Future[Command]:
        """Return a future of the answer to a request that was posted and not answered yet."""
        waiting: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        return waiting

    async def ask(self, command: Command) -> Command:
        """Send a request and return its answer."""
        return await asyncio.wait_for(self.expect(self.post(command)), _ANSWER_SECONDS)


async def connect(address: str) -> Client:
    """Open one connection."""
    host, _, port = address.rpartition(":")
    _, client = await asyncio.get_running_loop().create_connection(Client, host, int(port))
    return client


@asynccontextmanager
async def crowd(address: str, count: int) -> AsyncIterator[list[Client]]:
    """Open so many connections, and close them at the end."""
    clients: list[Client] = []
    try:
        while len(clients) < count:
            more = min(_AT_ONCE, count - len(clients))
            clients += await asyncio.gather(*(connect(address) for _ in range(more)))
        yield clients
    finally:
        for client in clients:
            if not client.is_closed:  # the broker may have ended it; a transport that is gone cannot be aborted
                client.transport.abort()


async def create_wide_topic(client: Client, topic: str, queues: int) -> None:
    """Create a topic of many queues; none of them has files before its first message."""
    answer = await client.ask(Command.request(CreateTopicRequest(topic, queues, queues, 6)))
    assert answer.code == 0, answer.remark


def pull(topic: str, queue_id: int, *, wait_ms: int = 0, offset: int = 0, group: str = "crowd") -> Command:
    """Return a pull that says itself what it subscribes, and waits if there is nothing."""
    flags = PULL_SUBSCRIPTION | (PULL_SUSPEND if wait_ms else 0)
    return Command.request(PullMessageRequest(group, topic, queue_id, offset, 32, flags, 0, wait_ms, "*", 0, "TAG"))


def park_all(clients: Sequence[Client], topic: str, *, per_client: int, wait_ms: int) -> list[tuple[Client, int]]:
    """Have each client wait at queues of its own; return who waits at which queue id, by which number."""
    waiting = []
    for at, client in enumerate(clients):
        for each in range(per_client):
            waiting.append((client, client.post(pull(topic, at * per_client + each, wait_ms=wait_ms))))
    return waiting


def message(topic: str, queue_id: int, body: bytes) -> Command:
    """Return a send with what every client adds: a unique id, and that it waits for the disk."""
    now = int(time.time() * 1000)
    properties = format_properties({UNIQ_KEY: _UNIQUE_IDS.make(now), WAIT: "true"})
    return Command.request(SendMessageV2Request(topic, queue_id, 0, now, 0, "crowd", properties=properties), body)


async def parked_pulls(client: Client) -> int:
    """Return how many pulls wait at the broker."""
    answer = await client.ask(Command.request(GetBrokerRuntimeInfoRequest()))
    return int(bodies.decode(KVTable, answer.body).table["parkedPulls"])


async def send_latencies(clients: Sequence[Client], topic: str, count: int) -> list[float]:
    """Send `count` messages of 1 KiB from each client, one after another; return how long each took, in ms, sorted."""
    took: list[float] = []

    async def send(client: Client) -> None:
        for number in range(count):
            request = message(topic, number % 4, b"x" * 1024)
            started = time.perf_counter()
            answer = await client.ask(request)
            took.append((time.perf_counter() - started) * 1000)
            assert answer.code == 0, answer.remark

    await asyncio.gather(*map(send, clients))
    return sorted(took)


async def first_sends(clients: Sequence[Client], topics: str, count: int) -> list[float]:
    """Send one message to each of `count` topics a client that are not there yet, one after another.

    Returns how long each took, in ms, sorted.
    """
    took: list[float] = []

    async def send(at: int, client: Client) -> None:
        for number in range(count):
            header = SendMessageV2Request(f"{topics}-{at}-{number}", 0, 0, 0, 0, "crowd", default_topic="TBW102")
            started = time.perf_counter()
            answer = await client.ask(Command.request(header, b"first"))
            took.append((time.perf_counter() - started) * 1000)
            assert answer.code == 0, answer.remark

    await asyncio.gather(*(send(at, client) for at, client in enumerate(clients)))
    return sorted(took)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the value that so many percent do not exceed."""
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * percent / 100))]


def resident_bytes(running: RunningBroker) -> int:
    """Return the memory that a broker's process holds for itself; maps of its files are not counted."""
    assert running.process is not None
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) * 1024


def open_files_limit(running: RunningBroker) -> tuple[int, int]:
    """Return how many files the process may have open, now and at most."""
    assert running.process is not None
    limits = Path(f"/proc/{running.process.pid}/limits").read_text()
    soft, hard = limits.partition("Max open files")[2].split()[:2]
    return int(soft), int(hard)


@contextmanager
def lowered_open_files(soft: int) -> Iterator[None]:
    """Let processes that are started meanwhile begin with a lower limit of open files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
