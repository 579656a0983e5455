"""The clock of schedules: `step(now)` starts what is due (spark.md 6.4)."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, transaction

from console.audit.record import Actor
from console.jobs import services
from console.jobs.cron import Cron, find_zone
from console.jobs.models import ACTIVE_STATES, Job, JobState, Overlap, Schedule

PREVIEW: Final = 5

_log = logging.getLogger(__name__)


def step(now: datetime) -> list[Job]:
    """Start a job for each enabled schedule whose time has come; times missed meanwhile count once."""
    due = Schedule.objects.filter(enabled=True, next_run_at__lte=now).select_related("created_by")
    return [job for job in (_fire(schedule, now) for schedule in due) if job is not None]


def next_runs(schedule: Schedule, now: datetime) -> list[datetime]:
    """Return the next times at which the schedule fires; none while it is off."""
    if not schedule.enabled:
        return []
    return Cron.parse(schedule.cron).following(now, find_zone(schedule.zone), PREVIEW)


def _fire(schedule: Schedule, now: datetime) -> Job | None:
    scheduled_for = schedule.next_run_at
    following = Cron.parse(schedule.cron).next_after(now, find_zone(schedule.zone))
    by = Actor.system("scheduler")
    previous = list(schedule.jobs.filter(state__in=ACTIVE_STATES))
    skipped = _is_skipped(schedule, previous)
    changes: dict[str, Any] = {"next_run_at": following}
    try:
        with transaction.atomic():
            # One winner: whoever moves the schedule on starts the job.
            if not skipped:
                changes["last_run_at"] = scheduled_for
            mine = Schedule.objects.filter(pk=schedule.pk, next_run_at=scheduled_for).update(**changes)
            if not mine or skipped:
                return None
            job = services.create_run(by, schedule, scheduled_for)
    except IntegrityError:  # another clock made the job of this time
        return None
    if schedule.overlap == Overlap.CANCEL_PREVIOUS:
        for each in previous:
            _cancel(by, each)
    return job


def _is_skipped(schedule: Schedule, previous: list[Job]) -> bool:
    if schedule.overlap == Overlap.QUEUE:
        # One that waits sees to all there is when it starts; a second one would find nothing.
        return any(job.state == JobState.QUEUED for job in previous)
    return bool(previous) and schedule.overlap == Overlap.SKIP


def _cancel(by: Actor, job: Job) -> None:
    try:
        services.cancel(by, job)
    except services.JobInOtherState:
        _log.debug("job=%s: ended before it could be cancelled", job.id)
