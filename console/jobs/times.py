"""The times at which a cron line is due in a time zone, computed by cronsim, for schedules and their previews.

docs/operations.md#jobs says what happens in the hours that a clock skips and repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError


class CronMalformed(ValueError):
    """The text is not a cron line of five fields, or it is never due."""

    def __init__(self, line: str, why: str) -> None:
        super().__init__(f"{line!r} is not a cron line: {why}")


class ZoneUnknown(ValueError):
    """No time zone has this name."""


def times_after(now: datetime, line: str, zone: str) -> Iterator[datetime]:
    """Return the times after `now` at which the line is due, in UTC; raise CronMalformed or ZoneUnknown."""
    count = len(line.split())
    if count != 5:
        # cronsim also takes a sixth field, for seconds.
        needed = "minute, hour, day of month, month, day of week"
        raise CronMalformed(line, f"it needs five fields ({needed}), not {count}")
    try:
        found = CronSim(line, now.astimezone(find_zone(zone)))
    except CronSimError as error:
        raise CronMalformed(line, str(error).lower()) from error
    # In a repeated hour cronsim may begin with a time of the first pass although `now` is in the second.
    return (time for time in (each.astimezone(UTC) for each in found) if time > now)


def next_times(now: datetime, line: str, zone: str, count: int) -> list[datetime]:
    """Return the next `count` times after `now`, in UTC; raise CronMalformed or ZoneUnknown."""
    found = list(islice(times_after(now, line, zone), count))
    if not found:
        raise CronMalformed(line, "it is not due in the next 50 years")
    return found


def next_time(now: datetime, line: str, zone: str) -> datetime:
    """Return the first time after `now`, in UTC; raise CronMalformed or ZoneUnknown."""
    return next_times(now, line, zone, 1)[0]


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone; raise ZoneUnknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ZoneUnknown(f"{name!r} is not a time zone such as Europe/Berlin or UTC") from error
