"""Pausing, resuming and changing the rate of a job."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.audit.record import Actor
from console.jobs import control, launcher, program, services
from console.jobs.errors import JobInOtherState
from console.jobs.models import Job, JobState
from tests.support.cast import Cast

ANN = Actor("ann")
Claim = Callable[[Job], Job]
# It does what its control file says, and notes each rate that it is told.
OBEDIENT = """
import json, time
told = []
for _ in range(1000):
    try:
        now = json.load(open("control.json"))
    except FileNotFoundError:
        now = {"pause": False}
    if now.get("messages_per_second") not in (None, *told):
        told.append(now["messages_per_second"])
        json.dump(told, open("told", "w"))
    if now["pause"]:
        raise SystemExit(75)
    if told == [7]:
        open("ready", "w")
    time.sleep(0.02)
"""

# It tells that it has read nothing and then one message, and does not look at its control file.
DEAF = """
import json, os, time
for read in (0, 1):
    with open("progress.jsonl", "a") as file:
        file.write(json.dumps({"counters": {"read": read}}) + "\\n")
    while not read and not os.path.exists("go"):
        time.sleep(0.01)
time.sleep(600)
"""


def playing(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(program, "command", lambda kind, folder: [sys.executable, "-c", script])


def at_each_look(monkeypatch: pytest.MonkeyPatch, act: Callable[[launcher._JobRun], object]) -> None:
    """Let a user act while the launcher watches the program."""
    looking = launcher._JobRun._check_and_renew

    def look(run: launcher._JobRun) -> None:
        act(run)
        looking(run)

    monkeypatch.setattr(launcher._JobRun, "_check_and_renew", look)


def row(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def test_a_queued_job_is_paused_at_once_and_resumed(job: Job, claimed: Claim) -> None:
    paused = control.pause(ANN, job)
    assert (paused.state, paused.state_reason, paused.state_code) == (JobState.PAUSED, "paused by ann", "paused")
    assert services.claim(job.id, worker="w", host="h") is None
    resumed = control.resume(ANN, job)
    assert (resumed.state, resumed.state_reason, resumed.state_code) == (JobState.QUEUED, None, None)
    assert claimed(job).attempt == 1
    assert [each.action for each in AuditRecord.objects.order_by("pk")][-2:] == ["replay.pause", "replay.resume"]


def test_a_paused_job_is_cancelled_at_once(job: Job) -> None:
    control.pause(ANN, job)
    cancelled = services.cancel(ANN, job)
    assert (cancelled.state, cancelled.finished_at is None) == (JobState.CANCELLED, False)


def test_a_running_job_takes_a_new_rate_and_is_paused_by_its_program(
    job: Job, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a program that runs
    playing(monkeypatch, OBEDIENT)
    folder = place / "jobs" / job.id

    def act(run: launcher._JobRun) -> None:
        now = row(job)
        if not now.limits:
            control.change_limits(ANN, now, {"messages_per_second": 7})
        elif (folder / "ready").exists() and not now.pause_requested:
            control.pause(ANN, now)

    at_each_look(monkeypatch, act)
    launcher.run(job.id, worker="w")
    # Then it was told the rate, ended, and holds no process and no place
    paused = row(job)
    assert json.loads((folder / "told").read_text()) == [7]
    assert (paused.state, paused.state_reason, paused.pid) == (JobState.PAUSED, "paused by ann", None)
    assert (paused.lease_until, paused.finished_at, paused.pause_requested) == (None, None, False)
    # And the next run is told the rate, not the pause
    assert json.loads((folder / "control.json").read_text())["pause"] is True
    control.resume(ANN, paused)
    assert control.wanted(row(job)) == control.Control(pause=False, messages_per_second=7)


def test_a_program_that_does_not_pause_is_stopped(job: Job, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a program that has read, and then does not listen
    playing(monkeypatch, DEAF)
    monkeypatch.setattr(launcher, "PAUSE_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(launcher, "CANCEL_GRACE_SECONDS", 600)

    def act(run: launcher._JobRun) -> None:
        if run._progress is not None and run._progress.counters.read == 0:
            (place / "jobs" / job.id / "go").touch()
        elif run._progress is not None and not row(job).pause_requested:
            control.pause(ANN, job)

    at_each_look(monkeypatch, act)
    launcher.run(job.id, worker="w")
    assert (row(job).state, row(job).retries) == (JobState.PAUSED, 0)


def test_a_program_that_only_starts_is_stopped_by_a_pause_at_once(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has nothing on the way that it could confirm."""
    playing(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(launcher, "PAUSE_GRACE_SECONDS", math.inf)
    at_each_look(monkeypatch, lambda run: row(job).pause_requested or control.pause(ANN, job))
    launcher.run(job.id, worker="w")
    assert (row(job).state, row(job).retries) == (JobState.PAUSED, 0)


def test_a_job_that_is_resumed_before_its_program_has_paused_goes_on(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    playing(monkeypatch, "raise SystemExit(75)")
    launcher.run(job.id, worker="w")
    assert (row(job).state, row(job).attempt) == (JobState.QUEUED, 1)


@pytest.mark.parametrize(
    ("act", "state"), [(control.pause, JobState.PAUSED), (services.cancel, JobState.CANCELLED)], ids=["pause", "cancel"]
)
def test_what_a_user_wants_wins_over_the_automatic_retry(
    job: Job, monkeypatch: pytest.MonkeyPatch, act: Callable[[Actor, Job], Job], state: str
) -> None:
    # Given a program that dies just when a user acts
    playing(monkeypatch, "import os; os.kill(os.getpid(), 9)")
    finishing = services.finish_dead

    def finish(job: Job, *args: Any, **fields: Any) -> None:
        act(ANN, row(job))
        finishing(job, *args, **fields)

    monkeypatch.setattr(services, "finish_dead", finish)
    launcher.run(job.id, worker="w")
    assert (row(job).state, row(job).retries) == (state, 0)


def test_a_job_that_is_paused_and_then_cancelled_is_not_resumed(job: Job, claimed: Claim) -> None:
    """Its end says by whom it was cancelled."""
    control.pause(ANN, claimed(job))
    services.cancel(ANN, job)
    with pytest.raises(JobInOtherState, match="is being cancelled; it cannot be resumed"):
        control.resume(ANN, job)
    services.finish_cancelled(row(job))
    assert row(job).state_reason == "cancelled by ann; messages already written stay"


def test_a_job_that_has_ended_or_is_being_cancelled_is_not_paused(job: Job, claimed: Claim) -> None:
    services.cancel(ANN, claimed(job))
    with pytest.raises(JobInOtherState):
        control.pause(ANN, job)
    services.finish_cancelled(row(job))
    for act in (control.pause, control.resume):
        with pytest.raises(JobInOtherState, match="cancelled"):
            act(ANN, job)
    with pytest.raises(JobInOtherState):
        control.change_limits(ANN, job, {"messages_per_second": 7})


def test_a_rate_is_changed_over_http_and_the_request_stays(cast: Cast, job: Job) -> None:
    operator: Any = cast.browser("operator")
    path = f"/api/v1/jobs/{job.id}"
    answer = operator.patch(path, {"limits": {"messages_per_second": 50}}, format="json")
    assert (answer.status_code, answer.json()["limits"]) == (200, {"messages_per_second": 50})
    assert answer.json()["request"] == job.request
    found = AuditRecord.objects.get(action="replay.limits")
    assert (found.before, found.after) == ({"messages_per_second": None}, {"messages_per_second": 50})
    assert operator.patch(path, {"limits": {"messages_per_second": None}}, format="json").status_code == 200
    assert cast.browser("viewer").patch(path, {"limits": {"messages_per_second": 50}}, format="json").status_code == 403
    wrong: dict[str, int]
    for wrong, pointer in (({"messages_per_second": 0}, "#/limits/messages_per_second"), ({}, "#/limits")):
        answer = operator.patch(path, {"limits": wrong}, format="json")
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_a_rate_that_a_job_cannot_have_is_refused(cast: Cast, job: Job) -> None:
    operator: Any = cast.browser("operator")
    path, slow = f"/api/v1/jobs/{job.id}", {"limits": {"messages_per_second": None}}
    Job.objects.update(type="reconcile", request={"type": "reconcile", "left": {}, "right": {}})
    answer = operator.patch(path, slow, format="json")
    assert "has no rate" in answer.json()["errors"][0]["detail"]
    Job.objects.update(type="replay", request={"type": "replay", "source": {}, "target": {"kind": "parquet"}})
    answer = operator.patch(path, slow, format="json")
    assert "has no rate" in answer.json()["errors"][0]["detail"]
    assert operator.get(path).json()["limits"] is None
    dry_run = {"type": "replay", "source": {}, "target": {"topic": "t"}, "limits": {"messages_per_second": 9}}
    Job.objects.update(request={**dry_run, "dry_run": True})
    answer = operator.patch(path, slow, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/limits/messages_per_second")
    assert "has no rate" in answer.json()["errors"][0]["detail"]
    assert operator.get(path).json()["limits"] is None
    redrive = {"type": "redrive", "group": "g", "target": {"to": "failed_group"}, "topics": []}
    Job.objects.update(type="redrive", request=redrive)
    answer = operator.patch(path, slow, format="json")
    assert "for a redrive" in answer.json()["errors"][0]["detail"]


def test_pause_and_resume_over_http(cast: Cast, job: Job) -> None:
    operator: Any = cast.browser("operator")
    for action, state in (("pause", "paused"), ("resume", "queued")):
        answer = operator.post(f"/api/v1/jobs/{job.id}:{action}")
        assert (answer.status_code, answer.json()["state"]) == (202, state)
        assert cast.browser("viewer").post(f"/api/v1/jobs/{job.id}:{action}").status_code == 403
    assert operator.post(f"/api/v1/jobs/{job.id}:resume").status_code == 409
