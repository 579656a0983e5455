"""How long a job may work: the time of all its runs since a user started it, without pauses and waits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from msgspec import Struct
from rest_framework import serializers

from console.jobs.models import Job

MOST_MINUTES: Final = 365 * 24 * 60


class MinutesField(serializers.IntegerField):
    """How long a job may work."""

    def __init__(self) -> None:
        super().__init__(
            min_value=1,
            max_value=MOST_MINUTES,
            required=False,
            allow_null=True,
            help_text="A job that has worked for so long is stopped and fails; the time of a pause does not count.",
        )

    def to_internal_value(self, data: Any) -> Any:
        """Refuse more than the ceiling of the server."""
        value, most = super().to_internal_value(data), settings.GANTRY_JOBS_MINUTES
        if most and value > most:
            raise serializers.ValidationError(f"must be at most {most} minutes, the limit of GANTRY_JOBS_MINUTES")
        return value


class TimeLimit(Struct, frozen=True, kw_only=True):
    """The limit in force, and who has set it."""

    minutes: int
    name: str

    @property
    def reason(self) -> str:
        """Why a job was stopped that reached it."""
        unit = "minute" if self.minutes == 1 else "minutes"
        return f"it was stopped after {self.minutes} {unit} ({self.name})"


def time_limit_of(job: Job) -> TimeLimit | None:
    """Return the limit in force: its own as it was last changed, or GANTRY_JOBS_MINUTES if it is less; None without."""
    own: Mapping[str, int | None] = {**(job.request.get("limits") or {}), **job.limits}
    asked = own.get("max_minutes")
    most: int = settings.GANTRY_JOBS_MINUTES
    if most and (asked is None or asked > most):
        return TimeLimit(minutes=most, name="GANTRY_JOBS_MINUTES")
    return None if asked is None else TimeLimit(minutes=asked, name="limits.max_minutes")


class Stopwatch:
    """Measures the work of a job, from the start of a run on."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._earlier_ms = job.worked_ms
        self._began = time.monotonic()

    @property
    def worked_ms(self) -> int:
        """How long it has worked, with its earlier runs."""
        return self._earlier_ms + int((time.monotonic() - self._began) * 1000)

    @property
    def reached(self) -> TimeLimit | None:
        """The limit, once it has worked for as long as it may now: the limit can be changed meanwhile."""
        limit = time_limit_of(self._job)
        return limit if limit is not None and self.worked_ms >= limit.minutes * 60_000 else None
