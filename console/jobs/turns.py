"""Which queued job begins next, and whether one may begin now."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from console.jobs.models import ACTIVE_STATES, Job, JobState
from console.jobs.queue import hint


def due_jobs(now: datetime) -> QuerySet[Job]:
    """Return the jobs that wait for a worker, the oldest first; not those whose next try is later."""
    queued = Job.objects.filter(Q(next_try_at=None) | Q(next_try_at__lte=now), state=JobState.QUEUED)
    return queued.order_by("id")


def may_start(job_id: str) -> bool:
    """Return whether the job is due, a place is free, and its schedule has neither an earlier nor a running run.

    No other claim passes here until the transaction ends: in SQLite it holds the write lock, in other databases the
    locks of the rows of all jobs that have not ended.
    """
    active = Job.objects.select_for_update().filter(state__in=ACTIVE_STATES).order_by("pk")
    jobs = {pk: (state, schedule) for pk, state, schedule in active.values_list("pk", "state", "schedule_id")}
    mine = jobs.get(job_id)
    if mine is None or not due_jobs(timezone.now()).filter(pk=job_id).exists():
        return False
    if sum(state == JobState.RUNNING for state, _ in jobs.values()) >= settings.GANTRY_JOBS_AT_ONCE:
        return False
    # The ranges of a schedule's runs follow one another.
    of_schedule = (
        (pk, state) for pk, (state, schedule) in jobs.items() if schedule is not None and schedule == mine[1]
    )
    return not any(pk < job_id or state == JobState.RUNNING for pk, state in of_schedule)


def hint_next() -> None:
    """A place is free: the job that has waited longest may take it."""
    for waiting in due_jobs(timezone.now()).values_list("pk", flat=True)[:1]:
        hint(waiting)
