"""What a crowd costs: 2,000 connections with 10,000 parked pulls, and how sends and wake-ups fare beside it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import uvloop

from tests.benchmarks.measure import Row
from tests.support.cluster import RunningBroker, broker
from tests.support.crowd import (
    Client,
    create_wide_topic,
    crowd,
    first_sends,
    message,
    park_all,
    parked_pulls,
    percentile,
    resident_bytes,
    send_latencies,
)
from tests.support.wait import eventually

CONNECTIONS = 2_000
PULLS_EACH = 5
PARKED = CONNECTIONS * PULLS_EACH
WAIT_MS = 60_000
SENDERS = 4
SENDS = 2_000
ROUNDS = 3
WAKES = 500
KIB = 1024


def run() -> list[Row]:
    """Return latencies alone and beside the crowd, and what the crowd holds."""
    with tempfile.TemporaryDirectory() as folder:
        return uvloop.run(_measure(Path(folder)))


async def _measure(folder: Path) -> list[Row]:
    async with broker(folder) as running, crowd(running.address, SENDERS) as senders:
        await create_wide_topic(senders[0], "flow", 4)
        await create_wide_topic(senders[0], "parked", PARKED)
        await send_latencies(senders, "flow", SENDS)
        alone = await _best_latencies(senders)
        return [
            Row("send alone, p50", _us(alone, 50), "us"),
            Row("send alone, p99", _us(alone, 99), "us"),
            *await _beside_the_crowd(running, senders, alone),
            await _first_sends(running, senders[0]),
        ]


async def _beside_the_crowd(running: RunningBroker, senders: list[Client], alone: list[float]) -> list[Row]:
    before = resident_bytes(running)
    async with crowd(running.address, CONNECTIONS) as clients:
        connected = resident_bytes(running)
        waiting = park_all(clients, "parked", per_client=PULLS_EACH, wait_ms=WAIT_MS)

        async def all_wait() -> bool:
            return await parked_pulls(senders[0]) == PARKED

        await eventually(all_wait)
        parked = resident_bytes(running)
        beside = await _best_latencies(senders)
        woken = await _wake(senders[0], waiting)
    return [
        Row(f"send beside {PARKED:,} parked pulls, p50", _us(beside, 50), "us", "alone", _us(alone, 50)),
        Row(f"send beside {PARKED:,} parked pulls, p99", _us(beside, 99), "us", "alone", _us(alone, 99)),
        Row("send that wakes one of them to its answer, p50", _us(woken, 50), "us"),
        Row("send that wakes one of them to its answer, p99", _us(woken, 99), "us"),
        Row("memory of one connection", (connected - before) / CONNECTIONS / KIB, "KiB"),
        Row("memory of one parked pull", (parked - connected) / PARKED, "bytes"),
    ]


async def _first_sends(running: RunningBroker, client: Client) -> Row:
    """Return what the first send to a new topic takes where there are a thousand, beside what it takes at first."""
    alone = await first_sends([client], "alone", 20)
    async with crowd(running.address, 50) as many:
        await first_sends(many, "many", 20)
    crowded = await first_sends([client], "crowded", 20)
    return Row("first send to a topic among 1,000, p50", _us(crowded, 50), "us", "among few", _us(alone, 50))


async def _best_latencies(senders: list[Client]) -> list[float]:
    """Return the latencies of the round that others on this machine disturbed least."""
    rounds = [await send_latencies(senders, "flow", SENDS) for _ in range(ROUNDS)]
    return min(rounds, key=lambda took: percentile(took, 99))


async def _wake(sender: Client, waiting: list[tuple[Client, int]]) -> list[float]:
    """Send to the queues of some that wait; return the ms until each has its message, sorted."""
    took = []
    for queue_id in range(0, PARKED, PARKED // WAKES):
        client, number = waiting[queue_id]
        answered = client.expect(number)
        started = time.perf_counter()
        sender.post(message("parked", queue_id, b"for you"))
        assert (await answered).body
        took.append((time.perf_counter() - started) * 1000)
    return sorted(took)


def _us(ordered: list[float], percent: float) -> float:
    return percentile(ordered, percent) * 1000
