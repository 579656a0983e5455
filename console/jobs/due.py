"""Which times of a schedule are due: what starts now, and what is too late."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final

from console.jobs.models import Overlap, Schedule
from console.jobs.requests import continues_last_success
from console.jobs.times import CronMalformed, times_after

MOST_AT_ONCE: Final = 24
"""Runs that one step of the clock starts for a schedule; the next step goes on."""
_MOST_TIMES: Final = 10_000
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Start:
    """A run to start: the time it is for, and the earlier ones that it takes over."""

    scheduled_for: datetime
    earlier: tuple[datetime, ...] = ()


@dataclass(frozen=True, slots=True)
class Due:
    """What is due of a schedule, and its next time after that."""

    starts: tuple[Start, ...]
    missed: tuple[datetime, ...]
    following: datetime


def due(schedule: Schedule, now: datetime) -> Due | None:
    """Return what is due; None while its next time, or the delay of that time, has not come.

    A run that continues from the last success takes over all times that were missed; other runs have ranges of their
    own, so each time gets one. Raises CronMalformed for a line that an earlier release accepted.
    """
    if schedule.next_run_at is None:
        return None
    times = chain([schedule.next_run_at], times_after(schedule.next_run_at, schedule.cron, schedule.zone))
    ready: list[datetime] = []
    following = next(times)
    while len(ready) < _MOST_TIMES and following + delay(schedule, following) <= now:
        ready.append(following)
        following = next(times, _NEVER)
    if following is _NEVER:
        raise CronMalformed(schedule.cron, "it is not due in the next 50 years")
    if not ready:
        return None
    # Not just the first ones are too late: with a jitter a later time may be due before an earlier one.
    missed: list[datetime] = []
    found: list[datetime] = []
    for at in ready:
        (missed if _is_too_late(schedule, at, now) else found).append(at)
    if continues_last_success(schedule.job) or schedule.overlap == Overlap.CANCEL_PREVIOUS:
        starts = [Start(found[-1], tuple(found[:-1]))] if found else []
    else:
        starts = [Start(at) for at in found[:MOST_AT_ONCE]]
        following = next(iter(found[MOST_AT_ONCE:]), following)
        missed = [at for at in missed if at < following]
    return Due(tuple(starts), tuple(missed), following)


def delay(schedule: Schedule, at: datetime) -> timedelta:
    """Return how much later than its time a run starts: always the same for one time, and another for the next."""
    if not schedule.jitter_ms:
        return timedelta(0)
    digest = hashlib.blake2b(f"{schedule.pk} {at.isoformat()}".encode(), digest_size=8).digest()
    return timedelta(milliseconds=int.from_bytes(digest, "big") % (schedule.jitter_ms + 1))


def _is_too_late(schedule: Schedule, at: datetime, now: datetime) -> bool:
    if schedule.catch_up_ms is None:
        return False
    return at + delay(schedule, at) + timedelta(milliseconds=schedule.catch_up_ms) < now


def span(times: Sequence[datetime]) -> tuple[datetime | None, datetime | None]:
    """Return the last of the times and, if there are several, the first."""
    return (times[-1] if times else None), (times[0] if len(times) > 1 else None)
