"""The figures of jobs and schedules that rules look at; the database holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Q, Sum
from msgspec import Struct

from console.alerts.metrics import Values
from console.jobs.due import delay
from console.jobs.models import Job, JobState, JobType, RunOutcome, Schedule, ScheduleRun

_WITHIN: Final = timedelta(hours=1)
_REMEMBERED: Final = timedelta(days=30)
# Of this many ended jobs, the newest, the figures are known: they are read every two seconds.
_MOST_JOBS: Final = 5_000
_ENDS: Final = (JobState.SUCCEEDED, JobState.PARTIAL, JobState.FAILED)
_NO_DIFFERENCES: Final = ("matched", "rows_", "damaged_", "keyless_")
"""The tiles of a report that count no difference, or how they begin: what is damaged makes the job partial."""


class EndedJob(Struct, frozen=True, kw_only=True):
    """The job that an alert is about: the newest one of its subject that has ended."""

    id: str
    state: str
    reason: str | None


def read(cluster: str, now: datetime) -> dict[str, Values]:
    """Return the values of the metrics of jobs for one cluster."""
    return {
        "jobs_failed": failed(cluster, now),
        "jobs_failed_in_row": failed_in_row(cluster, now),
        "job_differences": differences(cluster, now),
        "schedule_late_ms": late(cluster, now),
        "schedule_missed": missed(cluster, now),
    }


def failed(cluster: str, now: datetime) -> Values:
    """Return how many runs of each schedule, and of each type of job without one, failed within the last hour."""
    rows = Job.objects.filter(cluster=cluster, finished_at__gt=now - _WITHIN)
    names: Counter[str] = Counter()
    for planned, kind, state in rows.values_list("schedule__name", "type", "state"):
        names[planned or kind] += state in (JobState.FAILED, JobState.PARTIAL)
    for schedule in _schedules(cluster):
        names.setdefault(schedule.name, 0)
    return {name: float(count) for name, count in names.items()}


def failed_in_row(cluster: str, now: datetime) -> Values:
    """Return how many runs of each schedule, and of each type of job without one, failed since the last success."""
    names: Counter[str] = Counter()
    for planned, kind, state in _ended(cluster, now, "schedule__name", "type", "state"):
        name = planned or kind
        names[name] = 0 if state == JobState.SUCCEEDED else names[name] + 1
    return {name: float(count) for name, count in names.items()}


def differences(cluster: str, now: datetime) -> Values:
    """Return how many keys differed in the newest reconciliation of each schedule, and of those without one."""
    found: dict[str, float | None] = {}
    for planned, kind, tiles in _ended(cluster, now, "schedule__name", "type", "result__tiles"):
        if kind == JobType.RECONCILE and tiles is not None:
            found[planned or kind] = float(sum(n for name, n in tiles.items() if not name.startswith(_NO_DIFFERENCES)))
    return found


def missed(cluster: str, now: datetime) -> Values:
    """Return how many times of each schedule were found to be missed within the last hour."""
    rows = ScheduleRun.objects.filter(outcome=RunOutcome.MISSED, created_at__gt=now - _WITHIN)
    counts = dict(rows.order_by().values_list("schedule_id").annotate(Sum("times")))
    return {schedule.name: float(counts.get(schedule.pk, 0)) for schedule in _schedules(cluster)}


def newest_job(cluster: str, subject: str) -> EndedJob | None:
    """Return the job that ended last of a schedule, or of a type of job without one."""
    own = Q(schedule__name=subject) | Q(schedule=None, type=subject)
    rows = Job.objects.filter(own, cluster=cluster, state__in=_ENDS).order_by("-finished_at")
    found = rows.only("id", "state", "state_reason").first()
    return None if found is None else EndedJob(id=found.id, state=found.state, reason=found.state_reason)


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


def _ended(cluster: str, now: datetime, *fields: str) -> Iterator[tuple[Any, ...]]:
    """Yield these fields of the jobs that ended lately, the oldest first; not those that a user cancelled."""
    rows = Job.objects.filter(cluster=cluster, finished_at__gt=now - _REMEMBERED, state__in=_ENDS)
    newest: list[tuple[Any, ...]] = list(rows.order_by("-finished_at").values_list(*fields)[:_MOST_JOBS])
    yield from newest[::-1]


def _schedules(cluster: str) -> list[Schedule]:
    return [schedule for schedule in Schedule.objects.all() if schedule.job.get("cluster", "local") == cluster]
