"""HTTP through the gateway of a whole Gantry: produce, lease and acknowledge; nsqd beside it if there is Go."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import uvloop

from gateway.up.config import usual_workers
from tests.benchmarks.lease_http import Target, drain
from tests.benchmarks.measure import Row
from tests.benchmarks.nsqd import NotBuilt, messages_per_second, running_nsqd
from tests.benchmarks.produce_http import measure, parse
from tests.support.gantry import Gantry, Place

SECONDS = 4
LEASES = 40_000
# Messages of a request, connections, bytes of each message.
SHAPES = ((1, 64, 100), (1, 64, 1024), (100, 8, 100), (100, 8, 1024))
_PARTS = {"gateway": b"gateway.serve", "broker": b"broker_core"}
UNLIMITED = {
    "GANTRY_WORKERS": str(usual_workers()),
    "GANTRY_RATE_PRODUCE": "10000000",
    "GANTRY_RATE_CONSUME": "10000000",
    "GANTRY_LEASES_PER_CALLER": "1000000",
}


def run() -> list[Row]:
    """Return the rates of each shape beside nsqd's, with the processor time of a request, and the rate of leases."""
    beside = _nsqd()
    with tempfile.TemporaryDirectory() as folder, Place.free(Path(folder) / "data").started(**UNLIMITED) as gantry:
        with gantry.client() as http:
            for topic in ("benchmark", "leases"):
                http.post("/clusters/local/topics", json={"name": topic, "read_queues": 4, "write_queues": 4})
        rows = [row for shape in SHAPES for row in _produced(gantry, shape, beside.get(shape, 0.0))]
        return [*rows, Row("HTTP receive 32 by lease and acknowledge", _leases(gantry), "msg/s")]


def _produced(gantry: Gantry, shape: tuple[int, int, int], beside: float) -> list[Row]:
    batch, connections, size = shape
    arguments = ["--batch", str(batch), "--connections", str(connections), "--size", str(size)]
    name = f"HTTP produce, {batch} x {size} B a request"
    per_second, cost = _produce(gantry, *arguments)
    return [
        Row(name, per_second, "msg/s", "nsqd", beside),
        *(Row(f"{name}: {who}", us, "us") for who, us in cost.items()),
    ]


def _produce(gantry: Gantry, *arguments: str) -> tuple[float, dict[str, float]]:
    """Return messages a second, and the processor time that a request cost gateway and broker."""
    common = ["--url", gantry.url, "--token", gantry.token, "--seconds", str(SECONDS), *arguments]
    uvloop.run(measure(parse([*common, "--seconds", "1"])))
    before = _processor_us(gantry)
    result = uvloop.run(measure(parse(common)))
    spent = {who: us - before[who] for who, us in _processor_us(gantry).items()}
    print(f"  {' '.join(arguments)}: {result.text}")
    return result.messages_per_second, {who: us / result.requests for who, us in spent.items()}


def _processor_us(gantry: Gantry) -> dict[str, float]:
    """Return the processor time of gateway and broker so far, each with its child processes."""
    found = dict.fromkeys(_PARTS, 0.0)
    for child in _children(gantry.process.pid):
        command = Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        for who, module in _PARTS.items():
            if module in command:
                found[who] += sum(_us(each) for each in (child, *_children(child)))
    return found


def _children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(each) for task in tasks for each in task.read_text(encoding="ascii").split()]


def _us(process: int) -> float:
    times = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    return sum(map(int, times[11:13])) / os.sysconf("SC_CLK_TCK") * 1e6


def _nsqd() -> dict[tuple[int, int, int], float]:
    """Return nsqd's rates by shape; empty, with a line that says why, if it cannot be built."""
    try:
        with running_nsqd() as address:
            return {
                (batch, connections, size): messages_per_second(
                    address, size=size, batch=batch, connections=connections, seconds=SECONDS
                )
                for batch, connections, size in SHAPES
            }
    except NotBuilt as reason:
        print(f"  nsqd is left out: {reason}")
        return {}


def _leases(gantry: Gantry) -> float:
    """Fill a topic, then lease and acknowledge all of it."""
    message = {"keys": ["A17"], "body": {"encoding": "json", "data": {"id": "A17"}}}
    with gantry.client() as http:
        for _ in range(LEASES // 1000):
            http.post("/clusters/local/topics/leases/messages", json={"messages": [message] * 1000}).raise_for_status()
    before, client = _processor_us(gantry), time.process_time()
    rate = uvloop.run(drain(Target(gantry.url, gantry.token, "leases", "bench"), 16))
    spent = {who: us - before[who] for who, us in _processor_us(gantry).items()}
    spent["client"] = (time.process_time() - client) * 1e6
    print(f"  receive and acknowledge: {rate:,.0f} msg/s, {_in_words(spent, LEASES)}")
    return rate


def _in_words(spent: dict[str, float], messages: int) -> str:
    return ", ".join(f"{who} {us / messages:.1f}" for who, us in spent.items()) + " us of processor time a message"
