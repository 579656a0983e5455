"""How long the store takes, as quantiles of the last one to two minutes; one call in 32 is measured (hot path)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from time import perf_counter_ns
from typing import Final, TypeVar

T = TypeVar("T")

MEASURED_ONE_IN: Final = 32
PERIOD_MS: Final = 60_000
_PARTS: Final = 4
"""Buckets from one power of two to the next: a quantile is at most a quarter too high."""
_BUCKETS: Final = 40 * _PARTS


class Latency:
    """The times of one kind of call."""

    __slots__ = ("_before", "_now", "_since", "is_due")

    def __init__(self, now: int) -> None:
        self.is_due: Callable[[], bool] = cycle([True] + [False] * (MEASURED_ONE_IN - 1)).__next__
        """Says for each call whether to measure it; asked in place, which costs a twentieth of a microsecond."""
        self._since = now
        self._before = [0] * _BUCKETS
        self._now = [0] * _BUCKETS

    def measured(self, call: Callable[..., T], *arguments: object) -> T:
        """Return what the call returns, and count it; a call that raises is not counted."""
        begun = perf_counter_ns()
        result = call(*arguments)
        self.add(perf_counter_ns() - begun)
        return result

    def add(self, took_ns: int) -> None:
        """Count a call."""
        bits = max(took_ns, _PARTS).bit_length()
        self._now[min(bits * _PARTS + (took_ns >> (bits - 3)) % _PARTS, _BUCKETS - 1)] += 1

    def step(self, now: int) -> None:
        """Begin the next period when this one is over; called once a second."""
        if now - self._since >= PERIOD_MS:
            self._since = now
            self._before, self._now = self._now, [0] * _BUCKETS

    def quantile_ms(self, share: float) -> float | None:
        """Return the time within which this share of the calls returned; None if none was measured."""
        counts = [before + now for before, now in zip(self._before, self._now, strict=True)]
        left = share * sum(counts)
        if not any(counts):
            return None
        for index, count in enumerate(counts):
            left -= count
            if count and left <= 0:
                return _upper_ns(index) / 1e6
        raise AssertionError("a share is at most 1")


def _upper_ns(index: int) -> int:
    """Return where the bucket ends."""
    bits, part = divmod(index, _PARTS)
    return (_PARTS + part + 1) << (bits - 3)
