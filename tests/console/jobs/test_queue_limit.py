"""How many jobs may wait."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from console.jobs import control, errors, services
from console.jobs import schedule as clock
from console.jobs.models import Job, JobState, ScheduleRun
from tests.console.jobs.conftest import BY, REPLAY
from tests.console.jobs.test_schedule import NOON, schedule
from tests.support.cast import Cast, somebody


def test_a_job_beyond_the_limit_is_refused_and_told_why(settings: Settings, cast: Cast) -> None:
    settings.GANTRY_JOBS_QUEUED = 2
    planned = schedule()
    first, _ = services.create(BY, REPLAY), services.create(BY, REPLAY)
    with pytest.raises(errors.QueueFull):
        services.create(BY, REPLAY)
    answer: Any = cast.browser("operator").post(f"/api/v1/schedules/{planned.id}:run_now")
    assert (answer.status_code, answer.json()["code"]) == (409, "JOB_QUEUE_FULL")
    assert answer.json()["detail"].startswith("2 jobs wait already, and no more are taken (GANTRY_JOBS_QUEUED)")
    # A schedule notes it, and goes on at its next time
    assert clock.step(NOON) == []
    assert ScheduleRun.objects.values_list("outcome", "reason").get() == ("skipped", "too_many_wait")
    # A place that is free can be taken
    services.cancel(BY, first)
    assert services.create(BY, REPLAY).state == "queued"
    assert Job.objects.count() == 3


def test_one_user_has_a_share_of_the_queue(settings: Settings, cast: Cast) -> None:
    settings.GANTRY_JOBS_QUEUED_PER_USER = 2
    planned = schedule()
    first, _ = services.create(somebody("operator"), REPLAY), services.create(somebody("operator"), REPLAY)
    answer: Any = cast.browser("operator").post(f"/api/v1/schedules/{planned.id}:run_now")
    assert (answer.status_code, answer.json()["code"]) == (409, "JOB_QUEUE_FULL")
    assert answer.json()["detail"].startswith("2 of your jobs wait already, and at most 2 of one user may")
    # A schedule by the same rights notes it, and goes on at its next time
    assert clock.step(NOON) == []
    assert ScheduleRun.objects.values_list("outcome", "reason").get() == ("skipped", "too_many_wait")
    # Others have places, and so has the user again when one of the jobs has a turn
    assert services.create(somebody("admin"), REPLAY).state == "queued"
    assert services.claim(first.id, worker="w", host="h") is not None
    assert services.create(somebody("operator"), REPLAY).state == "queued"


@pytest.mark.parametrize("name", ["GANTRY_JOBS_QUEUED", "GANTRY_JOBS_QUEUED_PER_USER"])
def test_a_job_that_is_resumed_or_retried_takes_the_room_of_a_new_one(
    settings: Settings, cast: Cast, name: str
) -> None:
    # Given a paused and a cancelled job of a user whose share of the queue others have filled since
    setattr(settings, name, 2)
    me = somebody("operator")
    paused, cancelled = services.create(me, REPLAY), services.create(me, REPLAY)
    control.pause(me, paused)
    services.cancel(me, cancelled)
    waiting, _ = services.create(me, REPLAY), services.create(me, REPLAY)
    # When it is to be queued again
    for job, action in ((paused, "resume"), (cancelled, "retry")):
        answer: Any = cast.browser("operator").post(f"/api/v1/jobs/{job.id}:{action}")
        # Then it is refused as a new one is, and stays as it was
        assert (answer.status_code, answer.json()["code"]) == (409, "JOB_QUEUE_FULL")
    assert set(Job.objects.filter(pk__in=(paused.pk, cancelled.pk)).values_list("state", flat=True)) == {
        JobState.PAUSED, JobState.CANCELLED
    }  # fmt: skip
    # And not when there is room again
    services.cancel(me, waiting)
    assert control.resume(me, paused).state == "queued"
    with pytest.raises(errors.QueueFull):
        services.retry(me, cancelled)


def test_a_job_that_waits_for_its_next_try_has_its_room(settings: Settings, cast: Cast) -> None:
    me, other = somebody("operator"), somebody("admin")
    run = services.claim(services.create(me, REPLAY).id, worker="w", host="h")
    assert run is not None
    services.create(me, REPLAY)
    theirs = services.create(other, REPLAY)
    settings.GANTRY_JOBS_QUEUED = settings.GANTRY_JOBS_QUEUED_PER_USER = 1
    # Its automatic retry is not refused, and neither is the wish not to wait for that
    services.finish_dead(run, "its worker was lost")
    assert Job.objects.filter(state=JobState.QUEUED).count() == 3
    next_try_at = run.next_try_at
    assert services.retry(me, run).next_try_at is None
    # Another user who takes it over needs room in the own share
    Job.objects.filter(pk=run.pk).update(next_try_at=next_try_at)
    with pytest.raises(errors.QueueFull, match="1 of your jobs wait already"):
        services.retry(other, run)
    services.cancel(other, theirs)
    assert services.retry(other, run).started_by_id == other.user_id
