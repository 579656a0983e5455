"""Publishes changes of jobs to the pages that show them."""

from __future__ import annotations

import logging

import redis

from console import live
from console.jobs.models import Job
from console.jobs.shapes import shape_of

_log = logging.getLogger(__name__)


def publish(job: Job) -> None:
    """Publish the job to the pages of this job and of the list; without Redis the pages poll."""
    try:
        live.publish_sync(live.job(job.id), shape_of(job))
        live.publish_sync(live.JOBS, {"changed": job.id, "state": job.state})
    except (redis.RedisError, OSError) as error:
        _log.warning("job=%s: not published (%s)", job.id, error)
