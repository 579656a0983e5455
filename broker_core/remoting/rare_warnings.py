"""Warnings that peers can cause as often as they like: some in each second are logged, and the others counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from logging import Logger, LoggerAdapter
from typing import Final

PER_SECOND: Final = 10
"""So many are logged in a second: each failure of a few clients, and next to nothing of a flood."""


class RareWarnings:
    """The warnings of one server, or of one connection of a client."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        self._second = clock()
        self._logged = 0
        self._left_out = 0

    def warn(self, log: Logger | LoggerAdapter[Logger], text: str, *args: object) -> None:
        """Log a warning, with how many were left out before it; or leave it out."""
        now = self._clock()
        if now >= self._second + 1:
            self._second, self._logged = now, 0
        if self._logged >= PER_SECOND:
            self._left_out += 1
            return
        self._logged += 1
        if self._left_out:
            text, args = f"{text}; %d such warnings before it were left out", (*args, self._left_out)
            self._left_out = 0
        log.warning(text, *args)
