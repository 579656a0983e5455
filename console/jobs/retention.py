"""How long the files of a job are kept: log, report, artefacts and checkpoints. Its row stays."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db.models import QuerySet

from console.jobs import services
from console.jobs.models import ACTIVE_STATES, Job

# How many jobs one step cleans up; the next step continues.
_AT_ONCE: Final = 200

_log = logging.getLogger(__name__)


def step(now: datetime) -> list[Job]:
    """Remove the files of jobs that ended longer ago than GANTRY_JOBS_KEEP_DAYS, and of the oldest while all ended
    jobs together keep more than GANTRY_JOBS_KEEP_MIB; return these jobs."""
    ended_before = now - timedelta(days=settings.GANTRY_JOBS_KEEP_DAYS)
    old = _with_files().filter(finished_at__lt=ended_before).order_by("finished_at")[:_AT_ONCE]
    return [job for job in [*old, *_too_much(ended_before)] if _remove(job, now)]


def _too_much(ended_since: datetime) -> list[Job]:
    """Return the jobs that ended first, as many as have what is too much."""
    newest = list(_with_files().filter(finished_at__gte=ended_since).order_by("-finished_at"))
    kept, most = 0, settings.GANTRY_JOBS_KEEP_MIB << 20
    for index, job in enumerate(newest):
        kept += _size_of(services.folder_of(job))
        # The newest job has its files however large they are: nobody has seen them yet.
        if kept > most and index:
            return newest[index:][::-1]
    return []


def _with_files() -> QuerySet[Job]:
    return Job.objects.filter(finished_at__isnull=False, files_removed_at=None).exclude(state__in=ACTIVE_STATES)


def _size_of(folder: Path) -> int:
    """Return how many bytes of disk a folder takes."""
    found = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                found += (Path(path) / name).lstat().st_blocks * 512
    return found


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
