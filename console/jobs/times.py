"""The times at which a cron line is due in a time zone, computed by cronsim, for schedules and their previews.

docs/operations.md#jobs says what happens in the hours that a clock skips and repeats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: Final[tuple[tuple[str, int, int, tuple[str, ...]], ...]] = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
)
_STEP: Final = re.compile(
    r"(?:\*|(?P<low>[0-9]{1,2}|[a-z]{3})(?:-(?P<high>[0-9]{1,2}|[a-z]{3}))?)/(?P<step>[0-9]{1,9})"
)
# They are in the same folder as the zones, but depend on the machine, are none, or count leap seconds.
_NO_ZONES: Final = frozenset({"localtime", "Factory", "posixrules"})
_NO_ZONE_FOLDERS: Final = ("posix/", "right/")


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
    _check_steps(line)
    try:
        found = CronSim(line, now.astimezone(find_zone(zone)))
    except CronSimError as error:
        if _is_due_in_other_months(line):
            raise CronMalformed(line, "it is never due: none of its months has such a day") from error
        raise CronMalformed(line, str(error).lower()) from error
    # In a repeated hour cronsim may begin with a time of the first pass although `now` is in the second.
    return (time for time in (each.astimezone(UTC) for each in found) if time > now)


def _is_due_in_other_months(line: str) -> bool:
    """Return whether only its months are at fault; cronsim calls the day bad, as one that no month has."""
    minute, hour, day, month, weekday = line.split()
    try:
        for each in (f"{minute} {hour} {day} * {weekday}", f"0 0 * {month} *"):
            CronSim(each, datetime.now(UTC))
    except CronSimError:
        return False
    return True


def _check_steps(line: str) -> None:
    """Refuse steps that are longer than their range, of which cronsim takes the first value alone."""
    for text, (name, first, last, words) in zip(line.split(), _FIELDS, strict=True):
        for term in text.lower().split(","):
            found = _STEP.fullmatch(term)
            if found is None:
                continue
            low, high = (
                end if word is None else words.index(word) + first if word in words else int(word)
                for word, end in ((found["low"], first), (found["high"], last))
            )
            if int(found["step"]) > high - low:
                fault = f"the step of {term!r} ({name}) is longer than its range, {low} to {high}"
                raise CronMalformed(line, fault)


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
    fault = f"{name!r} is not a time zone such as Europe/Berlin or UTC"
    if name in _NO_ZONES or name.startswith(_NO_ZONE_FOLDERS):
        raise ZoneUnknown(f"{fault}; it is a file of the machine beside the zones")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ZoneUnknown(fault) from error
