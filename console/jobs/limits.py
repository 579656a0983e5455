"""The rate of a job, which can be changed while it runs."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from console.jobs.models import Job
from console.jobs.requests import has_rate, rate_of
from console.jobs.requests.kinds import RATE


class JobLimits(Struct, frozen=True, kw_only=True):
    """Limits in force: those of the request, and what was changed since."""

    messages_per_second: Annotated[int | None, Meta(description="null is no limit.")]


def limits_of(job: Job) -> JobLimits | None:
    """Return the limits in force; None for a job that sends nothing."""
    if not has_rate(job.request):
        return None
    return JobLimits(messages_per_second=job.limits.get(RATE, rate_of(job.request)))
