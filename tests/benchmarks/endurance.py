"""An hour of 20,000 messages a second over 1,000 connections: does the broker's memory stay flat, and its p99?

The files of the commit log are removed as the disk fills, so that retention is part of it. ``MINUTES=5`` shortens it.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import shutil
import struct
import sys
import tempfile
import time
from array import array
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import uvloop

from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.properties import UNIQ_KEY
from broker_core.remoting import RemotingClient
from tests.benchmarks.measure import Row
from tests.support.cluster import RunningBroker, started_broker
from tests.support.crowd import create_wide_topic, crowd, message, percentile, resident_bytes

MINUTES: Final = float(os.environ.get("MINUTES", "60"))
WINDOWS: Final = 12
CONNECTIONS: Final = 1_000
PER_SECOND: Final = 20_000
TICKS: Final = 100  # a second
QUEUES: Final = 8
BODY: Final = b"x" * 256
_MORE_DISK: Final = 3
"""So many hundredths of the disk are filled before files are removed."""
_LENGTH: Final = struct.Struct(">i")
_TIMEOUT_MS: Final = 60_000
_UNIQUE: Final = itertools.count()


class Sender(asyncio.Protocol):
    """A connection that sends one prepared frame again and again, and only counts the bytes of its answers."""

    def __init__(self, took: array[float]) -> None:
        self.took = took
        self._sent: deque[float] = deque()
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def send(self, frame: bytes) -> None:
        self._sent.append(time.perf_counter())
        self.transport.write(frame)

    def data_received(self, data: bytes) -> None:
        data = self._buffer + data
        while len(data) >= _LENGTH.size and len(data) >= (end := _LENGTH.size + _LENGTH.unpack_from(data)[0]):
            self.took.append((time.perf_counter() - self._sent.popleft()) * 1000)
            if b'"code":0,' not in data[:end]:
                raise AssertionError(data[:end])
            data = data[end:]
        self._buffer = data

    def connection_lost(self, exc: Exception | None) -> None:
        if self._sent:
            raise AssertionError(f"closed with {len(self._sent)} sends without answer: {exc}")


@dataclass
class Window:
    """What one part of the time brought; latencies in ms."""

    sent: int
    middle: float
    late: float
    memory: int
    consumed: int


@dataclass
class Consumed:
    """How many messages the consumers got."""

    count: int = 0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)


def run() -> Iterator[Row]:
    """Return rate, latencies and memory of each window, the last beside the first."""
    with tempfile.TemporaryDirectory() as folder:
        usage = shutil.disk_usage(folder)
        full = round(usage.used / (usage.used + usage.free) * 100) + _MORE_DISK
        settings = {
            "mappedFileSizeCommitLog": str(256 << 20),
            "diskSpaceCleanForciblyRatio": str(full),
            "diskSpaceWarningLevelRatio": str(full + 5),
        }
        with started_broker(Path(folder), settings=settings) as running:
            windows = uvloop.run(_measure(running))
    yield from _rows(windows)


def _rows(windows: list[Window]) -> Iterator[Row]:
    seconds = MINUTES * 60 / len(windows)
    for number, window in enumerate(windows):
        minute = f"after {MINUTES / len(windows) * (number + 1):.3g} min"
        yield Row(f"sent, {minute}", window.sent / seconds, "msg/s")
        yield Row(f"consumed, {minute}", window.consumed / seconds, "msg/s")
        yield Row(f"send, p50, {minute}", window.middle * 1000, "us")
        yield Row(f"send, p99, {minute}", window.late * 1000, "us", "the first", windows[0].late * 1000)
        yield Row(f"memory, {minute}", window.memory / 2**20, "MiB", "the first", windows[0].memory / 2**20)


async def _measure(running: RunningBroker) -> list[Window]:
    async with crowd(running.address, 1) as [admin]:
        await create_wide_topic(admin, "flow", QUEUES)
    # An array: a list of millions holds this process up at each garbage collection, and the broker would be blamed.
    took = array("d")
    async with _senders(running.address, took) as senders, _consumers(running.address) as consumed:
        await _send(senders, PER_SECOND * 20)  # warm
        gc.collect()
        gc.freeze()
        windows = []
        for _ in range(WINDOWS):
            del took[:]
            before = consumed.count
            await _send(senders, round(MINUTES * 60 / WINDOWS * PER_SECOND))
            ordered = sorted(took)
            middle, late = percentile(ordered, 50), percentile(ordered, 99)
            windows.append(Window(len(took), middle, late, resident_bytes(running), consumed.count - before))
            del ordered
            # Of an hour's work something should be left if it ends early.
            print(_told(windows), file=sys.stderr, flush=True)
    return windows


def _told(windows: list[Window]) -> str:
    last = windows[-1]
    return (
        f"window {len(windows)} of {WINDOWS}: {last.sent} sent, {last.consumed} consumed, "
        f"p50 {last.middle:.1f} ms, p99 {last.late:.1f} ms, {last.memory / 2**20:.1f} MiB"
    )


async def _send(senders: list[Sender], count: int) -> None:
    """Send so many messages at the pace, each connection in its turn."""
    frames = [_around_unique_id(message("flow", queue_id, BODY)) for queue_id in range(QUEUES)]
    started = time.perf_counter()
    for first in range(0, count, PER_SECOND // TICKS):
        for number in range(first, min(first + PER_SECOND // TICKS, count)):
            before, after = frames[number % QUEUES]
            senders[number % CONNECTIONS].send(b"%b%032X%b" % (before, next(_UNIQUE), after))
        await asyncio.sleep(max(0.0, started + first / PER_SECOND - time.perf_counter()))
    await asyncio.sleep(1)


def _around_unique_id(command: Command) -> tuple[bytes, bytes]:
    """Return the frame before and after the unique id, which each message has for itself."""
    frame, name = command.encode(), UNIQ_KEY.encode()
    begin = frame.index(name) + len(name) + len(r"\u0001")
    return frame[:begin], frame[begin + 32 :]


@asynccontextmanager
async def _senders(address: str, took: array[float]) -> AsyncIterator[list[Sender]]:
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    senders = []
    for _ in range(CONNECTIONS):
        _, sender = await loop.create_connection(lambda: Sender(took), host, int(port))
        senders.append(sender)
    yield senders
    for sender in senders:
        sender.transport.close()


@asynccontextmanager
async def _consumers(address: str) -> AsyncIterator[Consumed]:
    consumed = Consumed()
    consumed.tasks = [asyncio.create_task(_consume(address, queue_id, consumed)) for queue_id in range(QUEUES)]
    yield consumed
    for task in consumed.tasks:
        if task.done():
            task.result()
        task.cancel()


async def _consume(address: str, queue_id: int, consumed: Consumed) -> None:
    client = RemotingClient()
    offset = 0
    while True:
        header = PullMessageRequest("flow", "flow", queue_id, offset, 32, PULL_SUBSCRIPTION, subscription="*")
        answer = await client.invoke(address, Command.request(header), _TIMEOUT_MS)
        position = answer.header(PullMessageResponse)
        if answer.code == ResponseCode.SUCCESS:
            consumed.count += position.next_begin_offset - offset
        else:
            await asyncio.sleep(0.01)
        offset = position.next_begin_offset
