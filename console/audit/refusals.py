"""Records refusals for missing rights, each at most once in a while however often it is repeated.

A program with too few rights retries again and again, and a wall of equal lines would hide the one that matters.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from console.audit.record import Actor, record

QUIET_SECONDS: Final = 300.0
"""For this time the same refusal of the same caller is not recorded again."""
PER_CALLER: Final = 50
"""How many different refusals of one caller are recorded in that time."""
_MOST_CALLERS: Final = 10_000


@dataclass(slots=True)
class _Told:
    since: float
    acts: set[tuple[str, str]] = field(default_factory=set)


class Refusals:
    """The refusals that this process has recorded recently."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: dict[tuple[str, str | None, str], _Told] = {}

    def are_news(self, by: Actor, action: str, resource: str) -> bool:
        """Return whether to record a refusal, and remember it."""
        now, caller, act = self._clock(), (by.name, by.token, by.address), (action, resource)
        with self._lock:
            told = self._told.get(caller)
            if told is None or now - told.since > QUIET_SECONDS:
                if len(self._told) >= _MOST_CALLERS:
                    self._told.clear()
                told = self._told[caller] = _Told(now)
            if act in told.acts or len(told.acts) >= PER_CALLER:
                return False
            told.acts.add(act)
            return True


refusals: Final = Refusals()


def record_refusal(by: Actor, action: str, resource: str, reason: str) -> None:
    """Record what was refused and why, unless it was recorded recently."""
    if refusals.are_news(by, action, resource):
        record(by, action, resource, result="refused", after={"reason": reason[:500]})
