"""A job as people see it, by HTTP and live: one shape for both."""

from __future__ import annotations

import logging
from typing import Any

import redis

from console import live
from console.fields import moment
from console.jobs.models import Job
from console.jobs.progress import counters_of

_log = logging.getLogger(__name__)


def document(job: Job) -> dict[str, Any]:
    """Return the job as JSON's types."""
    return {
        "id": job.id,
        "type": job.type,
        "name": job.name,
        "cluster": job.cluster,
        "state": job.state,
        "cancel_requested": job.cancel_requested,
        "state_reason": job.state_reason,
        "request": job.request,
        "counters": counters_of({"counters": job.counters}),
        "rate": job.rate,
        "eta_ms": job.eta_ms,
        "created_at": moment(job.created_at),
        "started_at": moment(job.started_at) if job.started_at else None,
        "finished_at": moment(job.finished_at) if job.finished_at else None,
        "created_by": job.created_by.get_username() if job.created_by else "system",
        "schedule_id": job.schedule_id,
        "attempt": job.attempt,
        "result": job.result,
        "artefacts": job.artefacts,
        "files_removed_at": moment(job.files_removed_at) if job.files_removed_at else None,
    }


def publish(job: Job) -> None:
    """Tell whoever watches this job, or the list of jobs; without Redis the page asks again by itself."""
    state = document(job)
    try:
        live.publish_sync(live.job(job.id), state)
        live.publish_sync(live.JOBS, {"changed": job.id, "state": job.state})
    except (redis.RedisError, OSError) as error:
        _log.warning("job=%s: not published (%s)", job.id, error)
