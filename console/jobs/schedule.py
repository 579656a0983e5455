"""The clock of schedules: `step(now)` starts what is due."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction

from console.audit.record import Actor
from console.jobs import errors, owners, runs, schedules, services
from console.jobs.due import Due, Start, due
from console.jobs.models import ACTIVE_STATES, Job, JobState, Overlap, RunReason, Schedule
from console.jobs.requests import continues_last_success
from console.jobs.times import CronMalformed, ZoneUnknown, next_times

PREVIEW: Final = 5
MOST_WAITING: Final = 24
"""Runs of one schedule that wait for each other."""

_log = logging.getLogger(__name__)


def step(now: datetime) -> list[Job]:
    """Start the runs that are due of each enabled schedule, and note those that are not started."""
    found = Schedule.objects.filter(enabled=True, next_run_at__lte=now).select_related("created_by")
    return [job for schedule in found for job in _fire(schedule, now)]


def next_runs(schedule: Schedule, now: datetime) -> list[datetime]:
    """Return the next times of the schedule; none while it is disabled."""
    if not schedule.enabled:
        return []
    try:
        return next_times(now, schedule.cron, schedule.zone, PREVIEW)
    except (CronMalformed, ZoneUnknown):  # the next step disables the schedule
        return []


def _fire(schedule: Schedule, now: datetime) -> list[Job]:
    by = Actor.system("scheduler")
    try:
        found = due(schedule, now)
    except (CronMalformed, ZoneUnknown) as error:  # an earlier release accepted it
        _stop(by, schedule, str(error))
        return []
    if found is None:
        return []
    # The rights may have shrunk since somebody set its times.
    reason = owners.why_schedule_may_not_start(schedule)
    if reason is not None:
        _stop(by, schedule, reason)
        return []
    with transaction.atomic():
        # Only one clock wins: the one that advances the schedule starts the jobs.
        mine = Schedule.objects.filter(pk=schedule.pk, next_run_at=schedule.next_run_at)
        if not mine.update(next_run_at=found.following):
            return []
        return _carry_out(by, schedule, found, now)


def _carry_out(by: Actor, schedule: Schedule, found: Due, now: datetime) -> list[Job]:
    if found.missed:
        _log.warning("schedule=%s %s: %d of its times are too late", schedule.id, schedule.name, len(found.missed))
        runs.note_missed(schedule, found.missed, now)
    jobs = [job for each in found.starts if (job := _start(by, schedule, each, now)) is not None]
    if jobs:
        Schedule.objects.filter(pk=schedule.pk).update(last_run_at=jobs[-1].scheduled_for)
    return jobs


def _start(by: Actor, schedule: Schedule, wanted: Start, now: datetime) -> Job | None:
    previous = list(schedule.jobs.filter(state__in=ACTIVE_STATES).order_by("pk"))
    reason = _why_not(schedule, previous)
    if reason is not None:
        runs.note_skipped(schedule, wanted, reason, previous[0], now)
        return None
    try:
        with transaction.atomic():
            job = schedules.create_run(by, schedule, wanted.scheduled_for, earlier=wanted.earlier)
    except errors.QueueFull:
        runs.note_skipped(schedule, wanted, RunReason.TOO_MANY_WAIT, None, now)
        return None
    except IntegrityError:
        _log.warning("schedule=%s: a job for %s exists already", schedule.id, wanted.scheduled_for)
        return None
    if schedule.overlap == Overlap.CANCEL_PREVIOUS:
        for each in previous:
            _cancel(by, each)
    return job


def _stop(by: Actor, schedule: Schedule, reason: str) -> None:
    _log.error("schedule=%s %s: paused: %s", schedule.id, schedule.name, reason)
    schedules.change_schedule(by, schedule, {"enabled": False, "stopped_reason": reason})


def _why_not(schedule: Schedule, previous: list[Job]) -> RunReason | None:
    """Return why a run does not start beside the earlier ones that have not ended; None if it starts."""
    if not previous or schedule.overlap == Overlap.CANCEL_PREVIOUS:
        return None
    if schedule.overlap == Overlap.SKIP:
        return RunReason.EARLIER_RUN
    waiting = sum(job.state == JobState.QUEUED for job in previous)
    if continues_last_success(schedule.job):
        # A queued run takes the whole range when it starts; a second one would find nothing.
        return RunReason.EARLIER_RUN if waiting else None
    return RunReason.TOO_MANY_WAIT if waiting >= MOST_WAITING else None


def _cancel(by: Actor, job: Job) -> None:
    try:
        services.cancel(by, job)
    except errors.JobInOtherState:
        _log.debug("job=%s: ended before it could be cancelled", job.id)
