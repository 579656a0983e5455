"""How long a job may work, and what becomes of one that works longer."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from console.audit.models import AuditRecord
from console.audit.record import Actor
from console.jobs import control, launcher, program, services, tasks
from console.jobs.models import LEASE, Job, JobState, StateCode
from tests.console.jobs.conftest import REPLAY
from tests.support.cast import Cast

ANN = Actor("ann")
LIMITED = {**REPLAY, "limits": {"max_minutes": 1}}
CHECK: dict[str, Any] = {"type": "reconcile", "check": "store"}
_SLEEPS = "import time; time.sleep(60)"


def playing(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Use this Python code as the program of every job."""
    monkeypatch.setattr(program, "command", lambda kind, folder: [sys.executable, "-c", script])


def worked(job: Job, ms: int) -> None:
    """Let the job have worked for so long."""
    Job.objects.filter(pk=job.pk).update(worked_ms=ms)


@pytest.mark.parametrize(
    "script", [_SLEEPS, f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {_SLEEPS}"]
)
def test_a_job_that_works_longer_fails_and_is_not_tried_again_by_itself(
    monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    playing(monkeypatch, script)
    job = services.create(ANN, LIMITED)
    worked(job, 59_900)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_code, job.next_try_at) == (JobState.FAILED, StateCode.TIME_LIMIT, None)
    assert job.state_reason == "it was stopped after 1 minute (limits.max_minutes)"
    assert 60_000 <= job.worked_ms < 63_000
    # A retry has all of the time again
    services.retry(ANN, job)
    job.refresh_from_db()
    assert (job.state, job.worked_ms) == (JobState.QUEUED, 0)


def test_the_server_has_a_limit_of_its_own(settings: Settings, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(monkeypatch, _SLEEPS)
    settings.GANTRY_JOBS_MINUTES = 2
    longer = services.create(ANN, {**REPLAY, "limits": {"max_minutes": 3}})
    for job in (services.create(ANN, REPLAY), longer):
        worked(job, 119_900)
        launcher.run(job.id, worker="w")
        job.refresh_from_db()
        assert job.state_code == StateCode.TIME_LIMIT
        assert "after 2 minutes (GANTRY_JOBS_MINUTES)" in (job.state_reason or "")
        assert cast.browser("viewer").get(f"/api/v1/jobs/{job.id}").json()["max_minutes"] == 2
    answer: Any = cast.browser("admin").post("/api/v1/jobs", {**CHECK, "limits": {"max_minutes": 3}}, format="json")
    [fault] = answer.json()["errors"]
    assert (answer.status_code, fault["pointer"]) == (422, "#/limits/max_minutes")
    assert "at most 2 minutes" in fault["detail"]


def test_a_job_that_ended_in_time_keeps_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ends_with_3 = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))"
    playing(monkeypatch, f"{ends_with_3}; open('ready', 'w').close(); {_SLEEPS}")
    job = services.create(ANN, {**CHECK, "cluster": "local", "limits": {"max_minutes": 1}})
    looking = launcher._JobRun._check_and_renew

    def let_time_pass(run: launcher._JobRun) -> None:
        if (job.folder / "ready").exists():
            run._stopwatch._earlier_ms = 60_000
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", let_time_pass)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert (job.state, job.state_code) == (JobState.PARTIAL, StateCode.STORE_FAULTS)


def test_the_minutes_of_a_job_are_changed_while_it_works(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """`PATCH /jobs/{id}` changes the minutes of every type of job; its request stays."""
    playing(monkeypatch, _SLEEPS)
    job = services.create(ANN, {**CHECK, "cluster": "local", "limits": {"max_minutes": 90}})
    path, asked = f"/api/v1/jobs/{job.id}", job.request
    looking = launcher._JobRun._check_and_renew

    def shorten(run: launcher._JobRun) -> None:
        if not Job.objects.get(pk=job.pk).limits:
            control.change_limits(ANN, job, {"max_minutes": 1})
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", shorten)
    worked(job, 60_000)
    launcher.run(job.id, worker="w")
    admin: Any = cast.browser("admin")
    ended = admin.get(path).json()
    assert (ended["state_code"], ended["max_minutes"], ended["request"]) == ("time_limit", 1, asked)
    assert ended["state_reason"] == "it was stopped after 1 minute (limits.max_minutes)"
    found = AuditRecord.objects.get(action="reconcile.limits")
    assert (found.before, found.after) == ({"max_minutes": 90}, {"max_minutes": 1})
    assert admin.patch(path, {"limits": {"max_minutes": 5}}, format="json").status_code == 409
    # The retried job keeps what was changed, and null takes its limit away
    services.retry(ANN, job)
    assert admin.get(path).json()["max_minutes"] == 1
    assert admin.patch(path, {"limits": {"max_minutes": None}}, format="json").json()["max_minutes"] is None


def test_pauses_and_waits_do_not_count_but_earlier_runs_do(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(monkeypatch, "import time; time.sleep(0.5); raise SystemExit(75)")
    job = services.create(ANN, {**CHECK, "cluster": "local", "limits": {"max_minutes": 1}})
    looking = launcher._JobRun._check_and_renew

    def pause(run: launcher._JobRun) -> None:
        Job.objects.filter(pk=job.pk).update(pause_requested=True)
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", pause)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    first = job.worked_ms
    assert (job.state, first >= 500) == (JobState.PAUSED, True)
    assert cast.browser("viewer").get(f"/api/v1/jobs/{job.id}").json()["worked_ms"] == first
    # After a pause of any length it goes on from there, also after a worker that stopped
    control.resume(ANN, job)
    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", looking)
    launcher.run(job.id, worker="w")
    job.refresh_from_db()
    assert first + 500 <= job.worked_ms < first + 5_000


def test_a_run_whose_worker_was_lost_counts_up_to_when_it_was_last_heard() -> None:
    job = services.create(ANN, LIMITED)
    worked(job, 10_000)
    claimed = services.claim(job.id, worker="w", host="h")
    assert claimed is not None
    ago = timezone.now() - timedelta(hours=1)
    Job.objects.filter(pk=job.pk).update(started_at=ago, lease_until=ago + timedelta(seconds=20) + LEASE)
    tasks.reap()
    job.refresh_from_db()
    assert (job.state_code, job.worked_ms) == (StateCode.WORKER_LOST, 30_000)


@pytest.mark.parametrize(
    "request_",
    [
        {**CHECK, "limits": {"messages_per_second": 5}},
        {"type": "reconcile", "left": {"topic": "a"}, "right": {"topic": "b"}, "limits": {"messages_per_second": 5}},
        {"type": "export", "source": {"topic": "a"}, "format": "csv", "limits": {"messages_per_second": 5}},
        {**REPLAY, "target": {"kind": "parquet"}, "limits": {"messages_per_second": 5, "max_minutes": 5}},
    ],
)
def test_every_type_of_job_takes_minutes_and_only_some_a_rate(cast: Cast, request_: dict[str, Any]) -> None:
    answer: Any = cast.browser("admin").post("/api/v1/jobs", request_, format="json")
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["#/limits/messages_per_second"]
