"""All changes of jobs: this module checks the transitions and writes what users do to the audit."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from console.audit.record import Actor, record
from console.fields import moment
from console.jobs import covering, endings, events, owners, turns
from console.jobs.errors import FilesRemoved, JobInOtherState, NothingLeft, RangeCovered, ScheduleGone
from console.jobs.models import LEASE, Job, JobState, JobType, Schedule, StateCode
from console.jobs.progress import first_counters
from console.jobs.queue import hint
from console.jobs.queue_limit import check_room
from console.jobs.requests import hash_of, name_of, waits_for_schedule
from console.jobs.requests.replay import is_file
from console.shapes import as_json

WAITS: Final = (timedelta(seconds=5), timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=5))
"""How long a job waits for its first, second … automatic retry; the last one counts for all later ones."""

TRANSITIONS: Final[dict[str, frozenset[str]]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.PAUSED, JobState.FAILED, JobState.CANCELLED}),
    JobState.RUNNING: frozenset(JobState) - {JobState.RUNNING},
    JobState.PAUSED: frozenset({JobState.QUEUED, JobState.CANCELLED}),
    JobState.PARTIAL: frozenset({JobState.QUEUED}),
    JobState.FAILED: frozenset({JobState.QUEUED}),
    JobState.CANCELLED: frozenset({JobState.QUEUED}),
    JobState.SUCCEEDED: frozenset(),
}
_PASSED: Final = (StateCode.SOME_FAILED, StateCode.SOME_DAMAGED, StateCode.NONE_WRITTEN)
_RETRIED: Final = (JobState.PARTIAL, JobState.FAILED, JobState.CANCELLED)

_STILL: Final[dict[str, Any]] = {"rate": None, "eta_ms": None}
"""A job that does not run."""

NOT_ENDED: Final[dict[str, Any]] = {
    "cancel_requested": False,
    "pause_requested": False,
    "state_reason": None,
    "state_code": None,
    "finished_at": None,
    "exit_code": None,
    "lease_until": None,
    "is_whole": False,
    "next_try_at": None,
}


@transaction.atomic
def create(
    by: Actor,
    request: Mapping[str, Any],
    *,
    schedule: Schedule | None = None,
    scheduled_for: datetime | None = None,
    parent: Job | None = None,
) -> Job:
    """Queue a job for a checked request; workers get a hint after the transaction has committed.

    Raises QueueFull at the limit of all jobs, or at that of the user by whose rights it runs.
    """
    starter = owners.starter(by, schedule)
    check_room(starter["started_by_id"])
    job = Job.objects.create(
        type=request["type"],
        name=request.get("name") or name_of(request),
        cluster=request["cluster"],
        request=dict(request),
        request_hash=hash_of(request),
        counters=as_json(first_counters(request)),
        schedule=schedule,
        scheduled_for=scheduled_for,
        parent=parent,
        created_by_id=by.user_id or (schedule.created_by_id if schedule else None),
        **starter,
        queued_at=timezone.now(),
    )
    record(by, f"{job.type}.start", f"jobs/{job.id}", after={"name": job.name, "request": dict(request)})
    transaction.on_commit(lambda: _announce(job))
    return job


def cancel(by: Actor, job: Job) -> Job:
    """End a queued or paused job at once, or ask the run of a running job to stop; messages already written stay."""
    with transaction.atomic():
        waiting = Job.objects.filter(pk=job.pk, state__in=(JobState.QUEUED, JobState.PAUSED))
        running = Job.objects.filter(pk=job.pk, state=JobState.RUNNING)
        why = {"state_reason": f"cancelled by {by.name}", "state_code": StateCode.CANCELLED}
        ended = {"state": JobState.CANCELLED, "finished_at": timezone.now(), "next_try_at": None}
        if waiting.update(**ended, **why):
            pass
        elif not running.update(cancel_requested=True, **why):
            job.refresh_from_db()
            raise JobInOtherState(job, "cancelled")
        record(by, f"{job.type}.cancel", f"jobs/{job.id}")
        # Others may have waited for its turn.
        transaction.on_commit(turns.hint_next)
    job.refresh_from_db()
    events.publish(job)
    return job


def retry(by: Actor, job: Job) -> Job:
    """Requeue a job that did not succeed, or start one at once that waits for its automatic retry.

    Raises JobInOtherState for any other job, FilesRemoved after its retention, NothingLeft for a replay that has passed
    all of its range, RangeCovered if a later run of its
    schedule has copied its range: a retry would copy it twice, ScheduleGone if nobody can set its range, and QueueFull
    as `create`. The job keeps its row and folder: a replay continues where it stopped and sends no message twice. It
    has all of its time again.
    """
    if job.files_removed_at is not None:
        raise FilesRemoved(job)
    if _has_passed_all(job):
        raise NothingLeft(job)
    if covering.is_covered(job):
        raise RangeCovered(job)
    if job.schedule is None and waits_for_schedule(job.request):
        raise ScheduleGone(job)
    with transaction.atomic():
        waits = Q(state=JobState.QUEUED, next_try_at__isnull=False)
        mine = Job.objects.filter(waits | Q(state__in=_RETRIED), pk=job.pk, files_removed_at=None)
        found = mine.select_for_update().first()
        if found is None:
            job.refresh_from_db()
            raise JobInOtherState(job, "retried")
        check_room(by.user_id, found)
        anew = {"state": JobState.QUEUED, "queued_at": timezone.now(), "retries": 0, "worked_ms": 0}
        mine.update(**anew, **owners.starter(by), **NOT_ENDED)
        record(by, f"{job.type}.retry", f"jobs/{job.id}")
        job.refresh_from_db()
        transaction.on_commit(lambda: _announce(job))
    return job


def _has_passed_all(job: Job) -> bool:
    """Return whether a replay has read its range to the end, however much it left out; one to a file begins anew."""
    is_copy = job.type == JobType.REPLAY and not is_file(job.request.get("target") or {})
    return is_copy and job.state in _RETRIED and job.state_code in _PASSED


@transaction.atomic
def claim(job_id: str, *, worker: str, host: str) -> Job | None:
    """Make the caller the owner of the job's run.

    Returns None if the job is no longer queued, or if it is not its turn. A job that its user may not start any more
    fails.
    """
    if not turns.may_start(job_id):
        return None
    now = timezone.now()
    waiting = Job.objects.get(pk=job_id)
    reason = owners.why_job_may_not_start(waiting)
    if reason is not None:
        _refuse_start(job_id, reason, now)
        return None
    Job.objects.filter(pk=job_id).update(
        state=JobState.RUNNING,
        run_id=uuid.uuid4(),
        attempt=F("attempt") + 1,
        worker=worker,
        host=host,
        lease_until=now + LEASE,
        started_at=now,
        planned_at=waiting.planned_at if waiting.plan.exists() else now,
        next_try_at=None,
        # Why it waited, or how its last try ended.
        state_reason=None,
        state_code=None,
        # What its last try found; this one has no report yet.
        result=None,
        artefacts=[],
    )
    job = Job.objects.select_related("created_by", "schedule").get(pk=job_id)
    if job.covers_until is None and job.schedule is not None:
        covering.fill(job, job.schedule, now)
        job.save(update_fields=["request", "request_hash", "covers_until"])
    return job


def _refuse_start(job_id: str, reason: str, now: datetime) -> None:
    """End a job whose user lost a right, or whose token is gone, since it was queued; it is not retried by itself."""
    why = {"state_reason": reason, "state_code": StateCode.RIGHTS_LOST}
    Job.objects.filter(pk=job_id).update(state=JobState.FAILED, finished_at=now, next_try_at=None, **why)
    job = Job.objects.select_related("created_by", "schedule").get(pk=job_id)
    record(Actor.system("worker"), f"{job.type}.start", f"jobs/{job.id}", result="refused", after={"reason": reason})
    _after_run(job)
    endings.tell(job)


def _after_run(job: Job) -> None:
    """Show the job as it is now, and give its place to the next one."""
    transaction.on_commit(lambda: events.publish(job))
    transaction.on_commit(turns.hint_next)


def own(job: Job) -> QuerySet[Job]:
    """Return the row of a run while the run still owns it; launchers write only through this query."""
    return Job.objects.filter(pk=job.pk, run_id=job.run_id, state=JobState.RUNNING)


def renew(job: Job) -> bool:
    """Renew the lease of a run; return False if the caller no longer owns it."""
    job.lease_until = timezone.now() + LEASE
    return bool(own(job).update(lease_until=job.lease_until))


def finish(job: Job, state: str, reason: str | None, **fields: Any) -> bool:
    """End a run; return False if the caller no longer owned it."""
    if state not in TRANSITIONS[JobState.RUNNING]:
        raise ValueError(f"a running job cannot become {state}")
    ended = {"state": state, "state_reason": reason, "finished_at": timezone.now(), "lease_until": None}
    done = own(job).update(**{"is_whole": state == JobState.SUCCEEDED, **ended, **_STILL, **fields})
    job.refresh_from_db()
    _after_run(job)
    if done:
        endings.tell(job)
    return bool(done)


def finish_cancelled(job: Job, **fields: Any) -> bool:
    """End a run that a user cancelled; the reason in its row names the user."""
    ended = {**fields, "state_code": StateCode.CANCELLED}
    return finish(job, JobState.CANCELLED, f"{job.state_reason}; messages already written stay", **ended)


def put_back(job: Job, reason: str | None = None, **fields: Any) -> None:
    """End a run whose job is not done: it is cancelled or paused if a user wants that, and else queued again."""
    with transaction.atomic():
        if not _is_mine(job):
            return
        if job.cancel_requested:
            finish_cancelled(job, **fields)
        elif job.pause_requested:
            _rest(job, JobState.PAUSED, job.state_reason, **{**fields, "state_code": StateCode.PAUSED})
        else:
            _rest(job, JobState.QUEUED, reason, **fields)


def finish_dead(job: Job, reason: str, **fields: Any) -> None:
    """Requeue a run that a later try may finish: its program or worker died, or no broker was reached.

    Each retry waits longer than the one before; after `max_retries` the job fails.
    A replay continues from its last checkpoint and sends no message twice. A cancel or pause by a user wins.
    """
    with transaction.atomic():
        if not _is_mine(job):
            return
        if job.cancel_requested or job.pause_requested:
            put_back(job, **fields)
        elif job.retries >= job.max_retries:
            times = f"; this happened {job.retries + 1} times" if job.retries else ""
            finish(job, JobState.FAILED, f"{reason}{times}", **fields)
        else:
            wait = WAITS[min(job.retries, len(WAITS) - 1)]
            tries, at = f"attempt {job.retries + 2} of {job.max_retries + 1}", timezone.now() + wait
            retried = f"{tries}, starts at {moment(at)}; the last one ended because {reason}"
            _rest(job, JobState.QUEUED, retried, try_at=at if wait else None, **{**fields, "retries": job.retries + 1})


def _is_mine(job: Job) -> bool:
    """Lock the row of a run and read what a user wants of it; return False if the caller no longer owns it."""
    mine = own(job).select_for_update().exists()
    job.refresh_from_db()
    return mine


def _rest(job: Job, state: str, reason: str | None, *, try_at: datetime | None = None, **fields: Any) -> None:
    """End a run whose job goes on later: paused, or queued for the next free place, not before `try_at`."""
    now = timezone.now()
    gone = {**_STILL, "pid": None, "queued_at": now}
    why = {"state_reason": reason, "state_code": fields.get("state_code")}
    ended = {**NOT_ENDED, **why, "state": state, "next_try_at": try_at}
    own(job).update(**{**fields, **gone, **ended})
    job.refresh_from_db()
    if state == JobState.QUEUED:
        transaction.on_commit(lambda: hint(job.id, after=timedelta(0) if try_at is None else try_at - now))
    _after_run(job)


def silent_jobs(now: datetime) -> QuerySet[Job]:
    """Return the jobs whose run has not renewed its lease in time."""
    return Job.objects.filter(Q(state=JobState.RUNNING), Q(lease_until__lt=now) | Q(lease_until=None))


def worked_by(job: Job) -> int:
    """Return for how many ms a silent job has worked, up to when its run was last heard of."""
    if job.started_at is None or job.lease_until is None:
        return job.worked_ms
    return job.worked_ms + max(0, int((job.lease_until - LEASE - job.started_at).total_seconds() * 1000))


def folder_of(job: Job) -> Any:
    return job.folder


def _announce(job: Job) -> None:
    events.publish(job)
    hint(job.id)
