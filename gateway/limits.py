"""The limits of the gateway: sizes, rates, connections and leases; `gateway.rates` counts the rates.

Leases are counted in the memory of this process: a lease that is settled through another process counts here until it
expires.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.problems import BODY_TOO_LARGE, TOO_MANY_IN_FLIGHT, ProblemError

MIB: Final = 1024 * 1024
# Expired leases are removed once in this many receives.
_SWEEP_EVERY: Final = 4096


@dataclass(frozen=True, slots=True)
class Sizes:
    """The largest sizes that one request may have."""

    body_bytes: int = 8 * MIB  # a batch; base64 makes four bytes out of three
    control_bytes: int = MIB  # a request of the control plane
    message_bytes: int = 4 * MIB  # RocketMQ's maxMessageSize; a broker refuses more
    batch_messages: int = 1000
    receipts: int = 1000
    keys: int = 64
    properties_bytes: int = 30_000  # brokers accept 32,767, including their own properties
    frame_bytes: int = 8 * MIB


@dataclass(frozen=True, slots=True)
class ArrivalLimits:
    """The number of connections, and how long a client may be idle."""

    connections: int = 8192  # of this process; above that, those idle longest are closed
    idle_seconds: float = 30.0  # a connection without a request
    pause_seconds: float = 10.0  # between two parts of a body
    body_seconds: float = 120.0  # a whole body


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The rate of a route class for one caller: the number per second, and the number at once after a pause."""

    name: str
    per_second: float
    burst: int


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """All limits of a gateway process."""

    sizes: Sizes = field(default_factory=Sizes)
    arrivals: ArrivalLimits = field(default_factory=ArrivalLimits)
    # Messages, not requests: a batch of 100 costs 100.
    produce: RateLimit = RateLimit("produce", 50_000, 100_000)
    # Requests to receive, ack, nack and extend.
    consume: RateLimit = RateLimit("consume", 10_000, 20_000)
    # Requests of the control plane.
    read: RateLimit = RateLimit("read", 300, 600)
    change: RateLimit = RateLimit("change", 100, 200)
    leases_per_group: int = 100_000
    leases_per_caller: int = 20_000


@dataclass(slots=True)
class _LeaseEnds:
    """Leases with their ends; `soonest` is the earliest of these."""

    until: dict[str, float] = field(default_factory=dict)
    soonest: float = float("inf")

    def forget_expired(self, now: float) -> None:
        if now >= self.soonest:
            self.until = {lease: until for lease, until in self.until.items() if until > now}
            self.soonest = min(self.until.values(), default=float("inf"))


class LeasesOut:
    """Counts the leases of this process that are neither settled nor expired, by group and by caller."""

    def __init__(self, limits: GatewayLimits) -> None:
        self._limits = limits
        self._by_key: dict[str, _LeaseEnds] = {}
        self._asked = 0

    def room(self, *, group: str, caller: str, wanted: int, now: float) -> int:
        """Return how many of `wanted` messages may be leased at `now` (s); raise TOO_MANY_IN_FLIGHT if none."""
        self._asked += 1
        if self._asked % _SWEEP_EVERY == 0:
            self.forget_expired(now)
        of_group = self._room(group, self._limits.leases_per_group, wanted, now)
        of_caller = self._room(caller, self._limits.leases_per_caller, wanted, now)
        if of_group <= 0:
            raise _too_many(f"group {group!r}", self._limits.leases_per_group)
        if of_caller <= 0:
            raise _too_many("this caller", self._limits.leases_per_caller)
        return min(of_group, of_caller)

    def add(self, leases: Sequence[str], *, group: str, caller: str, expires_at: float) -> None:
        """Count the leases with these handles until `expires_at` (s, same clock as `now`)."""
        if not leases:
            return
        for key in (group, caller):
            counted = self._by_key.setdefault(key, _LeaseEnds())
            counted.until.update(dict.fromkeys(leases, expires_at))
            counted.soonest = min(counted.soonest, expires_at)

    def settle(self, leases: Iterable[str], *, group: str, caller: str) -> None:
        """Stop counting leases; those that another process granted are skipped."""
        for key in (group, caller):
            counted = self._by_key.get(key)
            if counted is None:
                continue
            for lease in leases:
                counted.until.pop(lease, None)
            if not counted.until:
                del self._by_key[key]

    def total(self) -> int:
        """Return how many leases are counted, including expired ones that were not removed yet."""
        return sum(len(leases.until) for leases in self._by_key.values()) // 2

    def forget_expired(self, now: float) -> None:
        """Remove all expired leases."""
        for leases in self._by_key.values():
            leases.forget_expired(now)
        self._by_key = {key: leases for key, leases in self._by_key.items() if leases.until}

    def _room(self, key: str, limit: int, wanted: int, now: float) -> int:
        leases = self._by_key.get(key)
        if leases is None:
            return min(wanted, limit)
        if len(leases.until) + wanted > limit:
            leases.forget_expired(now)
        return min(wanted, limit - len(leases.until))


def _too_many(whose: str, limit: int) -> ProblemError:
    detail = f"{limit} messages of {whose} are on lease; settle some, or wait until their leases end."
    return ProblemError(TOO_MANY_IN_FLIGHT, detail)


def check_body_size(size: int, limit: int) -> None:
    """Raise BODY_TOO_LARGE if a body of `size` bytes is over `limit`."""
    if size > limit:
        raise ProblemError(BODY_TOO_LARGE, f"The body has {size:,} bytes or more; the limit is {limit:,}.")
