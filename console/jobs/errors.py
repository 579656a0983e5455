"""Why something cannot be done to a job; the API refuses it with these sentences."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from broker_core.errors import GantryError
from console.errors import Conflict
from console.jobs.models import Job, JobState


class JobInOtherState(GantryError):
    """The state of the job does not allow this."""

    def __init__(self, job: Job, action: str) -> None:
        state = "being cancelled" if job.cancel_requested and job.state == JobState.RUNNING else job.state
        super().__init__(f"job {job.id} is {state}; it cannot be {action}")
        self.job = job


class QueueFull(Conflict):
    """As many jobs wait as may wait: of all users, or of this one (`of_user`, how many)."""

    default_code = "job_queue_full"

    def __init__(self, *, of_user: int | None = None) -> None:
        reached = f"{settings.GANTRY_JOBS_QUEUED} jobs wait already, and no more are taken (GANTRY_JOBS_QUEUED)"
        if of_user is not None:
            most = f"{settings.GANTRY_JOBS_QUEUED_PER_USER} of one user may (GANTRY_JOBS_QUEUED_PER_USER)"
            reached = f"{of_user} of your jobs wait already, and at most {most}"
        super().__init__(f"{reached}; try again when some have ended, or cancel some.")


class FilesRemoved(GantryError):
    """The job's files and checkpoints were removed after their retention: it cannot continue where it stopped."""

    def __init__(self, job: Job) -> None:
        at = "" if job.files_removed_at is None else f" on {job.files_removed_at:%Y-%m-%d}"
        super().__init__(f"the files of job {job.id} were removed{at}, {why_removed(job)}")


class NothingLeft(GantryError):
    """A replay has passed all of its range: what it left out, a retry would not read again."""

    def __init__(self, job: Job) -> None:
        way = f"; POST /jobs/{job.id}:replay_missing replays those" if job.counters.get("failed") else ""
        super().__init__(f"job {job.id} has read all of its range, and a retry leaves out the same messages{way}")


class RangeCovered(GantryError):
    """A later run of the schedule has taken over the range of this job."""

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"a later run of the schedule has processed the range of job {job.id}; a retry would process it twice"
        )


class ScheduleGone(GantryError):
    """The schedule that would have set the range of this job was deleted before its first run."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"job {job.id} never began, and its schedule, which would have set its range, was deleted")


def why_removed(job: Job) -> str:
    """Return why the files of a job were removed: for their age, or since the files of all jobs took too much."""
    kept = timedelta(days=settings.GANTRY_JOBS_KEEP_DAYS)
    removed, ended = job.files_removed_at, job.finished_at
    if removed is not None and ended is not None and removed - ended < kept:
        return f"since the files of all jobs had more than {settings.GANTRY_JOBS_KEEP_MIB:,} MiB"
    return f"{kept.days} days after its end"
