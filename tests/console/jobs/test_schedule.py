"""Schedules: when they fire, and what they do when an earlier run is at work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from console.audit.record import Actor
from console.jobs import schedule as clock
from console.jobs import services
from console.jobs.models import Job, JobState, Schedule

BY = Actor.system("test")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
JOB: dict[str, Any] = {
    "type": "replay",
    "cluster": "local",
    "source": {"topic": "orders", "from": "{{ last_success }}", "to": "{{ scheduled_at }}"},
    "target": {"topic": "copy"},
}


def schedule(**changes: Any) -> Schedule:
    """Return an hourly schedule whose next time is noon."""
    made = services.add_schedule(
        BY,
        {
            "name": "hourly",
            "cron": "0 * * * *",
            "zone": "UTC",
            "enabled": True,
            "overlap": "skip",
            "job": JOB,
            **changes,
        },
    )
    Schedule.objects.filter(pk=made.pk).update(next_run_at=NOON)
    made.refresh_from_db()
    return made


def test_nothing_fires_before_its_time() -> None:
    schedule()
    assert clock.step(NOON - timedelta(seconds=1)) == []


def test_a_job_is_made_for_its_time_once() -> None:
    made = schedule()
    (job,) = clock.step(NOON + timedelta(seconds=9))
    assert job.scheduled_for == NOON
    assert clock.step(NOON + timedelta(seconds=24)) == []
    made.refresh_from_db()
    assert (made.last_run_at, made.next_run_at) == (NOON, NOON + timedelta(hours=1))


def test_times_that_were_missed_count_once() -> None:
    schedule()
    assert len(clock.step(NOON + timedelta(hours=5))) == 1
    assert Job.objects.count() == 1


def test_a_schedule_that_is_off_does_not_fire() -> None:
    made = schedule()
    services.change_schedule(BY, made, {"enabled": False})
    assert clock.step(NOON + timedelta(hours=1)) == []


@pytest.mark.parametrize(
    ("overlap", "jobs", "first"),
    [("skip", 1, JobState.QUEUED), ("queue", 2, JobState.QUEUED), ("cancel_previous", 2, JobState.CANCELLED)],
)
def test_what_happens_while_an_earlier_run_is_at_work(overlap: str, jobs: int, first: str) -> None:
    schedule(overlap=overlap)
    (job,) = clock.step(NOON)
    clock.step(NOON + timedelta(hours=1))
    job.refresh_from_db()
    assert (Job.objects.count(), job.state) == (jobs, first)


def test_runs_of_one_schedule_do_not_overlap() -> None:
    schedule(overlap="queue")
    (first,) = clock.step(NOON)
    (second,) = clock.step(NOON + timedelta(hours=1))
    running = services.claim(first.id, worker="w", host="h")
    assert running is not None
    assert services.claim(second.id, worker="w", host="h") is None
    services.finish(running, JobState.SUCCEEDED, None)
    assert services.claim(second.id, worker="w", host="h") is not None


def test_two_clocks_make_one_job_of_one_time() -> None:
    made = schedule()
    clock.step(NOON)
    with pytest.raises(IntegrityError), transaction.atomic():
        services.create_run(BY, made, NOON)


def test_ranges_of_runs_neither_overlap_nor_leave_holes() -> None:
    # Given a run that succeeded and one that failed
    made = schedule()
    ranges = []
    for hour, state in enumerate([JobState.SUCCEEDED, JobState.FAILED, JobState.SUCCEEDED]):
        (job,) = clock.step(NOON + timedelta(hours=hour))
        ranges.append((job.request["source"]["from"], job.request["source"]["to"]))
        mine = services.claim(job.id, worker="w", host="h")
        assert mine is not None
        services.finish(mine, state, None)
    # Then each begins where the last success ended, and the failed range is covered by the next
    assert ranges[0][1] == "2026-05-01T12:00:00.000Z"
    assert ranges[1] == ("2026-05-01T12:00:00.000Z", "2026-05-01T13:00:00.000Z")
    assert ranges[2] == ("2026-05-01T12:00:00.000Z", "2026-05-01T14:00:00.000Z")
    assert services.run_now(BY, made).request["source"]["from"] == "2026-05-01T14:00:00.000Z"
