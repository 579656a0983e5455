"""A replay whose JVM is killed: it continues automatically and copies each message once.

tests/crash/test_job_kills.py kills its driver, and all else that it needs.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from broker_core.client.blocking import BlockingSession
from console.audit.record import Actor
from console.jobs import launcher, program, services
from console.jobs.models import JobState
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.topics import orders
from tests.support.wait import wait_until

pytestmark = pytest.mark.spark
PATIENCE = 240.0


def written(folder: Path) -> int:
    try:
        lines = (folder / "progress.jsonl").read_bytes().splitlines()
    except FileNotFoundError:
        return 0
    return int(orjson.loads(lines[-1])["counters"]["written"]) if lines else 0


def java_of(leader: int) -> int:
    """Return the JVM that a program started."""
    children = (path.parent for path in Path("/proc").glob("[0-9]*/stat"))
    for each in children:
        fields = (each / "stat").read_text().rpartition(")")[2].split()
        if int(fields[3]) == leader and b"java" in (each / "cmdline").read_bytes().partition(b"\0")[0]:
            return int(each.name)
    raise AssertionError("no JVM")


def test_a_replay_whose_jvm_is_killed_copies_each_message_once(
    embedded: BlockingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topic(embedded, "killed")
    make_topic(embedded, "killed-copy")
    fill_topic(embedded, "killed", orders(3000))
    request: dict[str, Any] = {
        "type": "replay", "cluster": "local", "source": {"topic": "killed"}, "target": {"topic": "killed-copy"},
        "limits": {"messages_per_second": 400},
    }  # fmt: skip
    job = services.create(Actor("ann"), request)
    folder = services.folder_of(job)
    starting = program.start

    def start(*args: Any) -> program.Running:
        child = starting(*args)
        if not job.retries:
            threading.Thread(target=kill_java, args=(child.pid,)).start()
        return child

    def kill_java(leader: int) -> None:
        wait_until(lambda: written(folder) >= 1000, within=PATIENCE)
        os.kill(java_of(leader), signal.SIGKILL)

    monkeypatch.setattr(program, "start", start)
    monkeypatch.setattr(services, "WAITS", (timedelta(0),))
    seen = []
    for _ in range(2):
        launcher.run(job.id, worker="w")
        job.refresh_from_db()
        seen.append((job.state, job.state_reason))
    # Then its death was reported, and the second run finished
    assert [state for state, _ in seen] == [JobState.QUEUED, JobState.SUCCEEDED], seen
    assert str(seen[0][1]).startswith("attempt 2 of 4, starts at ")
    assert str(seen[0][1]).endswith(
        "; the last one ended because Spark's Java process has ended; it was killed, or the machine ran out of memory"
    )
    copies = Counter(each.body for queue in read_topic(embedded, "killed-copy").values() for each in queue)
    assert len(copies) == 3000
    assert set(copies.values()) == {1}
    assert job.counters["written"] == 3000
    # And its result says where the time went until then
    assert job.result is not None
    phases = job.result["phases"]
    assert list(phases) == [
        "waiting for a worker", "starting Python", "planning", "starting Spark", "copying", "until the first messages"
    ]  # fmt: skip
    assert sum(list(phases.values())[:4]) < phases["until the first messages"] < sum(list(phases.values())[:5]) + 1
