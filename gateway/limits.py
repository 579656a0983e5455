"""The limits of the gateway: sizes, rates, connections and leases; `gateway.rates` counts the rates.

Leases are counted in the memory of the process that granted them; `gateway.data.told_leases` has the others say what
they settled of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from gateway.problems import BODY_TOO_LARGE, TOO_MANY_IN_FLIGHT, ProblemError

MIB: Final = 1024 * 1024


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
class _Open:
    """The open leases of one portion, by queue offset."""

    offsets: set[int]
    keys: tuple[str, str]
    until: float


class LeasesOut:
    """Counts the leases of this process that are neither settled nor expired, by group and by caller.

    Leases are kept by portion, the messages that one pop leased from one queue: they start and end together.
    """

    def __init__(self, limits: GatewayLimits) -> None:
        self._limits = limits
        self._open: dict[str, _Open] = {}
        self._counts: dict[str, int] = {}
        self._ending: dict[int, set[str]] = {}
        """The open portions by the second in which they end."""

    def room(self, *, group: str, caller: str, wanted: int, now: float) -> int:
        """Return how many of `wanted` messages may be leased at `now` (s); raise TOO_MANY_IN_FLIGHT if none."""
        of_group = self._room(group, self._limits.leases_per_group, wanted, now)
        of_caller = self._room(caller, self._limits.leases_per_caller, wanted, now)
        if of_group <= 0:
            raise _too_many(f"group {group!r}", self._limits.leases_per_group)
        if of_caller <= 0:
            raise _too_many("this caller", self._limits.leases_per_caller)
        return min(of_group, of_caller)

    def add(self, portion: str, offsets: Iterable[int], *, group: str, caller: str, expires_at: float) -> None:
        """Count the leases of a portion until `expires_at` (s, same clock as `now`)."""
        leases = self._open.get(portion)
        if leases is None:
            leases = self._open[portion] = _Open(set(), (group, caller), expires_at)
            self._ending.setdefault(int(expires_at), set()).add(portion)
        elif expires_at > leases.until:
            self._drop_end(portion, leases.until)
            leases.until = expires_at
            self._ending.setdefault(int(expires_at), set()).add(portion)
        before = len(leases.offsets)
        leases.offsets.update(offsets)
        self._count(leases.keys, len(leases.offsets) - before)

    def settle(self, portion: str, offsets: Iterable[int]) -> bool:
        """Stop counting leases of a portion; return False if none of it is counted here."""
        leases = self._open.get(portion)
        if leases is None:
            return False
        before = len(leases.offsets)
        leases.offsets.difference_update(offsets)
        self._count(leases.keys, len(leases.offsets) - before)
        if not leases.offsets:
            del self._open[portion]
            self._drop_end(portion, leases.until)
        return True

    def total(self, now: float) -> int:
        """Return how many leases are counted at `now`."""
        self.forget_expired(now)
        return sum(len(leases.offsets) for leases in self._open.values())

    def __bool__(self) -> bool:
        """Return whether anything is counted."""
        return bool(self._open)

    def forget_expired(self, now: float) -> None:
        """Remove all expired leases; costs what they are, and a look at each second in which others end."""
        for second in [second for second in self._ending if second <= now]:
            for portion in list(self._ending[second]):
                leases = self._open[portion]
                if leases.until <= now:
                    self._count(leases.keys, -len(leases.offsets))
                    del self._open[portion]
                    self._drop_end(portion, leases.until)

    def _drop_end(self, portion: str, until: float) -> None:
        ending = self._ending[int(until)]
        ending.discard(portion)
        if not ending:
            del self._ending[int(until)]

    def _count(self, keys: tuple[str, str], by: int) -> None:
        for key in keys:
            count = self._counts.get(key, 0) + by
            if count:
                self._counts[key] = count
            else:
                self._counts.pop(key, None)

    def _room(self, key: str, limit: int, wanted: int, now: float) -> int:
        if self._counts.get(key, 0) + wanted > limit:
            self.forget_expired(now)
        return min(wanted, limit - self._counts.get(key, 0))


def _too_many(whose: str, limit: int) -> ProblemError:
    detail = f"{limit} messages of {whose} are on lease; settle some, or wait until their leases end."
    return ProblemError(TOO_MANY_IN_FLIGHT, detail)


def check_body_size(size: int, limit: int) -> None:
    """Raise BODY_TOO_LARGE if a body of `size` bytes is over `limit`."""
    if size > limit:
        raise ProblemError(BODY_TOO_LARGE, f"The body has {size:,} bytes or more; the limit is {limit:,}.")
