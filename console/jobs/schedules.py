"""All changes of schedules: this module writes each to the audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from msgspec import Struct
from rest_framework.exceptions import ValidationError

from broker_core.errors import GantryError
from console.audit.record import Actor, record
from console.errors import Conflict
from console.jobs import owners, runs
from console.jobs.models import Job, JobDocument, JobState, Schedule
from console.jobs.requests import continues_last_success, waits_for_schedule
from console.jobs.services import cancel, create
from console.jobs.times import next_time
from console.rows import row_of, unless_taken
from console.shapes import as_json

MAX_SCHEDULES: Final = 500


class ScheduleChoices(Struct, frozen=True, kw_only=True):
    """The fields of a schedule that can be changed; the audit stores them, and the ETag is their hash."""

    name: str
    cron: str
    zone: str
    enabled: bool
    overlap: str
    catch_up_ms: int | None
    jitter_ms: int
    stopped_reason: str | None
    job: JobDocument


class RunWaits(GantryError):
    """A run of the schedule is already queued or paused; one at a time may wait."""

    def __init__(self, job: Job) -> None:
        takes = "; it will continue from the last success" if continues_last_success(job.request) else ""
        super().__init__(f"job {job.id} of this schedule is already {job.state}{takes}")


def add_schedule(by: Actor, fields: Mapping[str, Any]) -> Schedule:
    """Add a schedule; its first run is at the first of its times after now.

    Raises ValidationError for a taken name, Conflict if there are `MAX_SCHEDULES`.
    """
    schedule = Schedule(**fields, created_by_id=by.user_id, **owners.token_of(by))
    schedule.next_run_at = _next_run(schedule)
    with unless_taken(same_name(schedule), name_taken()):
        if Schedule.objects.count() >= MAX_SCHEDULES:
            raise Conflict(f"There are {MAX_SCHEDULES} schedules, and more are not allowed; delete one first.")
        schedule.save()
        record(by, "schedule.create", f"schedules/{schedule.id}", after=as_json(choices_of(schedule)))
    return schedule


def change_schedule(by: Actor, schedule: Schedule, fields: Mapping[str, Any]) -> Schedule:
    """Change a schedule and compute its next run again; raise ValidationError for a taken name.

    A user who resumes it, or changes more than its name while it runs, is from then on the one by whose rights it runs,
    with the token of that change.
    The reason of a pause stays until then.
    """
    before = choices_of(schedule)
    for name, value in fields.items():
        setattr(schedule, name, value)
    if schedule.enabled:
        schedule.stopped_reason = None
    if schedule.enabled and fields.keys() - {"name"} and by.user_id is not None:
        schedule.created_by_id = by.user_id
        schedule.token_key, schedule.token_name = by.token_key, by.token or ""
    schedule.next_run_at = _next_run(schedule)
    after = choices_of(schedule)
    with unless_taken(same_name(schedule), name_taken()):
        schedule.save()
        record(by, "schedule.update", f"schedules/{schedule.id}", before=as_json(before), after=as_json(after))
    return schedule


def same_name(schedule: Schedule) -> QuerySet[Schedule]:
    """Return the other schedules that have the name of this one."""
    return Schedule.objects.filter(name=schedule.name).exclude(pk=schedule.pk)


def name_taken() -> ValidationError:
    """Return the refusal of a name that another schedule has."""
    return ValidationError({"name": ["another schedule has this name"]})


@transaction.atomic
def remove_schedule(by: Actor, schedule: Schedule) -> None:
    """Remove a schedule; its jobs stay, but a run is cancelled whose range the schedule has not set yet."""
    for job in schedule.jobs.filter(state__in=(JobState.QUEUED, JobState.PAUSED), covers_until=None):
        if waits_for_schedule(job.request):
            cancel(by, job)
    record(by, "schedule.delete", f"schedules/{schedule.id}", before=as_json(choices_of(schedule)))
    schedule.delete()


def run_now(by: Actor, schedule: Schedule) -> Job:
    """Queue a manual run of the schedule; raise RunWaits if a run is already queued or paused, NotKnown if it is gone.

    Somebody asks for it, so the rule for overlaps does not hold: it waits until the run at work has ended.
    """
    with transaction.atomic():
        # One at a time: two concurrent requests queue one run.
        row_of(Schedule.objects.select_for_update(), schedule.pk)
        waiting = schedule.jobs.filter(state__in=(JobState.QUEUED, JobState.PAUSED)).first()
        if waiting is not None:
            raise RunWaits(waiting)
        job = create_run(by, schedule, None)
        Schedule.objects.filter(pk=schedule.pk).update(last_run_at=job.created_at)
        return job


@transaction.atomic
def create_run(
    by: Actor, schedule: Schedule, scheduled_for: datetime | None, *, earlier: Sequence[datetime] = ()
) -> Job:
    """Queue a run for one of the schedule's times, or a manual run for None; its range is set when it starts.

    It stands also for the `earlier` times, which started none.
    """
    job = create(by, schedule.job, schedule=schedule, scheduled_for=scheduled_for)
    runs.note_started(schedule, job, earlier)
    return job


def _next_run(schedule: Schedule) -> datetime | None:
    if not schedule.enabled:
        return None
    return next_time(timezone.now(), schedule.cron, schedule.zone)


def choices_of(schedule: Schedule) -> ScheduleChoices:
    """Return the fields of a schedule that can be changed."""
    return ScheduleChoices(
        name=schedule.name,
        cron=schedule.cron,
        zone=schedule.zone,
        enabled=schedule.enabled,
        overlap=schedule.overlap,
        catch_up_ms=schedule.catch_up_ms,
        jitter_ms=schedule.jitter_ms,
        stopped_reason=schedule.stopped_reason,
        job=schedule.job,
    )
