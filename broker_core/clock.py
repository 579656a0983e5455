"""The wall clock, in the time unit of RocketMQ and the API."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Return ms since 1970. The clock may be set and jump, so it must not be used to measure durations."""
    return time.time_ns() // 1_000_000
