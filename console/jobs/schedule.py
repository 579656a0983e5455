"""The clock of schedules: `step(now)` starts what is due."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction

from console.audit.record import Actor
from console.jobs import schedules, services
from console.jobs.models import ACTIVE_STATES, Job, JobState, Overlap, Schedule
from console.jobs.times import CronMalformed, next_time, next_times
from console.jobs.visibility import why_owner_may_not_start

PREVIEW: Final = 5

_log = logging.getLogger(__name__)


def step(now: datetime) -> list[Job]:
    """Start a job for each enabled schedule that is due; several missed times start one job."""
    due = Schedule.objects.filter(enabled=True, next_run_at__lte=now).select_related("created_by")
    return [job for job in (_fire(schedule, now) for schedule in due) if job is not None]


def next_runs(schedule: Schedule, now: datetime) -> list[datetime]:
    """Return the next times of the schedule; none while it is disabled."""
    if not schedule.enabled:
        return []
    try:
        return next_times(now, schedule.cron, schedule.zone, PREVIEW)
    except CronMalformed:  # the next step disables the schedule
        return []


def _fire(schedule: Schedule, now: datetime) -> Job | None:
    scheduled_for = schedule.next_run_at
    by = Actor.system("scheduler")
    try:
        following = next_time(now, schedule.cron, schedule.zone)
    except CronMalformed as error:  # an earlier release accepted it
        _stop(by, schedule, str(error))
        return None
    # The rights may have shrunk since somebody set its times.
    reason = why_owner_may_not_start(schedule)
    if reason is not None:
        _stop(by, schedule, reason)
        return None
    previous = list(schedule.jobs.filter(state__in=ACTIVE_STATES))
    skipped = _is_skipped(schedule, previous)
    changes: dict[str, datetime | None] = {"next_run_at": following}
    try:
        with transaction.atomic():
            # Only one clock wins: the one that advances the schedule starts the job.
            if not skipped:
                changes["last_run_at"] = scheduled_for
            mine = Schedule.objects.filter(pk=schedule.pk, next_run_at=scheduled_for).update(**changes)
            if not mine or skipped:
                return None
            job = schedules.create_run(by, schedule, scheduled_for)
    except IntegrityError:  # another clock created the job for this time
        return None
    if schedule.overlap == Overlap.CANCEL_PREVIOUS:
        for each in previous:
            _cancel(by, each)
    return job


def _stop(by: Actor, schedule: Schedule, reason: str) -> None:
    _log.error("schedule=%s %s: paused: %s", schedule.id, schedule.name, reason)
    schedules.change_schedule(by, schedule, {"enabled": False}, stopped_reason=reason)


def _is_skipped(schedule: Schedule, previous: list[Job]) -> bool:
    if schedule.overlap == Overlap.QUEUE:
        # A queued run takes the whole range when it starts; a second one would find nothing.
        return any(job.state == JobState.QUEUED for job in previous)
    return bool(previous) and schedule.overlap == Overlap.SKIP


def _cancel(by: Actor, job: Job) -> None:
    try:
        services.cancel(by, job)
    except services.JobInOtherState:
        _log.debug("job=%s: ended before it could be cancelled", job.id)
