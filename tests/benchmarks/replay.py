"""A replay of messages of 1 KiB, beside a client that sends as large batches of the same messages without reading any.

``python -m tests.benchmarks.replay [messages]``: both go to one broker on this machine, in turn. A ratio of 1 would
mean that reading, copying and reporting cost nothing. The whole job, with its process and the start of Spark, is a row
of its own: a million messages are to take at most 20 s on two idle cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from tests.benchmarks.measure import Row
from tests.support.cluster import RunningBroker, started_broker
from tests.support.programs import Program
from tests.support.replays import fill_topic, make_topic

MESSAGES = 200_000
ROUNDS = 3
BATCH = 256
QUEUES = 4
SENDERS = 2
_names = count(1)


def messages_of(count: int) -> list[Message]:
    """Return messages of 1 KiB with a key, a tag and a property."""
    body = b'{"order":1,"text":"'.ljust(1022, b"x") + b'"}'
    return [
        Message.create("t", body, keys=[f"o-{n:08d}"], tag="A", properties={"source": "shop"}) for n in range(count)
    ]


def replay(running: RunningBroker, session: BlockingSession, folder: Path, cache: Path) -> tuple[float, float]:
    """Copy the topic `source` into a new one; return the seconds of the whole job, and of its copying alone."""
    target = f"copy-{next(_names)}"
    make_topic(session, target, queues=QUEUES)
    place = {
        "store": str(running.data / "broker"), "broker": running.broker_name, "name_servers": [running.name_server]
    }  # fmt: skip
    program = Program(folder / target, "replay", place, cache)
    started = time.perf_counter()
    status = program.run({"source": {"topic": "source"}, "target": {"topic": target}})
    whole = time.perf_counter() - started
    if status:
        raise subprocess.CalledProcessError(status, "replay", program.log)
    phases = json.loads((program.folder / "result.json").read_text())["phases"]
    return whole, float(phases["copying"])


def send(running: RunningBroker, session: BlockingSession, messages: Sequence[Message]) -> float:
    """Send the messages to a new topic from `SENDERS` threads; return the seconds."""
    target = f"sent-{next(_names)}"
    make_topic(session, target, queues=QUEUES)

    def send_part(number: int) -> None:
        with BlockingSession(running.config) as mine:
            fill_topic(mine, target, messages[number::SENDERS], per_batch=BATCH)

    started = time.perf_counter()
    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(send_part, range(SENDERS)))
    return time.perf_counter() - started


def run(messages: int = MESSAGES) -> list[Row]:
    """Return the rates of copying and of the whole job; the best of the rounds."""
    with tempfile.TemporaryDirectory() as name, started_broker(Path(name) / "broker") as running:
        folder, given = Path(name), messages_of(messages)
        with BlockingSession(running.config) as session:
            make_topic(session, "source", queues=QUEUES)
            fill_topic(session, "source", given, per_batch=BATCH)
            rounds = [
                (*replay(running, session, folder, folder / "cache"), send(running, session, given))
                for _ in range(ROUNDS)
            ]
    whole, copying, sending = (min(seconds) for seconds in zip(*rounds, strict=True))
    beside = f"batches of {BATCH} that are only sent"
    return [
        Row("replay, 1 KiB, after its start", messages / copying, "msg/s", beside, messages / sending),
        Row(f"replay, {messages:,} of 1 KiB, the whole job", messages / whole, "msg/s"),
    ]


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES):
        print(row.text())
