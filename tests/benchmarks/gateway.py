"""HTTP through the gateway of a whole Gantry: produce, lease and acknowledge; nsqd beside it if there is Go."""

from __future__ import annotations

import tempfile
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
UNLIMITED = {
    "GANTRY_WORKERS": str(usual_workers()),
    "GANTRY_RATE_PRODUCE": "10000000",
    "GANTRY_RATE_CONSUME": "10000000",
    "GANTRY_LEASES_PER_CALLER": "1000000",
}


def run() -> list[Row]:
    """Return the rates of each shape beside nsqd's, and that of leases."""
    beside = _nsqd()
    with tempfile.TemporaryDirectory() as folder, Place.free(Path(folder) / "data").started(**UNLIMITED) as gantry:
        with gantry.client() as http:
            for topic in ("benchmark", "leases"):
                http.post("/clusters/local/topics", json={"name": topic, "read_queues": 4, "write_queues": 4})
        rows = [_produced(gantry, shape, beside.get(shape, 0.0)) for shape in SHAPES]
        return [*rows, Row("HTTP receive 32 by lease and acknowledge", _leases(gantry), "msg/s")]


def _produced(gantry: Gantry, shape: tuple[int, int, int], beside: float) -> Row:
    batch, connections, size = shape
    arguments = ["--batch", str(batch), "--connections", str(connections), "--size", str(size)]
    return Row(f"HTTP produce, {batch} x {size} B a request", _produce(gantry, *arguments), "msg/s", "nsqd", beside)


def _produce(gantry: Gantry, *arguments: str) -> float:
    common = ["--url", gantry.url, "--token", gantry.token, "--seconds", str(SECONDS), *arguments]
    uvloop.run(measure(parse([*common, "--seconds", "1"])))
    result = uvloop.run(measure(parse(common)))
    print(f"  {' '.join(arguments)}: {result.text}")
    return result.messages_per_second


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
    return uvloop.run(drain(Target(gantry.url, gantry.token, "leases", "bench"), 16))
