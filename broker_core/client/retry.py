"""When to try again: pauses that grow, with jitter, for a number of attempts or until a deadline."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Final

_JITTER: Final = 0.2
"""Each pause is shortened by up to this share, so that clients that failed together do not come back together."""


class Backoff(Iterator[float]):
    """Yields the pause before each attempt in seconds: 0 before the first one, then growing to `longest_s`.

    ::

        for pause_s in Backoff(first_s=0.1, longest_s=5.0, attempts=10):
            await asyncio.sleep(pause_s)
            try:
                return await ask()
            except BrokerBusy as error:
                failure = error
        raise failure

    It ends after `attempts`, or when `within_s` is over; the last pause ends at that deadline.
    """

    def __init__(
        self,
        *,
        first_s: float,
        longest_s: float,
        attempts: int | None = None,
        within_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The pause is `first_s` before the second attempt and doubles from there."""
        self.deadline = clock() + within_s
        self._clock = clock
        self._attempts_left = math.inf if attempts is None else attempts
        self._next_s = 0.0
        self._first_s = first_s
        self._longest_s = longest_s

    @property
    def left_s(self) -> float:
        """Seconds until the deadline; 0 when it is over."""
        return max(0.0, self.deadline - self._clock())

    def __next__(self) -> float:
        if self._attempts_left <= 0:
            raise StopIteration
        self._attempts_left -= 1
        pause_s = self._next_s
        if not pause_s:
            self._next_s = self._first_s
            return 0.0
        left_s = self.left_s
        if not left_s:
            raise StopIteration
        self._next_s = min(2 * pause_s, self._longest_s)
        return min(left_s, pause_s * (1 - _JITTER * random.random()))  # noqa: S311 - no secret
