"""Sends of 1 KiB over the wire to a broker process: prebuilt frames in a row, and our client with many tasks."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import uvloop

from broker_core.client.producer import Producer
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from broker_core.protocol.command import Command
from broker_core.protocol.frame import FrameReader
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.message import Message
from tests.benchmarks.measure import Row
from tests.support.cluster import RunningBroker, broker, create_topic

COUNT = 60_000
TASKS = 64
WINDOW = 256
BODY = b"x" * 1024


def run() -> list[Row]:
    """Return the rates of both ways."""
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    arguments = ["--commit-log-file-size", str(256 << 20)]
    async with broker(folder, arguments=arguments) as running, running.session() as session:
        await create_topic(session, "bench", perm=PERM_READ | PERM_WRITE)
        producer = await Producer(session).start()
        pipelined = max([await _pipelined(running) for _ in range(3)])
        tasks = max([await _with_tasks(producer) for _ in range(3)])
        batches = max([await _batches(producer) for _ in range(3)])
        await producer.close()
    return [
        Row("send 1 KiB, one connection, frames in a row", pipelined, "msg/s"),
        Row(f"send 1 KiB, our client, {TASKS} tasks", tasks, "msg/s", "frames in a row", pipelined),
        Row("send 1 KiB, our client, batches of 64", batches, "msg/s", "frames in a row", pipelined),
    ]


async def _pipelined(running: RunningBroker) -> float:
    """Keep a window of prebuilt requests under way on one connection; the load costs almost nothing itself."""
    host, _, port = running.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    now = int(time.time() * 1000)
    header = SendMessageV2Request(
        "bench", 0, 0, now, 0, "bench", properties="KEYS\x01A17\x02TAGS\x01created\x02WAIT\x01true"
    )
    frame = Command.request(header, BODY).encode()
    frames, sent, answered = FrameReader(), 0, 0
    started = time.perf_counter()
    while answered < COUNT:
        more = min(COUNT - sent, WINDOW - (sent - answered))
        if more:
            writer.write(frame * more)
            sent += more
        answered += len(frames.feed(await reader.read(1 << 18)))
        if frames.fault is not None:
            raise frames.fault
    took = time.perf_counter() - started
    writer.close()
    await writer.wait_closed()
    return COUNT / took


async def _with_tasks(producer: Producer) -> float:
    message = Message.create("bench", BODY, keys=["A17"], tag="created")

    async def send() -> None:
        for _ in range(COUNT // 3 // TASKS):
            await producer.send(message)

    started = time.perf_counter()
    await asyncio.gather(*(send() for _ in range(TASKS)))
    return COUNT // 3 // TASKS * TASKS / (time.perf_counter() - started)


async def _batches(producer: Producer) -> float:
    batch = [Message.create("bench", BODY, keys=["A17"], tag="created")] * 64
    rounds = COUNT // 64
    started = time.perf_counter()
    for _ in range(rounds):
        await producer.send_batch("bench", batch)
    return rounds * 64 / (time.perf_counter() - started)
