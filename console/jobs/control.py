"""What users do to a job that has not ended: pause it, resume it, change its limits; and how its program hears of that.

The launcher writes ``control.json`` into the job's folder (broker_core/spark/README.md#job-folder).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson
from django.db import transaction
from django.utils import timezone
from msgspec import Struct

from console.audit.record import Actor, record
from console.jobs import covering, events, owners, turns
from console.jobs.errors import JobInOtherState, RangeCovered
from console.jobs.limits import limits_of
from console.jobs.models import ACTIVE_STATES, Job, JobState, StateCode
from console.jobs.queue import hint
from console.jobs.queue_limit import check_room
from console.jobs.services import NOT_ENDED
from console.shapes import as_json

FILE: Final = "control.json"


class Control(Struct, frozen=True, kw_only=True):
    """The content of ``control.json``; both values are in force."""

    pause: bool = False
    messages_per_second: int | None = None


def pause(by: Actor, job: Job) -> Job:
    """Pause a queued job at once, or ask the run of a running job to stop where `resume` goes on.

    Raises JobInOtherState for a job that has ended or is being cancelled.
    """
    mine = Job.objects.filter(pk=job.pk, cancel_requested=False)
    why = {"state_reason": f"paused by {by.name}", "state_code": StateCode.PAUSED}
    with transaction.atomic():
        queued = mine.filter(state=JobState.QUEUED).update(state=JobState.PAUSED, next_try_at=None, **why)
        running = mine.filter(state=JobState.RUNNING).update(pause_requested=True, **why)
        if not queued and not running:
            job.refresh_from_db()
            raise JobInOtherState(job, "paused")
        record(by, f"{job.type}.pause", f"jobs/{job.id}")
        # Others may have waited for its turn.
        transaction.on_commit(turns.hint_next)
    return _shown(job)


def resume(by: Actor, job: Job) -> Job:
    """Queue a paused job again; it goes on where it stopped. A job that is being paused goes on at once.

    Raises JobInOtherState for any other job, and for one that is being cancelled, RangeCovered if a later run of its
    schedule has processed its range, and QueueFull if no more jobs may wait.
    """
    if covering.is_covered(job):
        raise RangeCovered(job)
    mine = Job.objects.filter(pk=job.pk)
    with transaction.atomic():
        paused = mine.filter(state=JobState.PAUSED).select_for_update().first()
        running = mine.filter(state=JobState.RUNNING, pause_requested=True, cancel_requested=False)
        if paused is not None:
            check_room(by.user_id, paused)
            anew = {"state": JobState.QUEUED, "queued_at": timezone.now(), "retries": 0}
            mine.update(**anew, **owners.starter(by), **NOT_ENDED)
        elif not running.update(pause_requested=False, state_reason=None, state_code=None):
            job.refresh_from_db()
            raise JobInOtherState(job, "resumed")
        record(by, f"{job.type}.resume", f"jobs/{job.id}")
        transaction.on_commit(lambda: hint(job.id))
    return _shown(job)


def change_limits(by: Actor, job: Job, limits: Mapping[str, Any]) -> Job:
    """Change limits of a job that has not ended: they are in force within a second.

    Raises JobInOtherState for a job that has ended.
    """
    with transaction.atomic():
        mine = Job.objects.select_for_update().get(pk=job.pk)
        if mine.state not in ACTIVE_STATES:
            raise JobInOtherState(mine, "changed")
        before = {**(mine.request.get("limits") or {}), **mine.limits}
        mine.limits = {**mine.limits, **limits}
        mine.save(update_fields=["limits"])
        changed = {name: before.get(name) for name in limits}
        record(by, f"{job.type}.limits", f"jobs/{job.id}", before=changed, after=dict(limits))
    return _shown(job)


def wanted(job: Job) -> Control | None:
    """Return what the program of a job has to be told; None while it is what its request says."""
    if not job.pause_requested and not job.limits:
        return None
    limits = limits_of(job)
    return Control(pause=job.pause_requested, messages_per_second=limits.messages_per_second if limits else None)


def write(folder: Path, control: Control | None) -> None:
    """Replace the file in one step, so that a program never reads half of it; None removes it."""
    if control is None:
        (folder / FILE).unlink(missing_ok=True)
        return
    beside = folder / f"{FILE}.part"
    beside.write_bytes(orjson.dumps(as_json(control)))
    beside.replace(folder / FILE)


def _shown(job: Job) -> Job:
    job.refresh_from_db()
    events.publish(job)
    return job
