"""All changes of jobs and schedules: this module checks the transitions and writes each change to the audit."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone
from msgspec import Struct
from rest_framework.exceptions import ValidationError

from broker_core.errors import GantryError
from console.audit.record import Actor, record
from console.jobs import events
from console.jobs.models import ACTIVE_STATES, Job, JobDocument, JobState, Schedule
from console.jobs.progress import Counters
from console.jobs.queue import hint
from console.jobs.requests import continues_last_success, filled, hash_of, name_of
from console.jobs.times import next_time
from console.rows import unless_taken
from console.shapes import as_json

LEASE: Final = timedelta(seconds=30)
# How often a job is restarted automatically after its program or worker died.
TRIES_AGAIN: Final = 2

TRANSITIONS: Final[dict[str, frozenset[str]]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLED}),
    JobState.RUNNING: frozenset(
        {JobState.SUCCEEDED, JobState.PARTIAL, JobState.FAILED, JobState.CANCELLED, JobState.QUEUED}
    ),
    JobState.PARTIAL: frozenset({JobState.QUEUED}),
    JobState.FAILED: frozenset({JobState.QUEUED}),
    JobState.CANCELLED: frozenset({JobState.QUEUED}),
    JobState.SUCCEEDED: frozenset(),
}


_NOT_ENDED: Final[dict[str, bool | None]] = {
    "cancel_requested": False,
    "state_reason": None,
    "finished_at": None,
    "exit_code": None,
    "lease_until": None,
    "is_whole": False,
}


class ScheduleChoices(Struct, frozen=True, kw_only=True):
    """The fields of a schedule that can be changed; the audit stores them, and the ETag is their hash."""

    name: str
    cron: str
    zone: str
    enabled: bool
    overlap: str
    job: JobDocument


class JobInOtherState(GantryError):
    """The state of the job does not allow this."""

    def __init__(self, job: Job, action: str) -> None:
        super().__init__(f"job {job.id} is {job.state}; it cannot be {action}")
        self.job = job


class FilesRemoved(GantryError):
    """The job's files and checkpoints were removed after their retention: it cannot continue where it stopped."""

    def __init__(self, job: Job) -> None:
        at = "" if job.files_removed_at is None else f" on {job.files_removed_at:%Y-%m-%d}"
        super().__init__(
            f"the files of job {job.id} were removed{at}, {settings.GANTRY_JOBS_KEEP_DAYS} days after its end"
        )


