"""Whether messages come to topics that are measured too seldom to show it.

A quiet topic of ten thousand has its turn once in a minute. When a broker stores more than its measured topics have
grown, one of the quiet ones is quiet no more: then larger portions are read until all had their turn.
"""

from __future__ import annotations

from typing import Final

# The rounds in which every topic is read once while there is something to find.
SEARCH_ROUNDS: Final = 10
_WINDOW_MS: Final = 10_000
# What is not found comes from counters that count apart; it is not looked for all the time.
_REST_MS: Final = 30_000
_FLOOR: Final = 10
_SHARE: Final = 0.1


class Unseen:
    """Holds what a broker says it stored against the growth that its topics showed."""

    def __init__(self) -> None:
        self._began: tuple[int, int] | None = None
        self._seen = 0
        self._rounds_left = 0
        self._rests_until = 0

    def count(self, growth: int) -> None:
        """Take in how many messages a topic was seen to have more."""
        self._seen += growth

    def is_searching(self, now: int, stored: int | None) -> bool:
        """Return whether this round at `now` (ms) is one of a search; `stored` is the broker's own count."""
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
