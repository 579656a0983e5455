"""The history of figures in Redis: fine for an hour, coarse for a week.

Each series is kept in tiers, one list of points each: every second for a quarter of an hour, every five for an hour,
every minute for a day, every quarter of an hour for a week. A point is a JSON array of the start of its step (ms) and
the means of its values; a value that was unknown during the whole step is null, and a step without a point is a gap,
not a zero.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import redis
import redis.asyncio

from console.lag.shapes import LagSeries, OverviewSeries, Points
from console.lag.turns import Turns

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


# Redis makes of one call what were three for each series and tier.
_WRITE: Final = """
local at = 1
for index, key in ipairs(KEYS) do
  local most, kept_ms, count = tonumber(ARGV[at]), ARGV[at + 1], tonumber(ARGV[at + 2])
  redis.call("RPUSH", key, unpack(ARGV, at + 3, at + 2 + count))
  redis.call("LTRIM", key, -most, -1)
  redis.call("PEXPIRE", key, kept_ms)
  at = at + 3 + count
end
"""
SERIES_A_STEP: Final = 500
"""How many series are written in one step; the others wait, for seconds where there are thousands."""
# While Redis does not answer, older points are given up: a gap.
_MOST_WAITING: Final = 120


@dataclass(slots=True)
class _Step:
    """The current step of one series and tier."""

    begin: int = -1
    sums: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def clear(self, begin: int, columns: int) -> None:
        self.begin = begin
        self.sums, self.counts = [0.0] * columns, [0] * columns

    def add(self, sums: Sequence[float], counts: Sequence[int], times: int = 1) -> None:
        self.sums = [one + other * times for one, other in zip(self.sums, sums, strict=True)]
        self.counts = [one + other * times for one, other in zip(self.counts, counts, strict=True)]

    def point(self) -> bytes:
        means = (round(s / n, _DIGITS) if n else None for s, n in zip(self.sums, self.counts, strict=True))
        return orjson.dumps([self.begin, *means])


class _Series:
    """The current steps of one series, one for each tier; values that stay cost next to nothing until the fives end."""

    __slots__ = ("_is_single", "_repeats", "_rest", "_steps", "_values")

    def __init__(self) -> None:
        self._steps = [_Step() for _ in TIERS]
        self._values: Sequence[float | None] = ()
        self._rest = b""  # the last point without its time
        self._is_single = False  # whether the current second has one sample
        self._repeats = 0

    def take(self, begins: Sequence[int], values: Sequence[float | None]) -> list[tuple[Tier, bytes]]:
        """Add a sample to the steps that begin at `begins` (ms); return the points of the steps that ended."""
        seconds, fives = self._steps[:2]
        if self._is_single and seconds.begin != begins[0] and fives.begin == begins[1] and values == self._values:
            point = b"[%d,%b" % (seconds.begin, self._rest)
            seconds.begin = begins[0]
            self._repeats += 1
            return [(TIERS[0], point)]
        return self._count(begins, values)

    def _count(self, begins: Sequence[int], values: Sequence[float | None]) -> list[tuple[Tier, bytes]]:
        steps = self._steps
        if self._repeats:
            sums = [0.0 if value is None else value for value in self._values]
            counts = [int(value is not None) for value in self._values]
            steps[1].add(sums, counts, self._repeats)
            self._repeats = 0
        ended = []
        for index, (tier, begin, step) in enumerate(zip(TIERS, begins, steps, strict=True)):
            if step.begin == begin:
                break
            if step.begin >= 0:
                ended.append((tier, step.point()))
                if index + 1 < len(steps):
                    steps[index + 1].add(step.sums, step.counts)
            step.clear(begin, len(values))
        is_first = not any(steps[0].counts)
        steps[0].add([0.0 if each is None else each for each in values], [int(each is not None) for each in values])
        if not (is_first and self._is_single and values == self._values):
            self._rest = steps[0].point().partition(b",")[2]
        self._is_single, self._values = is_first, values
        return ended


class Keeper:
    """Writes the points of one cluster, many series in one call."""

    def __init__(self) -> None:
        self._series: dict[str, _Series] = {}
        self._waiting: dict[str, dict[Tier, list[bytes]]] = {}
        self._turns: Turns[str] = Turns()

    async def keep(
        self,
        store: redis.asyncio.Redis,
        at: int,
        points: Mapping[str, Sequence[float | None]],
        *,
        first: Collection[str] = (),
    ) -> None:
        """Add one value of each column for each series; write steps that ended before `at` (ms).

        Up to `SERIES_A_STEP` series are written, those in `first` before the others, each of which has its turn.
        """
        for key, tier, point in self.step(at, points):
            ended = self._waiting.setdefault(key, {}).setdefault(tier, [])
            ended.append(point)
            del ended[:-_MOST_WAITING]
        keys: list[str] = []
        arguments: list[bytes | int] = []
        written = self._turns.pick(self._waiting.keys(), SERIES_A_STEP, at, first=first)
        for key in written:
            for tier, ended in self._waiting[key].items():
                keys.append(f"{key}:{tier.name}")
                arguments += [tier.points, tier.span_ms + tier.step_ms, len(ended), *ended]
        if keys:
            await store.register_script(_WRITE)(keys=keys, args=arguments)
        for key in written:
            del self._waiting[key]

    def step(self, at: int, points: Mapping[str, Sequence[float | None]]) -> list[tuple[str, Tier, bytes]]:
        """Return series, tier and point that ended at `at` (ms). Series that no longer exist are forgotten."""
        begins = [at - at % tier.step_ms for tier in TIERS]
        ended: list[tuple[str, Tier, bytes]] = []
        for key, values in points.items():
            series = self._series.get(key)
            if series is None:
                series = self._series[key] = _Series()
            ended += ((key, tier, point) for tier, point in series.take(begins, values))
        if len(self._series) > len(points):
            self._series = {key: series for key, series in self._series.items() if key in points}
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
