"""Ten thousand topics and five thousand groups, 500 behind: what a round of the sampler, a list and a frame cost.

Processor time, since others use the machine too. The sampler works in this process, broker, Redis and gateway in their
own. Then a thousand sockets watch rows, and the data plane is measured beside a hundred of them.
"""

from __future__ import annotations

import asyncio
import logging
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import httpx
import redis.asyncio
import uvloop

from tests.benchmarks import scale_cluster
from tests.benchmarks.consoles import (
    ROWS,
    beside_consoles,
    drain,
    first_paints,
    socket_of,
    sockets_of,
    spent_by,
    watch,
    workers_of,
)
from tests.benchmarks.measure import Row
from tests.benchmarks.scale_cluster import Size, group_name, topic_name
from tests.gateway.installation import Installation, running_installation
from tests.support.cluster import RunningBroker, started_broker
from tests.support.redis import redis_server

ROUNDS = 87
SETTLED = 75
"""Rounds that are not counted: a trend is known after a minute, and until then most groups are made anew in turns."""
REQUESTS = 40
VIEWERS = 1_000


def run() -> list[Row]:
    """Return all figures."""
    size = Size(*(int(part) for part in os.environ.get("SCALE", "10000,5000,500,50").split(",")))
    with (
        tempfile.TemporaryDirectory() as folder,
        redis_server() as redis_url,
        started_broker(Path(folder) / "broker") as broker,
        running_installation(
            Path(folder) / "gateway",
            name_server=broker.name_server,
            redis_url=redis_url,
            GANTRY_RATE_PRODUCE="10000000",
            GANTRY_RATE_READ="100000",
        ) as installation,
    ):
        _set_up_django(installation.data, redis_url, broker.name_server)
        return uvloop.run(_measure(broker, redis_url, installation, size))


def _set_up_django(data: Path, redis_url: str, name_server: str) -> None:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "gateway.settings",
        "GANTRY_DATA_DIR": str(data),
        "GANTRY_REDIS_URL": redis_url,
        "GANTRY_NAME_SERVERS": name_server,
    }
    import django

    django.setup()
    logging.getLogger("httpx").setLevel(logging.WARNING)


async def _measure(broker: RunningBroker, redis_url: str, gateway: Installation, size: Size) -> list[Row]:
    filled = await scale_cluster.fill(broker, size)
    rows = [
        Row("topics made one by one, among all", filled.one_by_one, "topic/s"),
        Row("topics made 64 at once", filled.at_once, "topic/s"),
    ]
    async with _Sampling.of(broker, redis_url, size) as sampling:
        rows += await sampling.rounds()
        sampling.go_on()
        rows += await _lists(gateway)
        rows += await _frames(gateway, size)
        rows += await _viewers(gateway, sampling)
        rows += await first_paints(gateway)
        return rows + await beside_consoles(gateway, size)


