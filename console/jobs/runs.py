"""What became of the times of schedules: which started a job, which gave way to another run, and which were missed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

from django.conf import settings
from msgspec import Meta, Struct

from console.fields import moment
from console.jobs.due import Start, span
from console.jobs.models import Job, RunOutcome, RunReason, Schedule, ScheduleRun
from console.jobs.shapes import JobShape, shape_of
from console.moments import Moment


class ScheduleRunShape(Struct, frozen=True, kw_only=True):
    """What became of a time of a schedule."""

    id: str
    outcome: RunOutcome
    reason: Annotated[
        RunReason | None,
        Meta(
            description="Why it started no job: an earlier run had not ended, too many runs or jobs wait, or the "
            "scheduler came to it later than the catch-up window allows."
        ),
    ]
    scheduled_for: Annotated[Moment | None, Meta(description="The last of its times; null for a manual run.")]
    first_scheduled_for: Annotated[Moment | None, Meta(description="The first of its times, if it stands for several.")]
    times: Annotated[int, Meta(description="How many times of the schedule it stands for.")]
    created_at: Moment
    job_id: Annotated[str | None, Meta(description="The job that it started, or the one that it gave way to.")]
    job: Annotated[JobShape | None, Meta(description="This job, unless the caller may not read it.")]


def shape_of_run(run: ScheduleRun, *, is_job_visible: bool) -> ScheduleRunShape:
    """Return a run as the API shows it."""
    return ScheduleRunShape(
        id=run.id,
        outcome=RunOutcome(run.outcome),
        reason=RunReason(run.reason) if run.reason else None,
        scheduled_for=moment(run.scheduled_for) if run.scheduled_for else None,
        first_scheduled_for=moment(run.first_scheduled_for) if run.first_scheduled_for else None,
        times=run.times,
        created_at=moment(run.created_at),
        job_id=run.job_id,
        job=shape_of(run.job) if run.job is not None and is_job_visible else None,
    )


def note_started(schedule: Schedule, job: Job, earlier: Sequence[datetime]) -> None:
    """Note the job of a time and of the `earlier` ones that it takes over; a manual run has no time."""
    times = [*earlier, job.scheduled_for] if job.scheduled_for else []
    _note(schedule, times, job.created_at, outcome=RunOutcome.STARTED, job=job)


def note_skipped(schedule: Schedule, wanted: Start, reason: RunReason, other: Job | None, now: datetime) -> None:
    """Note that a run gave way to a job that had not ended, or found too many jobs waiting."""
    times = [*wanted.earlier, wanted.scheduled_for]
    _note(schedule, times, now, outcome=RunOutcome.SKIPPED, reason=reason, job=other)


def note_missed(schedule: Schedule, times: Sequence[datetime], now: datetime) -> None:
    """Note times that the scheduler came to after the catch-up window."""
    _note(schedule, times, now, outcome=RunOutcome.MISSED, reason=RunReason.TOO_LATE)


def forget(now: datetime) -> int:
    """Remove what is older than GANTRY_JOBS_KEEP_DAYS and started no job; return how many."""
    old = now - timedelta(days=settings.GANTRY_JOBS_KEEP_DAYS)
    rows = ScheduleRun.objects.filter(created_at__lt=old).exclude(outcome=RunOutcome.STARTED)
    return rows.delete()[0]


def _note(
    schedule: Schedule,
    times: Sequence[datetime],
    now: datetime,
    *,
    outcome: RunOutcome,
    reason: RunReason | None = None,
    job: Job | None = None,
) -> None:
    last, first = span(times)
    ScheduleRun.objects.create(
        schedule=schedule,
        outcome=outcome,
        reason=reason,
        scheduled_for=last,
        first_scheduled_for=first,
        times=max(1, len(times)),
        job=job,
        created_at=now,
    )
