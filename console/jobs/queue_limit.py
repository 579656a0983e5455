"""How many jobs may wait: in all, and of one user."""

from __future__ import annotations

from django.conf import settings

from console.jobs.errors import QueueFull
from console.jobs.models import Job, JobState


def check_room(user_id: int | None, job: Job | None = None) -> None:
    """Raise QueueFull if no more jobs may wait for a place; the share of a user leaves room for the others.

    A `job` that is queued again takes room as a new one does, unless it has it already: it waits for its next try.
    """
    queued = Job.objects.filter(state=JobState.QUEUED)
    is_queued = job is not None and job.state == JobState.QUEUED
    if not is_queued and queued.count() >= settings.GANTRY_JOBS_QUEUED:
        raise QueueFull
    if user_id is None or (job is not None and is_queued and job.started_by_id == user_id):
        return
    mine = queued.filter(started_by_id=user_id).count()
    if mine >= settings.GANTRY_JOBS_QUEUED_PER_USER:
        raise QueueFull(of_user=mine)
