"""What the pages hear of a job while it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from console.jobs import launcher, program
from console.jobs.models import Job
from console.live import JOBS

PROGRAM = """
import json, time
line = {"counters": {"planned": 100, "read": 40, "written": 40, "bytes": 4096}, "rate": 20.0, "eta_ms": 3000}
print("it begins", flush=True)
time.sleep(1.3)
print("it goes on", flush=True)
time.sleep(1.3)
open("progress.jsonl", "w").write(json.dumps(line) + "\\n")
time.sleep(0.5)
"""


def test_pages_hear_of_messages_rate_time_left_bytes_and_the_growth_of_the_log(
    job: Job, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a program that only logs at first
    heard: list[tuple[str, Any]] = []

    def command(_kind: str, _folder: Path) -> Sequence[str]:
        return [sys.executable, "-c", PROGRAM]

    def own(kind: str, folder: Path, request: Any) -> program.Running:
        return program.start(kind, folder, request)

    monkeypatch.setattr(program, "command", command)
    monkeypatch.setattr("console.jobs.drivers.start", own)
    monkeypatch.setattr("console.live.publish_sync", lambda subject, data: heard.append((subject, data)))
    # When it runs
    launcher.run(job.id, worker="w")
    # Then the page of the job heard that the log grew, and then of the messages
    frames = [data for subject, data in heard if subject == f"job:{job.id}"]
    sizes = [frame.log_bytes for frame in frames if frame.counters.read == 0]
    assert {10, 21} <= set(sizes), sizes
    [whole] = [frame for frame in frames if frame.rate is not None]
    assert (whole.counters.planned, whole.counters.written, whole.counters.bytes) == (100, 40, 4096)
    # And so did the list
    assert {
        "changed": job.id, "state": "running", "rate": 20.0, "eta_ms": 3000,
        "counters": {**dict.fromkeys(("filtered", "damaged", "matched", "failed", "skipped", "unknown"), 0),
                     "planned": 100, "read": 40, "written": 40, "bytes": 4096},
    } in [data for subject, data in heard if subject == JOBS]  # fmt: skip
