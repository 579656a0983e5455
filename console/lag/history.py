"""The history of figures in Redis: fine for an hour, coarse for a week.

Each series is kept in tiers, one list of points each: every second for a quarter of an hour, every five for an hour,
every minute for a day, every quarter of an hour for a week. A point is a JSON array of the start of its step (ms) and
the means of its values; a value that was unknown during the whole step is null, and a step without a point is a gap,
not a zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import redis
import redis.asyncio

from console.lag.shapes import LagSeries, OverviewSeries, Points

# Later columns are kept for previews of alert rules. New ones go to the end: older points are shorter.
OVERVIEW_COLUMNS: Final = (*OverviewSeries.__struct_fields__, "dead_letters")
GROUP_COLUMNS: Final = (*LagSeries.__struct_fields__, "time_lag_ms")

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
# Six digits are enough for a chart, and keep a point short.
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Tier:
    """A list of points: how far apart they are, and how long they are kept."""

    name: str
    step_ms: int
    span_ms: int

    @property
    def points(self) -> int:
        """How many points the list holds at most."""
        return self.span_ms // self.step_ms


SECONDS: Final = Tier("1s", _SECOND, 15 * _MINUTE)
FIVES: Final = Tier("5s", 5 * _SECOND, _HOUR)
MINUTES: Final = Tier("1m", _MINUTE, _DAY)
QUARTERS: Final = Tier("15m", 15 * _MINUTE, 7 * _DAY)
TIERS: Final = (SECONDS, FIVES, MINUTES, QUARTERS)


@dataclass(frozen=True, slots=True)
class Range:
    """A range of the API: its length, the distance of its points, and the list it is read from."""

    span_ms: int
    step_ms: int
    tier: Tier


RANGES: Final = {
    "15m": Range(15 * _MINUTE, _SECOND, SECONDS),
    "1h": Range(_HOUR, 5 * _SECOND, FIVES),
    "6h": Range(6 * _HOUR, _MINUTE, MINUTES),
    "24h": Range(_DAY, 2 * _MINUTE, MINUTES),
    "7d": Range(7 * _DAY, 15 * _MINUTE, QUARTERS),
}

A_DAY_OF_MINUTES: Final = Range(_DAY, _MINUTE, MINUTES)


def overview_key(cluster: str) -> str:
    """Return the series of a cluster's key figures."""
    return f"gantry:history:{cluster}"


def group_key(cluster: str, group: str) -> str:
    """Return the series of a group."""
    return f"gantry:history:{cluster}:{group}"


@dataclass(slots=True)
class _Step:
    """The current step of one series and tier."""

    begin: int
    sums: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, values: Sequence[float | None]) -> None:
        if not self.sums:
            self.sums, self.counts = [0.0] * len(values), [0] * len(values)
        for index, value in enumerate(values):
            if value is not None:
                self.sums[index] += value
                self.counts[index] += 1

    def point(self) -> bytes:
        means = (round(s / n, _DIGITS) if n else None for s, n in zip(self.sums, self.counts, strict=True))
        return orjson.dumps([self.begin, *means])


class Keeper:
    """Writes the points of one cluster, many series in one round trip."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, Tier], _Step] = {}

    async def keep(self, store: redis.asyncio.Redis, at: int, points: Mapping[str, Sequence[float | None]]) -> None:
        """Add one value of each column for each series; write the steps that ended before `at` (ms)."""
        pipe = store.pipeline(transaction=False)
        for key, tier, point in self.step(at, points):
            name = f"{key}:{tier.name}"
            pipe.rpush(name, point)
            pipe.ltrim(name, -tier.points, -1)
            pipe.pexpire(name, tier.span_ms + tier.step_ms)
        await pipe.execute()

    def step(self, at: int, points: Mapping[str, Sequence[float | None]]) -> list[tuple[str, Tier, bytes]]:
        """Return series, tier and point to write at `at` (ms). Series that no longer exist are forgotten."""
        ended = []
        for key, values in points.items():
            for tier in TIERS:
                begin = at - at % tier.step_ms
                step = self._steps.get((key, tier))
                if step is None or step.begin != begin:
                    if step is not None:
                        ended.append((key, tier, step.point()))
                    step = self._steps[key, tier] = _Step(begin)
                step.add(values)
        if len(self._steps) > len(points) * len(TIERS):
            self._steps = {place: step for place, step in self._steps.items() if place[0] in points}
        return ended


def read(store: redis.Redis, key: str, columns: Sequence[str], wanted: Range, *, end: int) -> dict[str, Points]:
    """Return a list of values for each column, one each step of the span that ends at `end` (ms, the end of a step)."""
    tier = wanted.tier
    rows: Any = store.lrange(f"{key}:{tier.name}", -(wanted.span_ms // tier.step_ms + 1), -1)
    points = [orjson.loads(row) for row in rows]
    return bucketed(points, columns, begin=end - wanted.span_ms, end=end, step_ms=wanted.step_ms)


def end_of(wanted: Range, now: int) -> int:
    """Return the end of the step that contains `now` (ms)."""
    return now - now % wanted.step_ms + wanted.step_ms


def bucketed(
    points: Sequence[Sequence[float | None]], columns: Sequence[str], *, begin: int, end: int, step_ms: int
) -> dict[str, Points]:
    """Return the mean of each column in each step of [begin, end); None in a step without a known value."""
    count = (end - begin) // step_ms
    sums = {column: [0.0] * count for column in columns}
    known = {column: [0] * count for column in columns}
    for at, *values in points:
        index = int((at or 0) - begin) // step_ms
        if not 0 <= index < count:
            continue
        for column, value in zip(columns, values, strict=False):
            if value is not None:
                sums[column][index] += value
                known[column][index] += 1
    return {
        column: [total / times if times else None for total, times in zip(sums[column], known[column], strict=True)]
        for column in columns
    }
