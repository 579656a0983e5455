"""Why a running job is ended that nobody cancelled: for want of rights, of time or of room on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from console.jobs import owners
from console.jobs.models import Job, StateCode
from console.jobs.time_limit import Stopwatch


class Interruption(NamedTuple):
    """Why a job is ended."""

    code: StateCode
    reason: str


def of_rights(job: Job) -> Interruption | None:
    """Return why it is ended for a right that its user has lost."""
    reason = owners.why_job_must_stop(job)
    return None if reason is None else Interruption(StateCode.RIGHTS_LOST, reason)


def of_time(stopwatch: Stopwatch) -> Interruption | None:
    """Return why it is ended for the time that it has worked."""
    limit = stopwatch.reached
    return None if limit is None else Interruption(StateCode.TIME_LIMIT, limit.reason)


def of_disk(folder: Path) -> Interruption | None:
    """Return why it is ended for want of room where its files are, which it shares with all jobs, perhaps a broker."""
    least, free = settings.GANTRY_JOBS_FREE_MIB, shutil.disk_usage(folder).free >> 20
    if free >= least:
        return None
    reason = f"{free:,} MiB are free on the disk with the files of jobs, and {least:,} must stay (GANTRY_JOBS_FREE_MIB)"
    return Interruption(StateCode.DISK_FULL, reason)
