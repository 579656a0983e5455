"""Whose turn it is: which queued jobs may begin now, and in which order the others follow.

The user with the fewest jobs at work is next, so that a user who queues many does not keep the places from the others.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from heapq import heapify, heappop, heappush
from typing import Final

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from console.jobs.models import ACTIVE_STATES, Job, JobState
from console.jobs.queue import hint
from console.jobs.shares import most_running

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ActiveJob:
    """What the turns depend on of a job that has not ended; the user is the one by whose rights it runs."""

    id: str
    state: str
    user: int | None
    schedule: str | None
    queued_at: datetime | None
    next_try_at: datetime | None


class HeldBy(StrEnum):
    """What a queued job waits for that is not a place."""

    NEXT_TRY = "next_try"
    SCHEDULE_RUN = "schedule_run"
    SHARE = "share"


HELD_BY: Final = tuple(HeldBy)


@dataclass(frozen=True, slots=True)
class Held:
    """A queued job that would not begin on a free place: until when, if that is known, or behind which other job."""

    job: ActiveJob
    by: HeldBy
    until: datetime | None = None
    behind: str | None = None


def in_turn(active: Iterable[ActiveJob], began: Mapping[int | None, datetime], now: datetime) -> list[ActiveJob]:
    """Return the queued jobs that could begin if there were places, the next one first.

    The next is one of the user with the fewest jobs that run or come before it; of equals, of the one who began a job
    longest ago (`began`), and then the one queued first. Those of a user are in the order in which they were made.
    """
    jobs = sorted(active, key=lambda job: job.id)
    before = Counter(job.user for job in jobs if job.state == JobState.RUNNING)
    waiting: dict[int | None, deque[ActiveJob]] = {}
    for job in _ready(jobs, now):
        waiting.setdefault(job.user, deque()).append(job)

    def turn_of(user: int | None, last: datetime) -> tuple[int, datetime, datetime, str, int | None]:
        job = waiting[user][0]
        return before[user], last, job.queued_at or _NEVER, job.id, user

    turns = [turn_of(user, began.get(user, _NEVER)) for user in waiting]
    heapify(turns)
    found: list[ActiveJob] = []
    while turns:
        *_, user = heappop(turns)
        found.append(waiting[user].popleft())
        before[user] += 1
        if waiting[user]:
            # The rest follows as if it began now.
            heappush(turns, turn_of(user, now + timedelta(microseconds=len(found))))
    return found


def _ready(jobs: list[ActiveJob], now: datetime) -> list[ActiveJob]:
    """Return those that wait for nothing but a place: neither for their next try nor for a run of their schedule."""
    of_schedule = _first_runs(jobs)
    queued = [job for job in jobs if job.state == JobState.QUEUED]
    return [job for job in queued if _obstacle(job, of_schedule, now) is None]


def _first_runs(jobs: list[ActiveJob]) -> dict[str | None, str]:
    """Return the run of each schedule that comes first, for the ranges of its runs follow one another."""
    found: dict[str | None, str] = {job.schedule: job.id for job in jobs if job.state == JobState.RUNNING}
    for job in jobs:
        found.setdefault(job.schedule, job.id)
    return found


def _obstacle(job: ActiveJob, of_schedule: Mapping[str | None, str], now: datetime) -> Held | None:
    if job.next_try_at is not None and job.next_try_at > now:
        return Held(job, HeldBy.NEXT_TRY, until=job.next_try_at)
    if job.schedule is not None and of_schedule[job.schedule] != job.id:
        return Held(job, HeldBy.SCHEDULE_RUN, behind=of_schedule[job.schedule])
    return None


def held(now: datetime) -> list[Held]:
    """Return the queued jobs that would not begin on a free place, in the order in which they were made."""
    jobs = _read(_active())
    of_schedule = _first_runs(jobs)
    running = Counter(job.user for job in jobs if job.state == JobState.RUNNING)
    most = cache(most_running)
    found: list[Held] = []
    for job in jobs:
        if job.state != JobState.QUEUED:
            continue
        obstacle = _obstacle(job, of_schedule, now)
        if obstacle is None and running[job.user] >= most(job.user):
            obstacle = Held(job, HeldBy.SHARE)
        if obstacle is not None:
            found.append(obstacle)
    return found


def waiting(now: datetime) -> list[ActiveJob]:
    """Return the queued jobs that could begin if there were places, the next one first."""
    active = _read(_active())
    return in_turn(active, _last_begins(active), now)


def next_up(now: datetime) -> list[ActiveJob]:
    """Return the jobs that may begin now: as many of those that wait as places are free, and their users may have."""
    return _next_up(_read(_active()), now)


def may_start(job_id: str) -> bool:
    """Return whether it is the job's turn.

    No other claim passes here until the transaction ends: in SQLite it holds the write lock, in other databases the
    locks of the rows of all jobs that have not ended.
    """
    active = _read(_active().select_for_update())
    return any(job.id == job_id for job in _next_up(active, timezone.now()))


def hint_next() -> None:
    """A place is free, or who waited for it has gone: tell the workers whose turn it is."""
    for job in next_up(timezone.now()):
        hint(job.id)


def _active() -> QuerySet[Job]:
    return Job.objects.filter(state__in=ACTIVE_STATES).order_by("pk")


def _read(rows: QuerySet[Job]) -> list[ActiveJob]:
    fields = ("pk", "state", "started_by_id", "schedule_id", "queued_at", "next_try_at")
    return [ActiveJob(*row) for row in rows.values_list(*fields)]


def _next_up(active: list[ActiveJob], now: datetime) -> list[ActiveJob]:
    running = Counter(job.user for job in active if job.state == JobState.RUNNING)
    free = settings.GANTRY_JOBS_AT_ONCE - running.total()
    most = cache(most_running)
    found: list[ActiveJob] = []
    for job in in_turn(active, _last_begins(active), now) if free > 0 else ():
        if len(found) == free:
            break
        if running[job.user] < most(job.user):
            running[job.user] += 1
            found.append(job)
    return found


def _last_begins(active: Iterable[ActiveJob]) -> dict[int | None, datetime]:
    """Return when each user last began a job, if several wait: for one alone it makes no difference."""
    if len({job.user for job in active if job.state == JobState.QUEUED}) < 2:
        return {}
    begun = Job.objects.filter(started_at__isnull=False).order_by().values_list("started_by_id")
    return dict(begun.annotate(last=Max("started_at")))
