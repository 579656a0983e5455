"""Where the lag of a group is going.

A consumer that commits every few seconds makes its lag a saw: only the low points tell.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# Clients commit every five seconds: half of it holds two teeth of the saw.
SPAN_MS: Final = 20_000
# A slope over less than this is noise.
_SHORTEST_MS: Final = 5_000


class Trend:
    """The lag of one group over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int]] = deque()

    def see(self, at: int, lag: int) -> None:
        """Take in the lag at `at` (ms)."""
        self._seen.append((at, lag))
        while self._seen[0][0] < at - SPAN_MS:
            self._seen.popleft()

    @property
    def is_growing(self) -> bool:
        """Whether the lowest lag of the later half of the span is above the lowest of the earlier half."""
        middle = self._seen[-1][0] - SPAN_MS // 2 if self._seen else 0
        earlier = [lag for at, lag in self._seen if at < middle]
        later = [lag for at, lag in self._seen if at >= middle]
        return bool(earlier) and min(later) > min(earlier)

    @property
    def per_second(self) -> float | None:
        """The change of the lag, messages a second, over the span; None until enough of it was seen."""
        if not self._seen or self._seen[-1][0] - self._seen[0][0] < _SHORTEST_MS:
            return None
        (began, before), (ended, after) = self._seen[0], self._seen[-1]
        return (after - before) * 1000 / (ended - began)
