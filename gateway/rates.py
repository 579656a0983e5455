"""Rates of callers: token buckets, one per caller and route class, that all gateway processes share.

A process decides by its own copy of a bucket, without waiting for Redis. Every tenth of a second `gateway.shared_rates`
reports to Redis what was spent and learns what the other processes left. Until then callers may exceed a rate; the
shared bucket is then in debt, which they must wait out, so that the rate holds over time.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from gateway.limits import RateLimit
from gateway.problems import RATE_LIMITED, ProblemError

Header = tuple[bytes, bytes]


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    unshared: float = 0.0
    """What was spent here and not reported yet."""


class RateLimiter:
    """Token buckets by caller for one rate; for any number of threads."""

    _MAX_CALLERS: Final = 50_000

    def __init__(self, rate: RateLimit) -> None:
        self.rate = rate
        self._lock = threading.Lock()
        self._buckets: dict[str, _Bucket] = {}
        self._unshared: dict[str, _Bucket] = {}
        window = max(1, round(rate.burst / rate.per_second))
        self._policy = (b"ratelimit-policy", f'"{rate.name}";q={rate.burst};w={window}'.encode())

    def take(self, caller: str, cost: int, now: float) -> tuple[Header, Header]:
        """Spend `cost` of the caller's tokens at `now` (s, monotonic); return RateLimit-Policy and RateLimit headers.

        Raises RATE_LIMITED if there are too few, and then spends none. A cost larger than the bucket takes a full
        bucket and leaves a debt, so that every request is possible at some time and the rate holds all the same.
        """
        rate = self.rate
        needed = min(cost, rate.burst)
        with self._lock:
            bucket = self._buckets.get(caller)
            if bucket is None:
                bucket = self._add(caller, now)
            tokens = bucket.tokens = min(float(rate.burst), bucket.tokens + (now - bucket.at) * rate.per_second)
            bucket.at = now
            if tokens >= needed:
                tokens = bucket.tokens = tokens - cost
                bucket.unshared += cost
                self._unshared[caller] = bucket
                return self._policy, self._header(tokens)
        raise self._refusal(needed, tokens)

    def spent(self) -> dict[str, float]:
        """Return by caller what was spent here since the last call."""
        with self._lock:
            found = {caller: bucket.unshared for caller, bucket in self._unshared.items()}
            for bucket in self._unshared.values():
                bucket.unshared = 0.0
            self._unshared.clear()
        return found

    def return_spent(self, spent: dict[str, float], now: float) -> None:
        """Take back what `spent` returned, because it could not be reported.

        A bucket takes back at most its burst: after a long time without Redis nobody has to wait for all of it.
        """
        with self._lock:
            for caller, amount in spent.items():
                bucket = self._buckets.get(caller) or self._add(caller, now)
                bucket.unshared = min(bucket.unshared + amount, self.rate.burst)
                self._unshared[caller] = bucket

    def learn(self, caller: str, tokens: float, now: float) -> None:
        """Set the caller's tokens to those of the shared bucket, which does not know what is unshared here."""
        with self._lock:
            bucket = self._buckets.get(caller) or self._add(caller, now)
            bucket.tokens = min(float(self.rate.burst), tokens) - bucket.unshared
            bucket.at = now

    def _header(self, tokens: float) -> Header:
        missing = self.rate.burst - tokens
        left = max(tokens, 0.0)
        return b"ratelimit", b'"%b";r=%d;t=%d' % (self.rate.name.encode(), left, missing / self.rate.per_second + 1)

    def _refusal(self, needed: int, tokens: float) -> ProblemError:
        wait = int((needed - tokens) / self.rate.per_second) + 1
        return ProblemError(
            RATE_LIMITED,
            f"The rate {self.rate.name!r} is {self.rate.per_second:g} per second for a caller; try again in {wait} s.",
            retry_after_s=wait,
            headers=(self._policy, self._header(tokens)),
        )

    def _add(self, caller: str, now: float) -> _Bucket:
        if len(self._buckets) >= self._MAX_CALLERS:
            self._forget_full(now)
        bucket = self._buckets[caller] = _Bucket(float(self.rate.burst), now)
        return bucket

    def _forget_full(self, now: float) -> None:
        # A full bucket is the same as a missing one.
        rate = self.rate
        self._buckets = {
            caller: bucket
            for caller, bucket in self._buckets.items()
            if bucket.tokens + (now - bucket.at) * rate.per_second < rate.burst
        }
        self._unshared = {caller: self._buckets[caller] for caller in self._unshared if caller in self._buckets}
