"""Avoiding brokers that failed or were slow, for a limited time (client/README.md#fault-avoidance)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class FaultAvoidance(StrEnum):
    """How a producer avoids failing brokers."""

    OFF = "OFF"
    """Only a retry goes to another broker: the default of the Java client."""
    V4 = "4.9"
    """The rules of 4.9 if enabled: a ten-minute pause after a lost connection."""
    V5 = "5.x"
    """The rules of 5.x if enabled: a ten-second pause after a lost connection."""


@dataclass(frozen=True, slots=True)
class FaultTable:
    """The latency from which a broker is avoided, and for how long."""

    pauses: tuple[tuple[int, int], ...]
    """(latency in ms, pause in ms), the greatest latency first."""
    isolation_ms: int
    """The latency that is assumed for a failed attempt."""
    every_refusal_counts: bool = False
    """Whether refusals that every broker would repeat, such as of a malformed message, also count as failures."""

    def pause_ms(self, latency_ms: int) -> int:
        """Return how long to avoid a broker with this latency."""
        return next((pause for threshold, pause in self.pauses if latency_ms >= threshold), 0)


TABLES: Final = {
    FaultAvoidance.V4: FaultTable(
        ((15_000, 600_000), (3_000, 180_000), (2_000, 120_000), (1_000, 60_000), (550, 30_000), (100, 0), (50, 0)),
        isolation_ms=30_000,
        every_refusal_counts=True,
    ),
    # A refused message says nothing about its broker: one faulty sender must not cause all brokers to be avoided.
    FaultAvoidance.V5: FaultTable(
        ((15_000, 30_000), (5_000, 10_000), (3_000, 6_000), (1_800, 5_000), (550, 2_000), (100, 0), (50, 0)),
        isolation_ms=10_000,
    ),
}


@dataclass(slots=True)
class _Fault:
    """One broker's last attempt."""

    latency_ms: int
    until: int


class Faults:
    """Records until when each broker is avoided; `now` is the clock in ms."""

    def __init__(self, avoidance: FaultAvoidance = FaultAvoidance.V5) -> None:
        self.avoidance = avoidance
        self._table = TABLES.get(avoidance)
        self._known: dict[str, _Fault] = {}
        self._turn = 0

    def __bool__(self) -> bool:
        """Whether any broker is recorded; a quick check that saves all others."""
        return bool(self._known)

    @property
    def every_refusal_counts(self) -> bool:
        """Whether to call `note_failure` for every refusal, or only for those that another broker may not repeat."""
        return self._table is not None and self._table.every_refusal_counts

    def is_available(self, broker_name: str, *, now: int) -> bool:
        """Whether a new request may go to this broker."""
        known = self._known.get(broker_name)
        return known is None or now >= known.until

    def note_latency(self, broker_name: str, latency_ms: int, *, now: int) -> None:
        """Record a request that was answered after `latency_ms`: slow brokers are avoided, quick ones no longer."""
        if self._table is None:
            return
        pause = self._table.pause_ms(latency_ms)
        if pause or self.avoidance is FaultAvoidance.V4:
            self._known[broker_name] = _Fault(latency_ms, now + pause)
        else:
            self._known.pop(broker_name, None)

    def note_failure(self, broker_name: str, *, now: int) -> None:
        """Record a failed request: the broker is avoided as long as a very slow one."""
        if self._table is not None:
            latency = self._table.isolation_ms
            self._known[broker_name] = _Fault(latency, now + self._table.pause_ms(latency))

    def forget(self, broker_name: str) -> None:
        """Remove what is recorded of a broker."""
        self._known.pop(broker_name, None)

    def pick_one_at_least(self, *, now: int) -> str | None:
        """Return one of the better half of the recorded brokers, in turn; None if there are none."""
        ranked = sorted(self._known, key=lambda name: self._rank(name, now))
        half = len(ranked) // 2
        if half == 0:
            return ranked[0] if ranked else None
        self._turn += 1
        return ranked[self._turn % half]

    def _rank(self, broker_name: str, now: int) -> tuple[bool, int, int]:
        known = self._known[broker_name]
        return now < known.until, known.latency_ms, known.until
