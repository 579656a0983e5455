"""Warnings that peers can cause as often as they like: some in each second are logged, and the others counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from logging import Logger, LoggerAdapter
from typing import Final

PER_SECOND: Final = 10
"""So many are logged in a second: each failure of a few clients, and next to nothing of a flood."""
_SUM_SECONDS: Final = 5.0


class RareWarnings:
    """The warnings of one server, or of one connection of a client."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        self._second = clock()
        self._logged = 0
        self._left_out = 0

    def warn(self, log: Logger | LoggerAdapter[Logger], text: str, *args: object) -> None:
        """Log a warning, with how many were left out before it; or leave it out.

        Those that no further one tells of are summed up after some seconds. It is called on an event loop.
        """
        now = self._clock()
        if now >= self._second + 1:
            self._second, self._logged = now, 0
        if self._logged >= PER_SECOND:
            if not self._left_out:
                asyncio.get_running_loop().call_later(_SUM_SECONDS, self._sum_up, log)
            self._left_out += 1
            return
        self._logged += 1
        if self._left_out:
            text, args = f"{text}; %d such warnings before it were left out", (*args, self._left_out)
            self._left_out = 0
        log.warning(text, *args)

    def _sum_up(self, log: Logger | LoggerAdapter[Logger]) -> None:
        if self._left_out:
            log.warning("%d such warnings were left out", self._left_out)
            self._left_out = 0
