"""The rate of a job, which can be changed while it runs."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from console.jobs.models import Job
from console.jobs.requests import has_rate, rate_of
from console.jobs.requests.kinds import COUNT, RATE

_MS: Final = 1000


class JobLimits(Struct, frozen=True, kw_only=True):
    """Limits in force: those of the request, and what was changed since."""

    messages_per_second: Annotated[int | None, Meta(description="null is no limit.")]


def limits_of(job: Job) -> JobLimits | None:
    """Return the limits in force; None for a job that sends nothing."""
    if not has_rate(job.request):
        return None
    return JobLimits(messages_per_second=job.limits.get(RATE, rate_of(job.request)))


def eta_of(job: Job) -> int | None:
    """Return how many ms its program expects to work, but no less than the limit in force allows.

    The program measures its rate over ten seconds, and a limit may be lower for less.
    """
    limits, counters = limits_of(job), job.counters
    planned, read = counters.get("planned"), counters.get("read")
    if job.eta_ms is None or limits is None or not limits.messages_per_second or not planned or not read:
        return job.eta_ms
    sent = counters.get("written", 0) + counters.get("failed", 0)
    # What the filter leaves out is not sent, and of the rest nobody knows more than of what was read.
    left = max(0, planned - read) * min(1, sent / read)
    most = (job.request.get("limits") or {}).get(COUNT)
    if most is not None:
        left = min(left, max(0, most - counters.get("written", 0)))
    return max(job.eta_ms, int(left / limits.messages_per_second * _MS))