class RunWaits(GantryError):
    """A run of the schedule is already queued; it will take the whole range when it starts."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.id} of this schedule is already queued; it will continue from the last success")


class RangeCovered(GantryError):
    """A later run of the schedule has taken over the range of this job."""

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"a later run of the schedule has processed the range of job {job.id}; a retry would process it twice"
        )


@transaction.atomic
def create(
    by: Actor,
    request: Mapping[str, Any],
    *,
    schedule: Schedule | None = None,
    scheduled_for: datetime | None = None,
    parent: Job | None = None,
) -> Job:
    """Queue a job for a checked request; workers get a hint after the transaction has committed."""
    job = Job.objects.create(
        type=request["type"],
        name=request.get("name") or name_of(request),
        cluster=request["cluster"],
        request=dict(request),
        request_hash=hash_of(request),
        counters=as_json(Counters()),
        schedule=schedule,
        scheduled_for=scheduled_for,
        parent=parent,
        created_by_id=by.user_id or (schedule.created_by_id if schedule else None),
        queued_at=timezone.now(),
    )
    record(by, f"{job.type}.start", f"jobs/{job.id}", after={"name": job.name, "request": dict(request)})
    transaction.on_commit(lambda: _announce(job, with_hint=True))
    return job


def cancel(by: Actor, job: Job) -> Job:
    """End a queued job at once, or ask the run of a running job to stop; messages already written stay."""
    with transaction.atomic():
        queued = Job.objects.filter(pk=job.pk, state=JobState.QUEUED)
        running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
        if queued.update(state=JobState.CANCELLED, state_reason=f"cancelled by {by.name}", finished_at=timezone.now()):
            pass
        elif not running.update(cancel_requested=True, state_reason=f"cancelled by {by.name}"):
            job.refresh_from_db()
            raise JobInOtherState(job, "cancelled")
        record(by, f"{job.type}.cancel", f"jobs/{job.id}")
    job.refresh_from_db()
    events.publish(job)
    return job


def retry(by: Actor, job: Job) -> Job:
    """Requeue a job that did not succeed; raise JobInOtherState if it succeeded or is running.

    Raises FilesRemoved after its retention, and RangeCovered if a later run of its schedule has copied its range: a
    retry would copy it twice. The job keeps its row and folder: a replay continues where it stopped and sends no
    message twice.
    """
    if job.files_removed_at is not None:
        raise FilesRemoved(job)
    if _is_covered(job):
        raise RangeCovered(job)
    with transaction.atomic():
        may_go_on = [state for state, following in TRANSITIONS.items() if JobState.QUEUED in following]
        ended = Job.objects.filter(pk=job.pk, state__in=may_go_on, files_removed_at=None).exclude(
            state=JobState.RUNNING
        )
        if not ended.update(state=JobState.QUEUED, queued_at=timezone.now(), deaths=0, **_NOT_ENDED):
            job.refresh_from_db()
            raise JobInOtherState(job, "retried")
        record(by, f"{job.type}.retry", f"jobs/{job.id}")
        job.refresh_from_db()
        transaction.on_commit(lambda: _announce(job, with_hint=True))
    return job


@transaction.atomic
def claim(job_id: str, *, worker: str, host: str) -> Job | None:
    """Make the caller the owner of the job's run.

    Returns None if the job is no longer queued, or has to wait for a free place or for another run of its schedule.
    """
    if not _may_start(job_id):
        return None
    now = timezone.now()
    Job.objects.filter(pk=job_id).update(
        state=JobState.RUNNING,
        run_id=uuid.uuid4(),
        attempt=F("attempt") + 1,
        worker=worker,
        host=host,
        lease_until=now + LEASE,
        started_at=now,
    )
    job = Job.objects.select_related("created_by", "schedule").get(pk=job_id)
    if job.covers_until is None and job.schedule is not None:
        _fill(job, job.schedule, now)
        job.save(update_fields=["request", "request_hash", "covers_until"])
    return job


def _may_start(job_id: str) -> bool:
    """Return whether the job is queued, a place is free, and its schedule has neither an earlier nor a running run.

    No other claim passes here until the transaction ends: in SQLite it holds the write lock, in other databases the
    locks of the rows of all jobs that have not ended.
    """
    active = Job.objects.select_for_update().filter(state__in=ACTIVE_STATES).order_by("pk")
    jobs = {pk: (state, schedule) for pk, state, schedule in active.values_list("pk", "state", "schedule_id")}
    mine = jobs.get(job_id)
    if mine is None or mine[0] != JobState.QUEUED:
        return False
    if sum(state == JobState.RUNNING for state, _ in jobs.values()) >= settings.GANTRY_JOBS_AT_ONCE:
        return False
    # The ranges of a schedule's runs follow one another.
    of_schedule = (
        (pk, state) for pk, (state, schedule) in jobs.items() if schedule is not None and schedule == mine[1]
    )
    return not any(pk < job_id or state == JobState.RUNNING for pk, state in of_schedule)


def _fill(job: Job, schedule: Schedule, now: datetime) -> None:
    """Fill in the range of a schedule's run; a retry of the run keeps it."""
    job.request, job.covers_until = filled(
        job.request, scheduled_at=job.scheduled_for or job.created_at, last_success=last_success(schedule), now=now
    )
    job.request_hash = hash_of(job.request)


def own(job: Job) -> QuerySet[Job]:
    """Return the row of a run while the run still owns it; launchers write only through this query."""
    return Job.objects.filter(pk=job.pk, run_id=job.run_id, state=JobState.RUNNING)


def renew(job: Job) -> bool:
    """Renew the lease of a run; return False if the caller no longer owns it."""
    return bool(own(job).update(lease_until=timezone.now() + LEASE))


def leave(job: Job, reason: str) -> None:
    """Return a run to the queue: another worker continues it."""
    own(job).update(state=JobState.QUEUED, queued_at=timezone.now(), **_NOT_ENDED | {"state_reason": reason})
    job.refresh_from_db()
    events.publish(job)


def finish(job: Job, state: str, reason: str | None, **fields: Any) -> bool:
    """End a run; return False if the caller no longer owned it."""
    if state not in TRANSITIONS[JobState.RUNNING]:
        raise ValueError(f"a running job cannot become {state}")
    ended = {"state": state, "state_reason": reason, "finished_at": timezone.now(), "lease_until": None}
    done = own(job).update(**{"is_whole": state == JobState.SUCCEEDED, **ended, **fields})
    job.refresh_from_db()
    events.publish(job)
    # A place is free: the job that has waited longest may take it.
    for waiting in queued_jobs().values_list("pk", flat=True)[:1]:
        hint(waiting)
    return bool(done)


def finish_cancelled(job: Job, **fields: Any) -> bool:
    """End a run that a user cancelled; the reason in its row names the user."""
    return finish(job, JobState.CANCELLED, f"{job.state_reason}; messages already written stay", **fields)


