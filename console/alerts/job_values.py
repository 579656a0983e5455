"""The figures of jobs and schedules that rules look at; the database holds them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from console.alerts.metrics import Values
from console.jobs.due import delay
from console.jobs.models import Job, JobState, Schedule

_FAILED_WITHIN: Final = timedelta(hours=1)


def read(cluster: str, now: datetime) -> dict[str, Values]:
    """Return the values of the metrics of jobs for one cluster."""
    return {"jobs_failed": failed(cluster, now), "schedule_late_ms": late(cluster, now)}


def failed(cluster: str, now: datetime) -> Values:
    """Return how many runs of each schedule, and of each type of job without one, failed within the last hour."""
    rows = Job.objects.filter(cluster=cluster, finished_at__gt=now - _FAILED_WITHIN)
    names: Counter[str] = Counter()
    for planned, kind, state in rows.values_list("schedule__name", "type", "state"):
        names[planned or kind] += state in (JobState.FAILED, JobState.PARTIAL)
    for schedule in _schedules(cluster):
        names.setdefault(schedule.name, 0)
    return {name: float(count) for name, count in names.items()}


def late(cluster: str, now: datetime) -> Values:
    """Return by how many milliseconds each enabled schedule has missed its time, or its queued run waits.

    What a schedule is delayed on purpose does not count.
    """
    waiting = Job.objects.filter(cluster=cluster, state=JobState.QUEUED, scheduled_for__isnull=False)
    since = dict(waiting.order_by("-scheduled_for").values_list("schedule_id", "scheduled_for"))
    found: dict[str, float | None] = {}
    for schedule in _schedules(cluster):
        due = since.get(schedule.pk) or schedule.next_run_at
        if schedule.enabled and due is not None:
            found[schedule.name] = max(0.0, (now - due - delay(schedule, due)).total_seconds() * 1000)
    return found


def _schedules(cluster: str) -> list[Schedule]:
    return [schedule for schedule in Schedule.objects.all() if schedule.job.get("cluster", "local") == cluster]
