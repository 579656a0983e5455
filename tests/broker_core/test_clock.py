"""The clocks."""

from __future__ import annotations

import time

from broker_core.clock import boot_seconds, now_ms


def test_the_wall_clock_counts_ms_since_1970() -> None:
    assert abs(now_ms() - time.time() * 1000) < 60_000


def test_the_clock_of_leases_never_goes_back_and_is_not_the_wall_clock() -> None:
    first = boot_seconds()
    assert time.monotonic() <= boot_seconds()  # this one does not count sleep
    assert first <= boot_seconds()
