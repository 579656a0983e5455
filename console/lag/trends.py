"""The trend of a group's lag.

The lag of a consumer that commits every few seconds is a sawtooth, and a large batch makes it jump: only the low points
over minutes show whether the consumer falls behind. A trend ends where the group's offset is moved back.
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
        self._step = -1

    def see(self, at: int, lag: int) -> None:
        """Record the lag at `at` (ms)."""
        step = at // _STEP_MS
        if step != self._step:
            self._step = step
            self._lows.append((at, lag))
        elif lag < self._lows[-1][1]:
            self._lows[-1] = (at, lag)
        while self._lows[0][0] < at - SPAN_MS:
            self._lows.popleft()

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
        """The change of the lag between low points, in messages a second; None before a minute was recorded."""
        halves = self._halves()
        if halves is None:
            return None
        (began, before), (ended, after) = _lowest(halves[0]), _lowest(halves[1])
        return (after - before) * 1000 / (ended - began)

    def _halves(self) -> tuple[list[_Low], list[_Low]] | None:
        """Return the low points of the earlier and of the later half of the record."""
        if not self._lows or self._lows[-1][0] - self._lows[0][0] < SHORTEST_MS:
            return None
        middle = (self._lows[0][0] + self._lows[-1][0]) // 2
        lows = list(self._lows)
        return [low for low in lows if low[0] < middle], [low for low in lows if low[0] >= middle]


def _lowest(lows: Sequence[_Low]) -> _Low:
    return min(lows, key=lambda low: low[1])
