"""Publishes changes of jobs to the pages that show them."""

from __future__ import annotations

import logging

import redis
from msgspec import Struct

from console import live
from console.jobs.models import Job, JobState
from console.jobs.progress import Counters
from console.jobs.shapes import JobShape, shape_of
from console.shapes import as_json

_log = logging.getLogger(__name__)


class JobLine(Struct, frozen=True, kw_only=True):
    """What a list shows of a job that changed."""

    changed: str
    state: JobState
    counters: Counters
    rate: float | None
    eta_ms: int | None


def line_of(job: JobShape) -> JobLine:
    """Return what the frames of all jobs say of one."""
    return JobLine(changed=job.id, state=job.state, counters=job.counters, rate=job.rate, eta_ms=job.eta_ms)


def publish(job: Job) -> None:
    """Publish the job to the pages of this job and of the list; without Redis the pages poll."""
    try:
        shape = shape_of(job)
        live.publish_sync(live.job(job.id), shape)
        live.publish_sync(live.JOBS, as_json(line_of(shape)))
    except (redis.RedisError, OSError) as error:
        _log.warning("job=%s: not published (%s)", job.id, error)
