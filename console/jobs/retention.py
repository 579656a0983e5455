"""How long the files of a job are kept: log, report, artefacts and checkpoints. Its row stays."""

from __future__ import annotations

import logging
import shutil
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings

from console.jobs import services
from console.jobs.models import ACTIVE_STATES, Job

# How many jobs one step cleans up; the next step continues.
_AT_ONCE: Final = 200

_log = logging.getLogger(__name__)


def step(now: datetime) -> list[Job]:
    """Remove the files of jobs that ended longer ago than GANTRY_JOBS_KEEP_DAYS; return these jobs."""
    ended_before = now - timedelta(days=settings.GANTRY_JOBS_KEEP_DAYS)
    old = Job.objects.filter(finished_at__lt=ended_before, files_removed_at=None).exclude(state__in=ACTIVE_STATES)
    return [job for job in old.order_by("finished_at")[:_AT_ONCE] if _remove(job, now)]


def _remove(job: Job, now: datetime) -> bool:
    """Remove the files of a job unless it was just started again; return False if they cannot be removed now."""
    if not Job.objects.filter(pk=job.pk, finished_at=job.finished_at).update(files_removed_at=now):
        return False
    try:
        shutil.rmtree(services.folder_of(job))
    except FileNotFoundError:
        pass
    except OSError as error:
        _log.warning("job=%s: its files could not be removed: %s", job.id, error)
        Job.objects.filter(pk=job.pk).update(files_removed_at=None)
        return False
    return True