def finish_dead(job: Job, reason: str, **fields: Any) -> None:
    """Requeue a run whose program or worker died; after two more tries the job fails.

    A replay continues from its last checkpoint and sends no message twice.
    """
    if job.cancel_requested:
        finish_cancelled(job, **fields)
        return
    if job.deaths >= TRIES_AGAIN:
        finish(job, JobState.FAILED, f"{reason}; this happened {job.deaths + 1} times", **fields)
        return
    retried = f"{reason}; it is retried automatically ({job.deaths + 1} of {TRIES_AGAIN})"
    again = {**_NOT_ENDED, "state_reason": retried, "rate": None, "eta_ms": None, "deaths": job.deaths + 1}
    is_mine = own(job).filter(cancel_requested=False).update(state=JobState.QUEUED, queued_at=timezone.now(), **again)
    if not is_mine and own(job).exists():
        # A user cancelled it in the meantime.
        job.refresh_from_db(fields=["cancel_requested", "state_reason"])
        finish_cancelled(job, **fields)
        return
    job.refresh_from_db()
    _announce(job, with_hint=job.state == JobState.QUEUED)


def add_schedule(by: Actor, fields: Mapping[str, Any]) -> Schedule:
    """Add a schedule; its first run is at the first of its times after now. Raises ValidationError for a taken name."""
    schedule = Schedule(**fields, created_by_id=by.user_id)
    schedule.next_run_at = _next_run(schedule)
    with unless_taken(same_name(schedule), name_taken()):
        schedule.save()
        record(by, "schedule.create", f"schedules/{schedule.id}", after=as_json(choices_of(schedule)))
    return schedule


def change_schedule(
    by: Actor, schedule: Schedule, fields: Mapping[str, Any], *, stopped_reason: str | None = None
) -> Schedule:
    """Change a schedule and compute its next run again; raise ValidationError for a taken name.

    A user who resumes it, or changes more than its name while it runs, is from then on the one by whose rights it runs.
    """
    before = choices_of(schedule)
    for name, value in fields.items():
        setattr(schedule, name, value)
    if schedule.enabled or stopped_reason is not None:
        schedule.stopped_reason = stopped_reason
    if schedule.enabled and fields.keys() - {"name"} and by.user_id is not None:
        schedule.created_by_id = by.user_id
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
    """Remove a schedule; its jobs stay."""
    record(by, "schedule.delete", f"schedules/{schedule.id}", before=as_json(choices_of(schedule)))
    schedule.delete()


def run_now(by: Actor, schedule: Schedule) -> Job:
    """Queue a manual run of the schedule; raise RunWaits if a run is already queued."""
    with transaction.atomic():
        # One at a time: two concurrent requests queue one run.
        Schedule.objects.select_for_update().get(pk=schedule.pk)
        waiting = schedule.jobs.filter(state=JobState.QUEUED).first()
        if waiting is not None:
            raise RunWaits(waiting)
        return create_run(by, schedule, None)


def create_run(by: Actor, schedule: Schedule, scheduled_for: datetime | None) -> Job:
    """Queue a run for one of the schedule's times, or a manual run for None; its range is set when it starts."""
    return create(by, schedule.job, schedule=schedule, scheduled_for=scheduled_for)


def last_success(schedule: Schedule) -> datetime:
    """Return the moment up to which the runs of a schedule, including manual ones, have taken its range."""
    found = schedule.jobs.filter(is_whole=True).aggregate(until=Max("covers_until"))["until"]
    return found or schedule.created_at


def _is_covered(job: Job) -> bool:
    """Return whether a later run of its schedule has taken the range of this job."""
    if job.schedule is None or job.covers_until is None or not continues_last_success(job.schedule.job):
        return False
    return last_success(job.schedule) >= job.covers_until


def queued_jobs() -> QuerySet[Job]:
    """Return the jobs that wait for a worker, the oldest first."""
    return Job.objects.filter(state=JobState.QUEUED).order_by("id")


def silent_jobs(now: datetime) -> QuerySet[Job]:
    """Return the jobs whose run has not renewed its lease in time."""
    return Job.objects.filter(Q(state=JobState.RUNNING), Q(lease_until__lt=now) | Q(lease_until=None))


def folder_of(job: Job) -> Any:
    return settings.GANTRY_DATA_DIR / "jobs" / job.id


def _next_run(schedule: Schedule) -> datetime | None:
    if not schedule.enabled:
        return None
    return next_time(timezone.now(), schedule.cron, schedule.zone)


def _announce(job: Job, *, with_hint: bool) -> None:
    events.publish(job)
    if with_hint:
        hint(job.id)


def choices_of(schedule: Schedule) -> ScheduleChoices:
    """Return the fields of a schedule that can be changed."""
    return ScheduleChoices(
        name=schedule.name,
        cron=schedule.cron,
        zone=schedule.zone,
        enabled=schedule.enabled,
        overlap=schedule.overlap,
        job=schedule.job,
    )
