"""Retries: growing pauses with jitter, for a number of attempts or until a deadline."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator
from typing import Final

_JITTER: Final = 0.2
"""Each pause is shortened by up to this share, so that clients that failed together do not retry together."""
FAIR_MS: Final = 500
_FAIR_SHARE: Final = 4


def fair_ms(timeout_ms: int) -> int:
    """Return what an attempt after a refusal needs of the time for all attempts (client/README.md#attempts).

    With less no answer would come, and what was known to be refused would be uncertain.
    """
    return min(FAIR_MS, timeout_ms // _FAIR_SHARE)


def backoff(
    *,
    first_s: float,
    longest_s: float,
    attempts: float = math.inf,
    within_s: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[float]:
    """Yield the pause before each attempt in seconds: 0, then `first_s`, doubling up to `longest_s`.

    ::

        for pause_s in backoff(first_s=0.1, longest_s=5.0, attempts=10):
            await asyncio.sleep(pause_s)
            try:
                return await ask()
            except BrokerBusy as error:
                failure = error
        raise failure

    It ends after `attempts`, or when `within_s` is over; the last pause ends at that deadline.
    """
    deadline = clock() + within_s
    yield 0.0
    pause_s = first_s
    while attempts > 1 and (left_s := deadline - clock()) > 0:
        attempts -= 1
        yield min(left_s, pause_s * (1 - _JITTER * random.random()))  # noqa: S311 - no secret
        pause_s = min(2 * pause_s, longest_s)
