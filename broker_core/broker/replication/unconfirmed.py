"""How long what a master stored waits for the in-sync set (broker/replication/README.md#a-master)."""

from __future__ import annotations

from collections import deque
from typing import Final

_APART: Final = 0.5


class Unconfirmed:
    """Notes now and then where the log ended, until that is confirmed."""

    def __init__(self) -> None:
        self.seconds = 0.0
        """For how long, at the last look, the oldest of what is not confirmed had waited at least; 0 if all is."""
        self._ends: deque[tuple[int, float]] = deque()  # log offset, and when it was the end

    def look(self, end: int, confirm: int, now: float) -> None:
        """Note where the log ends and up to where it is confirmed."""
        while self._ends and self._ends[0][0] <= confirm:
            self._ends.popleft()
        if end > confirm and (not self._ends or (now - self._ends[-1][1] >= _APART and end > self._ends[-1][0])):
            self._ends.append((end, now))
        self.seconds = now - self._ends[0][1] if self._ends else 0.0
