"""Rates from totals: how much a counter grew over the last half minute."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Final, Generic, TypeVar

K = TypeVar("K", bound=Hashable)

# Consumers commit every five seconds: over a shorter time a rate swings between zero and twice the real one.
WINDOW_MS: Final = 30_000
# An older total says nothing about the present.
STALE_MS: Final = 60_000
# Points this far apart are enough; the newest one is always kept.
_STEP_MS: Final = 5_000


class Rates(Generic[K]):
    """Totals by key, each seen at its own points in time; the rate of a key is its growth over the window."""

    def __init__(self, window_ms: int = WINDOW_MS, *, shortest_ms: int = 0, stale_ms: int = STALE_MS) -> None:
        """Give no rate over less than `shortest_ms`, and none for a total older than `stale_ms`."""
        self._window_ms = window_ms
        self._shortest_ms = shortest_ms
        self._stale_ms = stale_ms
        self._seen: dict[K, deque[tuple[int, float]]] = {}
        self._now = 0
        self._confirmed = 0

    def see(self, at: int, totals: Mapping[K, float]) -> None:
        """Record the totals read at `at` (ms); other keys stay unchanged."""
        self._now = max(self._now, at)
        for key, total in totals.items():
            seen = self._seen.setdefault(key, deque())
            if seen and seen[-1][0] < self._confirmed < at:
                self._add(seen, self._confirmed, seen[-1][1])
            self._add(seen, at, total)

    def confirm(self, at: int) -> None:
        """Record that at `at` (ms) every total was still the one seen last; nothing is done for each of them."""
        self._now = self._confirmed = max(self._now, at)

    def keep(self, keys: Collection[K]) -> None:
        """Forget all keys but these."""
        if len(self._seen) > len(keys):
            self._seen = {key: seen for key, seen in self._seen.items() if key in keys}

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys that were seen."""
        return iter(self._seen)

    def restart(self, keys: Collection[K]) -> None:
        """Let the growth of these keys count from their last totals on: what came before was no growth."""
        for key in keys:
            if seen := self._seen.get(key):
                self._seen[key] = deque([seen[-1]])

    def find(self, *keys: K) -> float | None:
        """Return the growth of `keys` together per second; None if one was not seen twice or not recently."""
        if len(keys) == 1:
            return self._rate(keys[0])
        rates = [self._rate(key) for key in keys]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known and len(known) == len(rates) else None

    def has_grown(self, key: K) -> bool:
        """Return whether a total grew while it was watched, also over less than gives a rate; not long ago."""
        seen = self._seen.get(key)
        return seen is not None and seen[-1][1] > seen[0][1] and seen[0][0] >= self._now - self._stale_ms

    def _add(self, seen: deque[tuple[int, float]], at: int, total: float) -> None:
        if seen and total < seen[-1][1]:
            seen.clear()  # a broker restarted or an offset was reset: counting starts again
        # A point goes only where its neighbours are close: what grew before it must not count until a late one.
        if len(seen) >= 2 and at - seen[-2][0] < _STEP_MS:
            seen.pop()
        seen.append((at, total))
        # The oldest point kept is the last one at least as old as the window.
        while len(seen) > 2 and seen[1][0] <= at - self._window_ms:
            seen.popleft()

    def _rate(self, key: K) -> float | None:
        seen = self._seen.get(key)
        if not seen:
            return None
        ended, after = seen[-1]
        if ended < self._confirmed:
            ended = self._confirmed  # nothing came since
        elif len(seen) < 2:
            return None
        began, before = self._begin_of(seen, ended - self._window_ms)
        if ended < self._now - self._stale_ms or ended - began < max(1, self._shortest_ms):
            return None
        return (after - before) * 1000 / (ended - began)

    @staticmethod
    def _begin_of(seen: deque[tuple[int, float]], begin: int) -> tuple[int, float]:
        """Return the last point at least as old as `begin`, moved up to it if the total stayed; else the first one."""
        later = seen[-1][1]
        for at, total in reversed(seen):
            if at <= begin:
                return (begin if total == later else at), total
            later = total
        return seen[0]
