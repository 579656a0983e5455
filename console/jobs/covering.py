"""Which ranges the runs of a schedule have covered, so that the next run continues there."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max

from console.jobs.models import Job, Schedule
from console.jobs.requests import continues_last_success, filled, hash_of


def last_success(schedule: Schedule) -> datetime:
    """Return the moment up to which the runs of a schedule, including manual ones, have taken its range.

    A dry run has taken nothing: the schedule may be changed to the real thing, which must not leave out a range.
    """
    dry = schedule.jobs.filter(request__dry_run=True)
    found = schedule.jobs.filter(is_whole=True).exclude(pk__in=dry).aggregate(until=Max("covers_until"))["until"]
    return found or schedule.created_at


def is_covered(job: Job) -> bool:
    """Return whether a later run of its schedule has taken the range of this job."""
    if job.schedule is None or job.covers_until is None or not continues_last_success(job.schedule.job):
        return False
    return last_success(job.schedule) >= job.covers_until


def fill(job: Job, schedule: Schedule, now: datetime) -> None:
    """Fill in the range of a schedule's run; a retry of the run keeps it."""
    job.request, job.covers_until = filled(
        job.request, scheduled_at=job.scheduled_for or job.created_at, last_success=last_success(schedule), now=now
    )
    job.request_hash = hash_of(job.request)
