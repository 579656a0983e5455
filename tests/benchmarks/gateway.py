"""HTTP through one gateway process of a whole Gantry: produce one, produce many, receive by lease and acknowledge."""

from __future__ import annotations

import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import uvloop

from tests.benchmarks.measure import Row
from tests.benchmarks.produce_http import measure, parse
from tests.support.gantry import Gantry, Place

SECONDS = 5
LEASES = 4_000
WORKERS = 4


def run() -> list[Row]:
    """Return the rates of the three."""
    with tempfile.TemporaryDirectory() as folder, Place.free(Path(folder) / "data").started() as gantry:
        with gantry.client() as http:
            for topic in ("benchmark", "leases"):
                http.post("/clusters/local/topics", json={"name": topic, "read_queues": 4, "write_queues": 4})
        single = _produce(gantry, "--connections", "64")
        batch = _produce(gantry, "--connections", "8", "--batch", "100")
        leased = _leases(gantry)
    return [
        Row("HTTP produce, one message a request", single, "msg/s"),
        Row("HTTP produce, 100 messages a request", batch, "msg/s", "one a request", single),
        Row("HTTP receive 32 by lease and acknowledge", leased, "msg/s", "produce one a request", single),
    ]


def _produce(gantry: Gantry, *arguments: str) -> float:
    common = ["--url", gantry.url, "--token", gantry.token, "--seconds", str(SECONDS), *arguments]
    uvloop.run(measure(parse([*common, "--seconds", "1"])))
    result = uvloop.run(measure(parse(common)))
    print(f"  {' '.join(arguments)}: {result.text}")
    return result.messages_per_second


def _leases(gantry: Gantry) -> float:
    """Fill a topic, then take and acknowledge all of it by several workers."""
    message = {"keys": ["A17"], "body": {"encoding": "json", "data": {"id": "A17"}}}
    with gantry.client() as http:
        for _ in range(LEASES // 100):
            http.post("/clusters/local/topics/leases/messages", json={"messages": [message] * 100}).raise_for_status()
    started = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as workers:
        taken = sum(workers.map(lambda _: _drain(gantry), range(WORKERS)))
    return taken / (time.perf_counter() - started)


def _drain(gantry: Gantry) -> int:
    path = "/clusters/local/groups/bench/topics/leases"
    taken = 0
    with gantry.client() as http:
        while True:
            messages = _received(http, path)
            if not messages:
                return taken
            taken += len(messages)
            http.post(f"{path}:ack", json={"receipts": messages}).raise_for_status()


def _received(http: httpx.Client, path: str) -> list[str]:
    answer = http.post(f"{path}:receive", json={"max_messages": 32, "wait_ms": 0, "lease_ms": 30_000})
    answer.raise_for_status()
    return [message["receipt"] for message in answer.json()["messages"]]
