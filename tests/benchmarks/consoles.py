"""Consoles that watch a gateway: how soon a page is painted, and what a hundred of them cost the data plane."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from multiprocessing import get_context
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect
from websockets.asyncio.client import ClientConnection, connect

from tests.benchmarks.measure import Row
from tests.benchmarks.produce_http import measure, parse
from tests.benchmarks.scale_cluster import Size, topic_name
from tests.browser.chromium import EXECUTABLE, MISSING, chromium
from tests.gateway.installation import PASSWORD, Installation

CONSOLES = 100
ROWS = 50
"""Rows that each console has in view."""
SECONDS = 4
PAIRS = 5
LOADS = 5
_AT_ONCE = 40
_TICKS = os.sysconf("SC_CLK_TCK")
_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


async def beside_consoles(gateway: Installation, size: Size) -> list[Row]:
    """Return the rate of single sends while consoles watch, beside the rate without them, measured in turns.

    The load comes from a process of its own, so that it does not wait for what reads the consoles' frames.
    """
    topic = topic_name(size.topics - 1)
    alone, beside = [], []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        await _send(pool, gateway, topic)  # the process starts, and the topic's writer
        for _ in range(PAIRS):
            alone.append(await _send(pool, gateway, topic))
            async with _watching(gateway):
                beside.append(await _send(pool, gateway, topic))
    costs = [[cost for _, cost in each] for each in (beside, alone)]
    rates = [[rate for rate, _ in each] for each in (beside, alone)]
    name = f"HTTP produce, {CONSOLES} consoles watch"
    return [
        Row(name, statistics.median(rates[0]), "msg/s", "without", statistics.median(rates[1])),
        Row(
            "messages a second of the gateway's own time",
            1 / statistics.median(costs[0]), "msg/s", "without", 1 / statistics.median(costs[1]),
        ),
    ]  # fmt: skip


@asynccontextmanager
async def _watching(gateway: Installation) -> AsyncIterator[None]:
    """Let the consoles watch rows of their own until the block ends; it begins when each shows them."""
    async with AsyncExitStack() as stack:
        sockets = await sockets_of(stack, gateway, CONSOLES)
        for number, socket in enumerate(sockets):
            await watch(socket, "topics:local", [topic_name(number * 10 + place) for place in range(ROWS)])
        for socket in sockets:
            while json.loads(await socket.recv())["type"] != "state":
                pass
        readers = [asyncio.create_task(drain(socket)) for socket in sockets]
        try:
            yield
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)


async def _send(pool: Executor, gateway: Installation, topic: str) -> tuple[float, float]:
    """Return the messages a second, and the processor time of the gateway that one took, in seconds."""
    arguments = ["--url", gateway.url, "--token", gateway.tokens["developer"], "--topic", topic]
    before, started = spent_by(*workers_of(gateway)), time.perf_counter()
    rate = await asyncio.get_running_loop().run_in_executor(pool, _sent, [*arguments, "--seconds", str(SECONDS)])
    took = time.perf_counter() - started
    return rate, (spent_by(*workers_of(gateway)) - before) / (rate * took)


def _sent(arguments: list[str]) -> float:
    return asyncio.run(measure(parse(arguments))).messages_per_second


async def first_paints(gateway: Installation) -> list[Row]:
    """Return after how long a browser with an empty cache paints first, and shows the first row of a list."""
    if EXECUTABLE is None:
        print(f"without a first paint: {MISSING}")
        return []
    return await asyncio.to_thread(_first_paints, gateway)


def _first_paints(gateway: Installation) -> list[Row]:
    with httpx.Client(base_url=gateway.url, trust_env=False) as http:
        http.post("/api/v1/login", json={"username": "admin", "password": PASSWORD}).raise_for_status()
        cookies = [{"name": name, "value": value, "url": gateway.url} for name, value in http.cookies.items()]
    rows = []
    with chromium() as browser:
        for path in ("/", "/topics", "/groups"):
            painted, shown = [], []
            for _ in range(LOADS):
                context = browser.new_context(storage_state=None)
                context.add_cookies(cookies)  # type: ignore[arg-type]
                found = _load(context.new_page(), gateway.url + path)
                painted.append(found[0])
                shown.append(found[1])
                context.close()
            rows.append(Row(f"first paint of {path}, cache empty", statistics.median(painted), "ms"))
            rows.append(Row(f"{path} has read what it shows", statistics.median(shown), "ms"))
    return rows


def _load(page: Page, address: str) -> tuple[float, float]:
    """Return after how many milliseconds the page painted first, and had nothing left to wait for."""
    page.goto(address, wait_until="commit")
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("main").locator("[aria-busy=true]")).to_have_count(0)
    shown = page.evaluate("performance.now()")
    return page.evaluate(_PAINTED), shown


async def sockets_of(stack: AsyncExitStack, gateway: Installation, count: int) -> list[ClientConnection]:
    """Open this many sockets for the events of a gateway; they are closed with the stack."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def one() -> ClientConnection:
        async with places:
            return await stack.enter_async_context(socket_of(gateway))

    return await asyncio.gather(*(one() for _ in range(count)))


@asynccontextmanager
async def socket_of(gateway: Installation) -> AsyncIterator[ClientConnection]:
    """Open a socket for the events of a gateway until the block ends."""
    headers = {"Authorization": f"Bearer {gateway.tokens['viewer']}"}
    async with connect(f"{gateway.sockets}/events", additional_headers=headers, proxy=None, max_size=None) as socket:
        await asyncio.wait_for(socket.recv(), 20)
        yield socket


async def watch(socket: ClientConnection, subject: str, rows: Iterable[str]) -> None:
    """Ask for these rows of a subject."""
    await socket.send(json.dumps({"type": "subscribe", "subjects": [subject], "rows": {subject: list(rows)}}))


async def drain(socket: ClientConnection) -> None:
    """Read whatever comes."""
    async for _ in socket:
        pass


def workers_of(gateway: Installation) -> list[int]:
    """Return the ids of a gateway's processes."""
    pid = gateway.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *map(int, children)]


def spent_by(*processes: int) -> float:
    """Return the processor time of processes so far, in seconds."""
    total = 0.0
    for pid in processes:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / _TICKS
    return total
