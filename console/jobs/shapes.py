"""A job as the HTTP API and the live frames show it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from django.utils import timezone
from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.fields import moment
from console.jobs.bounded_log import shown_bytes
from console.jobs.limits import JobLimits, eta_of, limits_of
from console.jobs.models import LEASE, Job, JobDocument, JobState, JobType, StateCode
from console.jobs.progress import Counters
from console.jobs.time_limit import time_limit_of
from console.moments import Moment

_SILENT: Final = timedelta(seconds=10)
"""After that nobody knows what a run does; its worker renews the lease every five seconds."""


@decoded
class Artefact(Struct, frozen=True, kw_only=True):
    """A file that a job produced."""

    name: str
    kind: str
    bytes: int


class JobShape(Struct, frozen=True, kw_only=True):
    """A job."""

    id: str
    type: JobType
    name: str
    cluster: str
    state: JobState
    cancel_requested: Annotated[bool, Meta(description="Whether its run was asked to stop.")]
    pause_requested: Annotated[bool, Meta(description="Whether its run was asked to pause.")]
    state_reason: str | None
    state_code: Annotated[
        StateCode | None,
        Meta(
            description="The same as one word: why it is in its state, or why the last try of a queued job ended. "
            "Null while it needs none, and for what an earlier release ended."
        ),
    ]
    dry_run: Annotated[bool, Meta(description="Whether it only tells what it would do, and writes no message.")]
    request: JobDocument
    limits: Annotated[
        JobLimits | None,
        Meta(description="The limits in force, changed or not; null for a job without a rate."),
    ]
    max_minutes: Annotated[
        int | None,
        Meta(description="How long it may work, by its request or GANTRY_JOBS_MINUTES; null is no limit."),
    ]
    counters: Counters
    rate: Annotated[
        float | None,
        Meta(description="Messages a second; null while nobody knows, as of a run whose worker is silent."),
    ]
    eta_ms: int | None
    created_at: Moment
    started_at: Annotated[Moment | None, Meta(description="When its latest run began.")]
    planned_at: Annotated[
        Moment | None,
        Meta(
            description="When the run began that made its plan: a range without an end ends where its topic ended "
            "then. A replay that is resumed or retried keeps its plan. Null before the first run, and where an earlier "
            "release did not note it."
        ),
    ]
    worked_ms: Annotated[
        int,
        Meta(
            description="How long its runs that have ended took since a user last started it, without pauses and "
            "waits. While it runs, the time since `started_at` comes on top."
        ),
    ]
    finished_at: Moment | None
    created_by: str
    schedule_id: str | None
    attempt: int
    retries: Annotated[int, Meta(description="Automatic retries since a user last started it.")]
    max_retries: int
    next_try_at: Annotated[Moment | None, Meta(description="When it is retried automatically.")]
    result: dict[str, Any] | None
    artefacts: list[Artefact]
    log_bytes: Annotated[
        int | None,
        Meta(
            description="The size of its log, which `GET /jobs/{id}/log` has; null where there is none on this machine."
        ),
    ]
    files_removed_at: Annotated[
        Moment | None, Meta(description="When log, report and files were removed after their retention.")
    ]


def shape_of(job: Job) -> JobShape:
    """Return a job as it is shown; how fast it is, only while its worker tells that."""
    is_heard = _is_heard(job)
    return JobShape(
        id=job.id,
        type=JobType(job.type),
        name=job.name,
        cluster=job.cluster,
        state=JobState(job.state),
        cancel_requested=job.cancel_requested,
        pause_requested=job.pause_requested,
        state_reason=job.state_reason,
        state_code=StateCode(job.state_code) if job.state_code else None,
        dry_run=bool(job.request.get("dry_run")),
        request=job.request,
        limits=limits_of(job),
        max_minutes=limit.minutes if (limit := time_limit_of(job)) else None,
        counters=msgspec.convert(job.counters, Counters),
        rate=job.rate if is_heard else None,
        eta_ms=eta_of(job) if is_heard else None,
        created_at=moment(job.created_at),
        started_at=moment(job.started_at) if job.started_at else None,
        planned_at=moment(job.planned_at) if job.planned_at else None,
        worked_ms=job.worked_ms,
        finished_at=moment(job.finished_at) if job.finished_at else None,
        created_by=job.created_by.get_username() if job.created_by else "system",
        schedule_id=job.schedule_id,
        attempt=job.attempt,
        retries=job.retries,
        max_retries=job.max_retries,
        next_try_at=moment(job.next_try_at) if job.next_try_at else None,
        result=job.result,
        artefacts=msgspec.convert(job.artefacts, list[Artefact]),
        log_bytes=_size_of(job.folder / "log"),
        files_removed_at=moment(job.files_removed_at) if job.files_removed_at else None,
    )


def _is_heard(job: Job) -> bool:
    """Return whether the worker of a run has renewed its lease lately: else nobody measures what it does."""
    return job.lease_until is not None and timezone.now() < job.lease_until - LEASE + _SILENT


def _size_of(file: Path) -> int | None:
    try:
        return shown_bytes(file)
    except FileNotFoundError:
        return None
