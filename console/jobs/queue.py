"""Sends workers the message "look at this job"; the queue itself is the rows of jobs."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from celery import current_app
from kombu.exceptions import OperationalError

RUN: Final = "console.jobs.tasks.run"
# By then the tick has repeated a hint that no worker took, so hints do not pile up.
_HINT_SECONDS: Final = 30

_log = logging.getLogger(__name__)


def hint(job_id: str, *, after: timedelta = timedelta(0)) -> None:
    """Notify a worker that a job is queued, or will be due then; without Redis a tick finds the job."""
    wait_s = after.total_seconds()
    try:
        current_app.send_task(RUN, (job_id,), countdown=wait_s or None, expires=wait_s + _HINT_SECONDS)
    except OperationalError as error:
        _log.warning("job=%s: no worker was notified (%s); the next tick finds the job", job_id, error)
