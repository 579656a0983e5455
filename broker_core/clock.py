"""The clock on the wall, in the unit in which RocketMQ and the API count time."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Return ms since 1970; a clock that is set can jump either way, so no duration is measured with it."""
    return time.time_ns() // 1_000_000