class _Sampling:
    """The sampler of the cluster, in this process; and a trickle of messages into some topics."""

    def __init__(self, broker: RunningBroker, sampler: Any, session: Any, size: Size) -> None:
        self._broker = broker
        self._sampler = sampler
        self._size = size
        self._task: asyncio.Task[None] | None = None
        self.calls = 0
        call = session.call

        async def counted(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            return await call(*arguments, **options)

        session.call = counted

    @classmethod
    @asynccontextmanager
    async def of(cls, broker: RunningBroker, redis_url: str, size: Size) -> AsyncIterator[_Sampling]:
        """Sample until the block ends."""
        from console.clusters.connections import ClusterAddress, Connections
        from console.lag.sampler import ClusterSampler
        from tests.console.lag.figures import InProcess

        async def find(_: str) -> ClusterAddress | None:
            return ClusterAddress("local", (broker.name_server,))

        connections = Connections(find)
        async with redis.asyncio.Redis.from_url(redis_url) as store:
            sampler = ClusterSampler("local", connections, store, InProcess())
            sampling = cls(broker, sampler, await connections.session("local"), size)
            try:
                yield sampling
            finally:
                if sampling._task is not None:
                    sampling._task.cancel()
                    await asyncio.gather(sampling._task, return_exceptions=True)
                await sampler.close()
                await connections.close()

    async def rounds(self) -> list[Row]:
        """Measure rounds, one a second."""
        spent, walls, calls, at_broker = [], [], [], []
        for number in range(ROUNDS):
            await self._trickle()
            before = self.calls, time.process_time(), time.perf_counter(), spent_by(self._process)
            await self._step()
            if number >= SETTLED:
                calls.append(self.calls - before[0])
                spent.append(time.process_time() - before[1])
                walls.append(time.perf_counter() - before[2])
                at_broker.append(spent_by(self._process) - before[3])
            await asyncio.sleep(max(0.0, 1 - (time.perf_counter() - before[2])))
        return [
            Row("sampling round, processor time", statistics.mean(spent) * 1e3, "ms"),
            Row("sampling round, from begin to end, median", statistics.median(walls) * 1e3, "ms"),
            Row("sampling round, processor time of the broker", statistics.mean(at_broker) * 1e3, "ms"),
            Row("calls to the broker in a round", max(calls), "calls"),
        ]

    def go_on(self) -> None:
        """Sample every second in the background."""
        self._task = asyncio.create_task(self._every_second())

    async def _every_second(self) -> None:
        while True:
            await self._trickle()
            await self._step()
            await asyncio.sleep(0.8)

    async def _step(self) -> None:
        await self._sampler.step(time.time_ns() // 1_000_000)

    async def _trickle(self) -> None:
        """Store a message in each topic that moves."""
        names = [topic_name(self._size.behind + number) for number in range(self._size.moving)]
        async with self._broker.session() as session:
            await scale_cluster.store(session, names, 1)

    @property
    def _process(self) -> int:
        assert self._broker.process is not None
        return self._broker.process.pid


async def _lists(gateway: Installation) -> list[Row]:
    asked = {
        "topics": "topics?limit=100",
        "topics sorted by size": "topics?limit=100&sort=-size_bytes",
        "topics searched": "topics?limit=100&search=17",
        "groups": "groups?limit=100",
        "groups sorted by lag": "groups?limit=100&sort=-lag",
        "groups searched": "groups?limit=100&search=17",
    }
    rows = []
    # The sampler has the loop of this process for a fifth of each second: a request from here would wait for it.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for name, path in asked.items():
            before = spent_by(*workers_of(gateway))
            asking = asyncio.get_running_loop().run_in_executor(
                pool, _ask_for, f"{gateway.url}/api/v1/clusters/local/{path}", gateway.tokens["viewer"]
            )
            took = await asking
            spent = (spent_by(*workers_of(gateway)) - before) / REQUESTS * 1e3
            rows.append(Row(f"list of {name}, p95", sorted(took)[int(REQUESTS * 0.95)], "ms"))
            rows.append(Row(f"list of {name}, processor time", spent, "ms"))
    return rows


def _ask_for(address: str, token: str) -> list[float]:
    """Return after how many milliseconds each of some requests was answered, about twenty a second."""
    took = []
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False) as http:
        for _ in range(REQUESTS):
            started = time.perf_counter()
            http.get(address).raise_for_status()
            took.append((time.perf_counter() - started) * 1e3)
            time.sleep(0.05)
    return took


async def _frames(gateway: Installation, size: Size) -> list[Row]:
    names = [topic_name(number) for number in range(ROWS)]
    moving = [topic_name(size.behind + number) for number in range(min(ROWS, size.moving))]
    rows = []
    for name, wanted in (("quiet", names), ("moving", moving)):
        async with socket_of(gateway) as socket:
            await watch(socket, "topics:local", wanted)
            first = len(await asyncio.wait_for(socket.recv(), 20))
            next_ = [len(await asyncio.wait_for(socket.recv(), 20)) for _ in range(4)]
        rows.append(Row(f"first frame of {len(wanted)} {name} topics in view", first, "bytes"))
        rows.append(Row(f"each frame after it, {name} topics", statistics.mean(next_), "bytes"))
    return rows


async def _viewers(gateway: Installation, sampling: _Sampling) -> list[Row]:
    async with AsyncExitStack() as stack:
        sockets = await sockets_of(stack, gateway, VIEWERS)
        for number, socket in enumerate(sockets):
            await watch(socket, "groups:local", [group_name(number % 500 + place) for place in range(ROWS)])
        readers = [asyncio.create_task(drain(socket)) for socket in sockets]
        await asyncio.sleep(3)
        calls, began, spent = sampling.calls, time.perf_counter(), spent_by(*workers_of(gateway))
        await asyncio.sleep(8)
        seconds = time.perf_counter() - began
        rows = [
            Row(f"calls to the broker a second, {VIEWERS:,} viewers", (sampling.calls - calls) / seconds, "calls"),
            Row(
                f"gateway, {VIEWERS:,} viewers, processor time a second",
                (spent_by(*workers_of(gateway)) - spent) / seconds * 1e3,
                "ms",
            ),
        ]
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        return rows
