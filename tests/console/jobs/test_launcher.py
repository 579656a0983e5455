"""Running a job: a real program as a child, whose end becomes the state of the job."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from console.jobs import launcher, services, tasks
from console.jobs.launcher import started_at
from console.jobs.models import Job, JobState


def test_a_program_that_finds_no_store_fails_the_job_and_says_so(job: Job, place: Path) -> None:
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.exit_code, job.attempt) == (JobState.FAILED, 4, 1)
    assert f"store {place / 'broker'}" in (job.state_reason or "")
    request = place / "jobs" / job.id / "request.json"
    assert request.stat().st_mode & 0o777 == 0o600
    assert json.loads(request.read_text())["source"]["store"] == str(place / "broker")


def test_a_job_that_somebody_else_has_is_left_alone(job: Job) -> None:
    services.claim(job.id, worker="other", host="h")
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.worker) == (JobState.RUNNING, "other")


def test_a_worker_that_stops_leaves_its_job_to_the_next_one(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "claim", _claim_then_stop)
    try:
        launcher.run(job.id, worker="w")
    finally:
        launcher.stopping.clear()
    job.refresh_from_db()
    assert (job.state, job.attempt) == (JobState.QUEUED, 1)


_claim = services.claim


def _claim_then_stop(job_id: str, *, worker: str, host: str) -> Job | None:
    job = _claim(job_id, worker=worker, host=host)
    launcher.stopping.set()
    return job


def test_the_program_of_a_lost_worker_is_ended_and_its_job_failed(job: Job) -> None:
    # Given a run whose launcher is gone while its program goes on
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    mine = services.claim(job.id, worker="w", host=socket.gethostname())
    assert mine is not None
    Job.objects.filter(pk=job.pk).update(pid=child.pid, pid_started=started_at(child.pid), lease_until=None)
    # When the reaper comes by
    tasks.reap()
    # Then the program is gone
    assert child.wait(10) == -9
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (JobState.FAILED, "its worker was lost; what was written before stays")


def test_a_process_that_only_has_the_same_number_is_not_ended(job: Job) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    job.pid, job.pid_started, job.host = child.pid, 1, socket.gethostname()
    assert not launcher.end_orphan(job)
    assert child.poll() is None
    child.kill()
    child.wait()
