"""When to try again what failed: each time after twice as long, up to a most."""

from __future__ import annotations


class Retrying:
    """Times are seconds of one clock."""

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._pause = first
        self._due_at = float("-inf")

    def is_due(self, now: float) -> bool:
        """Tell whether to try."""
        return now >= self._due_at

    def failed(self, now: float) -> None:
        """Note that it failed now."""
        self._due_at = now + self._pause
        self._pause = min(self._pause * 2, self._most)

    def worked(self) -> None:
        """Note that it works: there is nothing to wait for, and the next failure is a first one."""
        self._pause = self._first
        self._due_at = float("-inf")
