"""When a sent message wants to be delivered: the properties of 5.x, and what the settings allow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from broker_core.broker.errors import MessageIllegal, TimerDisabled
from broker_core.protocol import properties as names

MAX_DELAY_MS: Final = 3 * 24 * 3_600_000
"""timerMaxDelaySec of 5.x, three days."""

_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_TIMES: Final = (
    (names.TIMER_DELAY_SEC, 1_000, True),
    (names.TIMER_DELAY_MS, 1, True),
    (names.TIMER_DELIVER_MS, 1, False),
)


@dataclass(frozen=True, slots=True)
class TimerSettings:
    """What senders may ask for."""

    enabled: bool = True  # timerWheelEnable
    max_delay_ms: int = MAX_DELAY_MS  # timerMaxDelaySec
    recalls: bool = True  # recallMessageEnable

    def due_time(self, pairs: Mapping[str, str], now: int) -> int | None:
        """Return when a message with these properties is due (ms), None without a delivery time.

        A delay level wins over a time, seconds over milliseconds, and a delay over a time of day, as in 5.x. A time
        that has passed counts as none. Raises MessageIllegal for a time that is no number or too far away, and
        TimerDisabled.
        """
        if names.DELAY in pairs:
            return None
        for name, unit, is_delay in _TIMES:
            if name in pairs:
                due = _number(name, pairs[name]) * unit + (now if is_delay else 0)
                return self.check(due, now) if due > now else None
        return None

    def check(self, due: int, now: int) -> int:
        """Return `due`; raise MessageIllegal when it is further away than allowed, and TimerDisabled."""
        if not self.enabled:
            raise TimerDisabled
        if due - now > self.max_delay_ms:
            raise MessageIllegal(
                f"timer message illegal, the delay time should not be bigger than the max delay {self.max_delay_ms}ms: "
                f"{due - now}ms asked for; setting timerMaxDelaySec={self.max_delay_ms // 1000}"
            )
        return due


def _number(name: str, text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise MessageIllegal(f"timer message illegal, the property {name} is {text[:20]!r}, not a number")
    return int(text)
