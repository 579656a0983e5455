"""The states of a job and the actions that each allows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone
from pytest_django import Settings

from console.audit.models import AuditRecord
from console.audit.record import Actor
from console.fields import moment
from console.jobs import services, tasks
from console.jobs.errors import JobInOtherState
from console.jobs.models import MAX_RETRIES, Job, JobState, StateCode
from console.jobs.shapes import shape_of
from gateway.celery import app

BY = Actor.system("test")
Claim = Callable[[Job], Job]


def test_a_job_is_queued_with_a_name_and_the_audit_tells_who_did_it(job: Job) -> None:
    assert (job.state, job.name, job.attempt) == (JobState.QUEUED, "Replay orders to copy", 0)
    assert AuditRecord.objects.filter(action="replay.start", resource=f"jobs/{job.id}").exists()


def test_one_worker_gets_the_job_however_many_hints_there_are(job: Job, claimed: Claim) -> None:
    mine = claimed(job)
    assert (mine.state, mine.attempt) == (JobState.RUNNING, 1)
    assert services.claim(job.id, worker="other", host="h") is None


def test_no_more_jobs_run_than_there_are_places(job: Job, claimed: Claim, settings: Settings) -> None:
    settings.GANTRY_JOBS_AT_ONCE = 1
    other = services.create(BY, job.request)
    claimed(job)
    assert services.claim(other.id, worker="w", host="h") is None


def test_a_queued_job_is_cancelled_at_once(job: Job) -> None:
    assert services.cancel(BY, job).state == JobState.CANCELLED
    assert services.claim(job.id, worker="w", host="h") is None


def test_a_running_job_is_asked_to_stop(job: Job, claimed: Claim) -> None:
    mine = claimed(job)
    cancelled = services.cancel(BY, mine)
    assert (cancelled.state, cancelled.cancel_requested) == (JobState.RUNNING, True)
    # Whatever the status of a program says that was told to stop
    services.finish_cancelled(mine, state_code=StateCode.PROGRAM_FAILED)
    assert mine.state_code == StateCode.CANCELLED


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.PARTIAL, JobState.CANCELLED])
def test_a_job_that_did_not_succeed_goes_on_in_its_own_row(job: Job, claimed: Claim, state: str) -> None:
    services.finish(claimed(job), state, "because")
    again = services.retry(BY, job)
    assert (again.id, again.state, again.state_reason, again.finished_at) == (job.id, JobState.QUEUED, None, None)
    assert claimed(again).attempt == 2


@pytest.mark.parametrize("is_kept", [True, False])
def test_the_time_of_a_plan_is_that_of_the_run_that_made_it(job: Job, claimed: Claim, is_kept: bool) -> None:
    first = claimed(job)
    assert first.planned_at == first.started_at
    if is_kept:
        first.folder.mkdir(parents=True, exist_ok=True)
        first.plan.write_text("{}")
    services.put_back(first)
    again = claimed(job)
    assert (again.planned_at == first.planned_at) is is_kept
    assert (again.planned_at == again.started_at) is not is_kept
    assert again.planned_at is not None
    assert shape_of(again).planned_at == moment(again.planned_at)


def test_of_jobs_of_earlier_releases_only_those_that_ran_once_have_a_known_plan(job: Job, claimed: Claim) -> None:
    migration = importlib.import_module("console.migrations.0027_job_planned_at")
    began = claimed(job).started_at
    for attempt, expected in ((1, began), (2, None), (0, None)):
        Job.objects.filter(pk=job.pk).update(attempt=attempt, planned_at=None)
        migration.note(apps, None)
        job.refresh_from_db()
        assert job.planned_at == expected


def test_a_job_that_succeeded_or_works_is_not_tried_again(job: Job, claimed: Claim) -> None:
    mine = claimed(job)
    with pytest.raises(JobInOtherState, match="running"):
        services.retry(BY, mine)
    services.finish(mine, JobState.SUCCEEDED, None)
    with pytest.raises(JobInOtherState, match="succeeded"):
        services.retry(BY, mine)
    with pytest.raises(JobInOtherState):
        services.cancel(BY, mine)


def test_a_run_that_lost_its_job_writes_nothing_more(job: Job, claimed: Claim) -> None:
    mine = claimed(job)
    Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED)
    claimed(job)
    assert not services.renew(mine)
    assert not services.finish(mine, JobState.FAILED, "late")
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_a_run_can_be_left_to_the_next_worker(job: Job, claimed: Claim) -> None:
    services.put_back(claimed(job), "stopped")
    job.refresh_from_db()
    assert (job.state, job.state_reason) == (JobState.QUEUED, "stopped")


def test_a_run_that_is_silent_for_a_lease_is_found(job: Job, claimed: Claim) -> None:
    now = timezone.now()
    mine = claimed(job)
    assert not services.silent_jobs(now).exists()
    Job.objects.filter(pk=mine.pk).update(lease_until=now - timedelta(seconds=1))
    found: Any = services.silent_jobs(now).get()
    assert found.id == job.id


def test_each_automatic_retry_waits_longer_than_the_one_before(job: Job, claimed: Claim) -> None:
    waits = []
    for _ in range(MAX_RETRIES):
        began = timezone.now()
        services.finish_dead(claimed(job), "it died")
        job.refresh_from_db()
        assert job.next_try_at is not None
        waits.append(round((job.next_try_at - began).total_seconds()))
        Job.objects.filter(pk=job.pk).update(next_try_at=began)
    assert waits == [5, 30, 120]
    # And while it runs it tells nothing of how the try before ended
    assert "it died" in (job.state_reason or "")
    assert claimed(job).state_reason is None


def test_a_hint_for_a_later_try_comes_in_time_and_one_that_is_lost_is_repeated_by_the_tick(
    job: Job, claimed: Claim, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[tuple[str], float | None]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args, countdown, expires: sent.append((args, countdown)))
    with django_capture_on_commit_callbacks(execute=True):
        services.finish_dead(claimed(job), "it died")
    # The job's own time may lie some microseconds before the hint is made
    assert [(args, round(countdown or 0)) for args, countdown in sent] == [((job.id,), 5)]
    sent.clear()
    tasks.tick()
    assert sent == []
    earlier = timezone.now() - timedelta(minutes=5)
    Job.objects.filter(pk=job.pk).update(queued_at=earlier, next_try_at=earlier)
    tasks.tick()
    assert sent == [((job.id,), None)]
