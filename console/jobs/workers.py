"""The workers that run jobs: which live, and what each does. They say so in Redis; the rows of jobs have the rest."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Final

import msgspec
import redis
from django.conf import settings
from msgspec import Meta, Struct

from broker_core.clock import now_ms
from broker_core.structs import decoded
from console import redis_client
from console.fields import moment
from console.jobs import program, turns
from console.jobs.drivers import POOL
from console.jobs.models import Job, JobState, JobType
from console.jobs.shares import most_running
from console.jobs.turns import Held, HeldBy
from console.moments import Moment, rfc3339

_KEY: Final = "gantry:workers"
# A worker says every two seconds that it lives.
_ALIVE_MS: Final = 15_000
_FORGOTTEN_MS: Final = 3_600_000
_IDENTITY: Final = re.compile(r"(?P<name>.*) (?P<pid>\d+)-\d+")
_PLACES: Final = (JobState.RUNNING, JobState.QUEUED)

_log = logging.getLogger(__name__)


@decoded
class Sign(Struct, frozen=True, kw_only=True):
    """What a worker says of itself."""

    at: int
    host: str
    pid: int
    started: int
    idle_drivers: list[int]


class WorkerRun(Struct, frozen=True, kw_only=True):
    """A job that a worker runs."""

    job_id: str
    type: JobType
    name: str
    since: Moment | None
    attempt: int
    pid: Annotated[
        int | None, Meta(description="The process that does it on the worker's host: a driver, or a program.")
    ]
    lease_until: Annotated[Moment | None, Meta(description="If it is not renewed by then, the job is taken from it.")]


class JobWorker(Struct, frozen=True, kw_only=True):
    """A worker, and what it does; one that was killed is listed until its runs are taken from it."""

    name: str
    host: str
    pid: Annotated[
        int | None,
        Meta(description="Its process. The next worker has the same name, and another one. Null if unknown."),
    ]
    is_alive: Annotated[bool | None, Meta(description="Null without Redis, where workers say that they live.")]
    heard_at: Moment | None
    runs: list[WorkerRun]
    hidden_runs: Annotated[int, Meta(description="Runs of jobs that the caller may not read.")]
    idle_drivers: Annotated[list[int], Meta(description="Processes with a Spark that is kept for the next job.")]


class HeldJob(Struct, frozen=True, kw_only=True):
    """A queued job that would not begin on a free place."""

    job_id: Annotated[str | None, Meta(description="Null for one that the caller may not read.")]
    by: Annotated[
        HeldBy,
        Meta(
            description="What holds it: `next_try`, the time of its automatic retry; `schedule_run`, another run of "
            "its schedule; or `share`, as many jobs of its user run as may (such a job is in `waiting`, too)."
        ),
    ]
    until: Annotated[Moment | None, Meta(description="When it may begin, of one that waits for its next try.")]
    behind: Annotated[str | None, Meta(description="The run of the schedule; null if the caller may not read it.")]


class UserShare(Struct, frozen=True, kw_only=True):
    """What a user has of the places, counted by whose rights jobs run."""

    running: Annotated[int, Meta(description="Of `at_once`; the next place is for the user with the fewest.")]
    most_running: Annotated[int, Meta(description="How many jobs of the user may run at the same time.")]
    queued: int
    most_queued: Annotated[int, Meta(description="How many jobs of one user may wait; one more is refused.")]


class JobWorkers(Struct, frozen=True, kw_only=True):
    """The workers, and what waits for them."""

    items: list[JobWorker]
    are_known: Annotated[
        bool, Meta(description="False without Redis: then only workers with a run are listed, and others may live.")
    ]
    at_once: Annotated[int, Meta(description="How many jobs run at the same time, on all workers together.")]
    queued: int
    most_queued: Annotated[int, Meta(description="How many may wait; one more is refused.")]
    waiting: Annotated[
        list[str | None],
        Meta(description="Ids of the jobs that could start, the next one first; null for one the caller may not read."),
    ]
    held: Annotated[
        list[HeldJob], Meta(description="Queued jobs that would not begin on a free place, the one made first first.")
    ]
    waiting_since: Annotated[Moment | None, Meta(description="Since when the oldest that could start waits.")]
    yours: Annotated[UserShare, Meta(description="What the caller has of it, with the runs of own schedules.")]


def identity(name: str) -> str:
    """Return what a run says of its worker: the name and the process, for a worker takes the name of the one before."""
    return _identity(name, os.getpid(), _started())


def note(name: str) -> None:
    """Say that this worker lives; silence is all that others hear without Redis."""
    sign = Sign(at=now_ms(), host=socket.gethostname(), pid=os.getpid(), started=_started(), idle_drivers=POOL.idle())
    try:
        redis_client.store().hset(_KEY, name, msgspec.json.encode(sign))
    except redis.RedisError as error:
        _log.debug("worker %s: no sign of life was left (%s)", name, error)


def overview(user_id: int | None, readable: Collection[str], now: datetime) -> JobWorkers:
    """Return all workers, and the share of a user; of the jobs, those among `readable` are named."""
    signs = _signs()
    runs: dict[str, list[Job]] = {}
    for job in Job.objects.filter(state=JobState.RUNNING).order_by("started_at"):
        runs.setdefault(job.worker, []).append(job)
    known = {_identity(name, sign.pid, sign.started): sign for name, sign in (signs or {}).items()}
    waiting = turns.waiting(now)
    since = min((job.queued_at for job in waiting if job.queued_at is not None), default=None)
    return JobWorkers(
        items=[
            _worker(each, runs.get(each, []), known.get(each), readable, are_known=signs is not None)
            for each in sorted({*runs, *known})
        ],
        are_known=signs is not None,
        at_once=settings.GANTRY_JOBS_AT_ONCE,
        queued=Job.objects.filter(state=JobState.QUEUED).count(),
        most_queued=settings.GANTRY_JOBS_QUEUED,
        waiting=[job.id if job.id in readable else None for job in waiting],
        held=[_held(each, readable) for each in turns.held(now)],
        waiting_since=None if since is None else moment(since),
        yours=_share_of(user_id),
    )


def _held(found: Held, readable: Collection[str]) -> HeldJob:
    return HeldJob(
        job_id=found.job.id if found.job.id in readable else None,
        by=found.by,
        until=None if found.until is None else moment(found.until),
        behind=found.behind if found.behind in readable else None,
    )


def _share_of(user_id: int | None) -> UserShare:
    found = Counter(Job.objects.filter(started_by_id=user_id, state__in=_PLACES).values_list("state", flat=True))
    return UserShare(
        running=found[JobState.RUNNING],
        most_running=most_running(user_id),
        queued=found[JobState.QUEUED],
        most_queued=settings.GANTRY_JOBS_QUEUED_PER_USER,
    )


def _signs() -> dict[str, Sign] | None:
    """Return the sign of each worker of the last hour; None without Redis."""
    store = redis_client.store()
    try:
        found: dict[bytes, bytes] = store.hgetall(_KEY)  # type: ignore[assignment]
        signs = {name.decode(): msgspec.json.decode(sign, type=Sign) for name, sign in found.items()}
        gone = [name for name, sign in signs.items() if now_ms() - sign.at > _FORGOTTEN_MS]
        if gone:
            store.hdel(_KEY, *gone)
    except redis.RedisError as error:
        _log.warning("redis: the signs of workers were not read (%s)", error)
        return None
    return {name: sign for name, sign in signs.items() if name not in gone}


def _worker(
    identified: str, own: Sequence[Job], sign: Sign | None, readable: Collection[str], *, are_known: bool
) -> JobWorker:
    shown = [job for job in own if job.pk in readable]
    alive = sign is not None and now_ms() - sign.at < _ALIVE_MS
    name, pid = _parts(identified)
    return JobWorker(
        name=name,
        host=sign.host if sign else own[0].host,
        pid=pid,
        is_alive=alive if are_known else None,
        heard_at=rfc3339(sign.at) if sign else None,
        runs=[_run(job) for job in shown],
        hidden_runs=len(own) - len(shown),
        idle_drivers=sign.idle_drivers if sign and alive else [],
    )


def _identity(name: str, pid: int, started: int) -> str:
    return f"{name} {pid}-{started}"


def _parts(identified: str) -> tuple[str, int | None]:
    """Return the name and the process; a run that an earlier release began names no process."""
    found = _IDENTITY.fullmatch(identified)
    return (found["name"], int(found["pid"])) if found else (identified, None)


def _started() -> int:
    # 0 where the kernel does not tell: then a process is known by its number alone.
    return program.started_at(os.getpid()) or 0


def _run(job: Job) -> WorkerRun:
    return WorkerRun(
        job_id=job.id,
        type=JobType(job.type),
        name=job.name,
        since=moment(job.started_at) if job.started_at else None,
        attempt=job.attempt,
        pid=job.pid,
        lease_until=moment(job.lease_until) if job.lease_until else None,
    )
