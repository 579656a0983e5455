"""The whole run of a job, read from the files that its program writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from console.jobs.history import MOST_SAMPLES, QueueProgress, history_of
from console.jobs.models import Job
from tests.support.cast import Cast

PLAN = {
    "request_hash": "x",
    "lanes": [
        {
            "number": 0, "kind": "files", "wanted": None, "target": {}, "target_begin": 0,
            "source": {"broker": "a", "topic": "orders", "queue_id": 3, "begin": 100, "end": 400, "store": "/x"},
            "chunks": [[0, 100, 200], [1, 200, 300], [2, 300, 400]],
        }
    ],
}  # fmt: skip


def _progress(second: int, **counters: int) -> str:
    return json.dumps(
        {"seq": second, "at": f"2026-05-01T00:{second // 60:02}:{second % 60:02}.000Z", "counters": counters}
    )


def test_a_job_that_has_not_begun_has_no_history(tmp_path: Path) -> None:
    found = history_of(tmp_path)
    assert (found.samples, found.queues, found.saved_at) == ([], [], None)


def test_a_long_run_is_thinned_and_keeps_its_last_moment(tmp_path: Path) -> None:
    lines = [_progress(second, read=second, written=second // 2) for second in range(3 * MOST_SAMPLES + 1)]
    (tmp_path / "progress.jsonl").write_text("\n".join(lines) + '\n{"at":"cut')
    samples = history_of(tmp_path).samples
    assert MOST_SAMPLES / 2 < len(samples) <= MOST_SAMPLES
    assert (samples[-1].read, samples[-1].written) == (3 * MOST_SAMPLES, 3 * MOST_SAMPLES // 2)


def test_a_queue_is_as_far_as_its_first_chunk_that_has_not_ended(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    lines = [
        {"chunk": 0, "lane": 0, "next": 150, "written": 50, "target": 1},
        {"chunk": 0, "lane": 0, "next": 200, "written": 99, "target": 1, "state": "done", "failed": 1},
        {"chunk": 1, "lane": 0, "next": 240, "written": 40, "target": 1},
        {"chunk": 1, "lane": 0, "next": 220, "written": 20, "target": 1},
    ]
    (tmp_path / "checkpoint.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert history_of(tmp_path).queues == [
        QueueProgress(broker="a", queue_id=3, begin=100, end=400, next=240, written=139)
    ]


def test_the_history_of_a_job_is_served(cast: Cast, job: Job, place: Path) -> None:
    folder = place / "jobs" / job.id
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps(PLAN))
    (folder / "progress.jsonl").write_text(_progress(7, read=5, written=4, planned=9) + "\n")
    viewer: Any = cast.browser("viewer")
    assert viewer.get(f"/api/v1/jobs/{job.id}/progress").json() == {
        "samples": [{"at": "2026-05-01T00:00:07.000Z", "read": 5, "written": 4}],
        "queues": [{"broker": "a", "queue_id": 3, "from": 100, "to": 400, "next": 100, "written": 0}],
        "saved_at": None,
    }
