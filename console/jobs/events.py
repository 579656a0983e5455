"""Tells the pages that watch a job, live."""

from __future__ import annotations

import logging

import redis

from console import live
from console.jobs.models import Job
from console.jobs.shapes import shape_of

_log = logging.getLogger(__name__)


def publish(job: Job) -> None:
    """Publish the job to who watches it, or the list of jobs; without Redis the page asks again by itself."""
    try:
        live.publish_sync(live.job(job.id), shape_of(job))
        live.publish_sync(live.JOBS, {"changed": job.id, "state": job.state})
    except (redis.RedisError, OSError) as error:
        _log.warning("job=%s: not published (%s)", job.id, error)
