"""The trend of a group's lag.

The lag of a consumer that commits every few seconds is a sawtooth, and a large batch makes it jump: only the low points
over minutes show whether the consumer falls behind. How fast the lag changes is the slope of the straight line through
what was seen, one lag of each few seconds. A trend ends where the group's offset is moved back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

SPAN_MS: Final = 300_000
# A shorter time gives no trend.
SHORTEST_MS: Final = 60_000
# A rise up to this is noise; for a large lag, up to this share of it.
FLOOR: Final = 20
_SHARE: Final = 0.001
# One low point for each step, which is as long as the time between two commits of a client.
_STEP_MS: Final = 5_000

_Low = tuple[int, int]


class Trend:
    """The lag of one group over the last five minutes."""

    def __init__(self) -> None:
        self._lows: deque[_Low] = deque()
        self._samples: deque[_Low] = deque()
        self._step = -1
        # Made once for all looks between two samples; there are thousands of trends.
        self._slope: float | None = None
        self._is_made = True

    def see(self, at: int, lag: int) -> None:
        """Record the lag at `at` (ms)."""
        step = at // _STEP_MS
        if step != self._step:
            self._step = step
            self._lows.append((at, lag))
            self._samples.append((at, lag))
            self._is_made = False
        elif lag < self._lows[-1][1]:
            self._lows[-1] = (at, lag)
        while self._lows[0][0] < at - SPAN_MS:
            self._lows.popleft()
        while self._samples[0][0] < at - SPAN_MS:
            self._samples.popleft()

    def hold(self, until: int) -> None:
        """Record that the lag stayed until `until` (ms) what it was when it was seen last."""
        if self._lows:
            at, lag = self._lows[-1]
            for step in range(max(at, until - SPAN_MS) + _STEP_MS, until + 1, _STEP_MS):
                self.see(step, lag)

    @property
    def is_growing(self) -> bool:
        """Whether the lag grows: its low points are above the earlier ones, and keep rising."""
        halves = self._halves()
        if halves is None:
            return False
        earlier, later = halves
        low = _lowest(earlier)[1]
        third, fourth = later[: len(later) // 2], later[len(later) // 2 :]
        return _lowest(later)[1] - low > max(FLOOR, low * _SHARE) and _lowest(fourth)[1] > _lowest(third)[1]

    @property
    def per_second(self) -> float | None:
        """The change of the lag in messages a second, by least squares; None before a minute was recorded."""
        if not self._is_made:
            self._slope, self._is_made = _slope(self._samples), True
        return self._slope

    def _halves(self) -> tuple[list[_Low], list[_Low]] | None:
        """Return the low points of the earlier and of the later half of the record; None if they are too few."""
        if not self._lows or self._lows[-1][0] - self._lows[0][0] < SHORTEST_MS:
            return None
        middle = (self._lows[0][0] + self._lows[-1][0]) // 2
        earlier = [low for low in self._lows if low[0] < middle]
        later = [low for low in self._lows if low[0] >= middle]
        # After a time in which the lag was unknown there is one at first, which says nothing of what it does since.
        return (earlier, later) if len(later) > 1 else None


def _slope(samples: Sequence[_Low]) -> float | None:
    """Return the slope of the straight line with the least squares of distances, in messages a second."""
    began, first = samples[0]
    if samples[-1][0] - began < SHORTEST_MS:
        return None
    times = [at - began for at, _ in samples]
    lags = [lag - first for _, lag in samples]
    middle = sum(times) / len(times)
    spread = sum((at - middle) ** 2 for at in times)
    return sum((at - middle) * lag for at, lag in zip(times, lags, strict=True)) / spread * 1000


def _lowest(lows: Sequence[_Low]) -> _Low:
    return min(lows, key=lambda low: low[1])
