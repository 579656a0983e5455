"""How long a replay takes until its first messages: in a new process and in a kept one, and where that time goes.

``python -m tests.benchmarks.spark_start``: each round starts a driver for one job (cold), and gives it two more (warm).
The phases are those of the best round, each with its part of the whole.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker_core.client.blocking import BlockingSession
from tests.benchmarks.measure import Duration
from tests.support.cluster import ROOT, RunningBroker, started_broker
from tests.support.programs import Program, kill
from tests.support.replays import fill_topic, make_topic
from tests.support.topics import orders

ROUNDS = 3
WARM_JOBS = 2
MESSAGES = 1000
WHOLE = "until the first messages"


@contextmanager
def driver(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a driver."""
    folder.mkdir()
    command = [sys.executable, "-m", "broker_core.spark.programs.driver", str(folder)]
    with (folder.parent / "drivers.log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
    try:
        yield process
    finally:
        kill(process)


def replay(process: subprocess.Popen[bytes], program: Program, target: str) -> dict[str, float]:
    """Give a driver a replay; return the seconds of its phases."""
    program.write({"source": {"topic": "orders"}, "target": {"topic": target}})
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"kind": "replay", "folder": str(program.folder)}).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert answer["status"] == 0, program.log
    phases: dict[str, float] = program.read("result.json")["phases"]
    return phases


def rounds(folder: Path, broker: RunningBroker) -> tuple[list[dict[str, float]], list[dict[str, float]]]:
    """Return the phases of the cold jobs and of the warm ones."""
    place = {"store": str(broker.store), "broker": "broker-a", "name_servers": [broker.name_server]}
    cold: list[dict[str, float]] = []
    warm: list[dict[str, float]] = []
    with BlockingSession(broker.config) as session:
        make_topic(session, "orders")
        fill_topic(session, "orders", orders(MESSAGES))
        for number in range(ROUNDS):
            with driver(folder / f"driver-{number}") as process:
                for job in range(1 + WARM_JOBS):
                    name = f"copy-{number}-{job}"
                    make_topic(session, name)
                    program = Program(folder / name, "replay", place, folder / "cache")
                    (warm if job else cold).append(replay(process, program, name))
    return cold, warm


def run() -> list[Duration]:
    """Return the seconds until the first messages, and those of the phases of a cold start."""
    with tempfile.TemporaryDirectory() as name, started_broker(Path(name) / "broker") as broker:
        cold, warm = rounds(Path(name), broker)
    best = min(cold, key=lambda phases: phases[WHOLE])
    whole, again = best[WHOLE], min(phases[WHOLE] for phases in warm)
    rows = [
        Duration("replay, first messages, cold", whole),
        Duration("replay, first messages, warm", again, "cold", whole),
    ]
    until = {name: seconds for name, seconds in best.items() if name not in (WHOLE, "copying")}
    until["first task"] = whole - sum(until.values())
    rows += [Duration(f"  cold: {name}", seconds, "the whole", whole) for name, seconds in until.items()]
    return rows


if __name__ == "__main__":
    for row in run():
        print(row.text())
