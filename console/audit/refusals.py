"""Records refusals for missing rights, but each only once in a while.

A program with too few rights keeps retrying, and hundreds of equal records would hide the important ones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from console.audit.record import Actor, record

QUIET_SECONDS: Final = 300.0
"""How long the same refusal of the same caller is not recorded again."""
PER_CALLER: Final = 50
"""How many different refusals of one caller are recorded in that time."""
_MOST_CALLERS: Final = 10_000


@dataclass(slots=True)
class _Recorded:
    since: float
    acts: set[tuple[str, str]] = field(default_factory=set)


class Refusals:
    """The refusals that this process has recorded recently."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._recorded: dict[tuple[str, str | None, str], _Recorded] = {}

    def should_record(self, by: Actor, action: str, resource: str) -> bool:
        """Return whether to record a refusal now; it then counts as recorded."""
        now, caller, act = self._clock(), (by.name, by.token, by.address), (action, resource)
        with self._lock:
            recorded = self._recorded.get(caller)
            if recorded is None or now - recorded.since > QUIET_SECONDS:
                if len(self._recorded) >= _MOST_CALLERS:
                    self._recorded.clear()
                recorded = self._recorded[caller] = _Recorded(now)
            if act in recorded.acts or len(recorded.acts) >= PER_CALLER:
                return False
            recorded.acts.add(act)
            return True


refusals: Final = Refusals()


def record_refusal(by: Actor, action: str, resource: str, reason: str) -> None:
    """Record a refusal and its reason, unless it was recorded recently."""
    if refusals.should_record(by, action, resource):
        record(by, action, resource, result="refused", after={"reason": reason[:500]})
