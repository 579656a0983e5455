"""How many jobs may wait."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from console.jobs import errors, services
from console.jobs import schedule as clock
from console.jobs.models import Job, ScheduleRun
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
