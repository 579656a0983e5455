"""When a cron expression fires: five fields read in a time zone (spark.md 6.4).

The fields are parsed by Celery. Days follow cron's own rule: when day of month and day of week are both restricted,
either one suffices. A local time that the clock skips fires at the first valid instant after it; one that comes twice
fires the first time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from celery.schedules import ParseException, crontab_parser

# Celery reads the beginning of a part and passes over the rest.
_PARTS: Final = re.compile(r"{0}(,{0})*".format(r"(\*|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(/[0-9]+)?"))
# The rarest expression there is, 29 February, fires once in eight years around a century.
_FARTHEST_DAYS: Final = 8 * 366 + 1


class CronMalformed(ValueError):
    """Raised for what is no cron expression of five fields, or never fires; says which field is wrong."""


class ZoneUnknown(ValueError):
    """Raised for a name that is no time zone."""


@dataclass(frozen=True)
class Cron:
    """A parsed expression."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days_of_month: frozenset[int]
    months: frozenset[int]
    days_of_week: frozenset[int]
    either_day: bool

    @classmethod
    def parse(cls, text: str) -> Cron:
        """Return the expression ``minute hour day-of-month month day-of-week``; raise CronMalformed."""
        words = text.split()
        if len(words) != 5:
            raise CronMalformed(f"{text!r} has {len(words)} fields; wanted minute, hour, day, month, day of week")
        minute, hour, day, month, weekday = words
        return cls(
            minutes=tuple(sorted(_field("minute", minute, 60))),
            hours=tuple(sorted(_field("hour", hour, 24))),
            days_of_month=frozenset(_field("day", day, 31, 1)),
            months=frozenset(_field("month", month, 12, 1)),
            days_of_week=frozenset(_field("day of week", weekday, 7)),
            either_day=day != "*" and weekday != "*",
        )

    def next_after(self, moment: datetime, zone: ZoneInfo) -> datetime:
        """Return the first firing after `moment`, in UTC; raise CronMalformed if there is none in eight years."""
        today = moment.astimezone(zone).date()
        for days in range(_FARTHEST_DAYS):
            for fires in self._on(today + timedelta(days=days), zone):
                if fires > moment:
                    return fires
        raise CronMalformed("it never fires")

    def following(self, moment: datetime, zone: ZoneInfo, count: int) -> list[datetime]:
        """Return the next `count` firings after `moment`, in UTC."""
        fires: list[datetime] = []
        for _ in range(count):
            moment = self.next_after(moment, zone)
            fires.append(moment)
        return fires

    def _on(self, day: date, zone: ZoneInfo) -> Iterator[datetime]:
        if not self._matches(day):
            return
        for hour in self.hours:
            for minute in self.minutes:
                yield _instant(datetime.combine(day, time(hour, minute)), zone)

    def _matches(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        is_month_day = day.day in self.days_of_month
        is_weekday = day.isoweekday() % 7 in self.days_of_week
        return (is_month_day or is_weekday) if self.either_day else (is_month_day and is_weekday)


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone; raise ZoneUnknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ZoneUnknown(f"{name!r} is no time zone such as Europe/Berlin or UTC") from error


def _field(name: str, text: str, size: int, first: int = 0) -> set[int]:
    if not _PARTS.fullmatch(text):
        raise CronMalformed(f"{name} {text!r}: wanted numbers, ranges a-b, * and steps /n, with commas between them")
    try:
        found = set(crontab_parser(size, first).parse(text))
    except (ParseException, ValueError) as error:
        raise CronMalformed(f"{name} {text!r}: {error}") from error
    if not found:
        raise CronMalformed(f"{name} {text!r} names nothing")
    return found


def _instant(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant at which the clocks of `zone` show `local`, or, if they skip it, the end of the gap."""
    instant = local.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == local:
        return instant
    # Skipped: fold 0 reads it with the offset before the gap, so it lies behind the gap by as much as into it.
    gap_start = instant - timedelta(days=1)
    before, after = gap_start, instant
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) / 2
        if middle.astimezone(zone).utcoffset() == gap_start.astimezone(zone).utcoffset():
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)
