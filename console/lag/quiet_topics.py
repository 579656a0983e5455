"""Detects messages in topics that are measured too rarely to show them.

With ten thousand topics a quiet one is measured once a minute. When a broker stores more than its measured topics have
grown, one of the quiet ones has become active: then larger portions are read until each topic had its turn.
"""

from __future__ import annotations

from typing import Final

# In how many rounds a search reads every topic once.
SEARCH_ROUNDS: Final = 10
_WINDOW_MS: Final = 10_000
# A rest that is not found comes from counters that differ slightly; do not search for it all the time.
_REST_MS: Final = 30_000
_FLOOR: Final = 10
_SHARE: Final = 0.1


class QuietTopics:
    """Compares what a broker says it stored with the growth of its measured topics."""

    def __init__(self) -> None:
        self._began: tuple[int, int] | None = None
        self._seen = 0
        self._rounds_left = 0
        self._rests_until = 0

    def count(self, growth: int) -> None:
        """Record by how many messages a topic has grown."""
        self._seen += growth

    def is_searching(self, now: int, stored: int | None) -> bool:
        """Return whether the round at `now` (ms) searches; `stored` is the broker's own count."""
        if self._rounds_left:
            self._rounds_left -= 1
            if not self._rounds_left:
                self._rests_until = now + _REST_MS
                self._began = None
            return True
        if stored is None or self._began is None or stored < self._began[1]:
            self._begin(now, stored)
            return False
        began, before = self._began
        if now - began < _WINDOW_MS:
            return False
        unseen = stored - before - self._seen
        is_found = unseen <= max(_FLOOR, (stored - before) * _SHARE)
        self._begin(now, stored)
        if is_found or now < self._rests_until:
            return False
        self._rounds_left = SEARCH_ROUNDS - 1
        return True

    def _begin(self, now: int, stored: int | None) -> None:
        self._began = None if stored is None else (now, stored)
        self._seen = 0
