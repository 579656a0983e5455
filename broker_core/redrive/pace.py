"""The rate of a redrive."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

_WINDOWS_A_SECOND: Final = 4


class Pace:
    """Lets through so many messages a second, evenly; a stop ends every wait."""

    def __init__(self, per_second: int, stop: asyncio.Event) -> None:
        self.per_second = per_second
        """May be changed; what waits already waits for its turn at the old rate."""
        self._stop = stop
        self._next_at = time.monotonic()

    @property
    def window(self) -> int:
        """How many messages to send at once, so that the rate is even within a second."""
        return max(1, self.per_second // _WINDOWS_A_SECOND)

    async def wait_for(self, count: int) -> bool:
        """Wait until so many messages may be sent; return False if a stop came first."""
        now = time.monotonic()
        self._next_at = max(self._next_at, now)
        pause_s = self._next_at - now
        self._next_at += count / self.per_second
        if pause_s:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause_s)
        return not self._stop.is_set()
