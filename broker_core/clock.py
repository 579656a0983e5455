"""The clocks: the wall's, in the time unit of RocketMQ and the API, and the one that leases are counted on."""

from __future__ import annotations

import time
from typing import Final

_BOOT: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def now_ms() -> int:
    """Return ms since 1970. The clock may be set and jump, so it must not be used to measure durations."""
    return time.time_ns() // 1_000_000


def boot_seconds() -> float:
    """Return seconds since the machine started, also those in which it slept; without those where no clock has them."""
    return time.clock_gettime(_BOOT)
