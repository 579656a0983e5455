"""Which brokers came, went or were restarted, and whether a name server answers."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from console.activity.shapes import ActivityEvent
from console.lag.reading import LagReading, Missing
from console.moments import rfc3339

# A client that lost its broker connects again, and reports itself, within its heartbeat of 30 s.
SETTLE_MS: Final = 60_000
# What does not answer in the first moments after a start was not asked for long enough to be called gone.
_PATIENCE_MS: Final = 10_000


class BrokersSeen:
    """Follows the masters of one cluster."""

    def __init__(self) -> None:
        self._began_at: int | None = None
        self._there: dict[str, bool] = {}
        self._booted: dict[str, int] = {}
        self._addresses: dict[str, str] = {}
        self._settled_at: dict[str, int] = {}
        self._has_name_server: bool | None = None

    def step(self, reading: LagReading, led: Collection[str] = ()) -> list[ActivityEvent]:
        """Return what happened since the reading before; nothing at the first one.

        Controllers choose the masters of the names in `led`: there another process is none that was restarted.
        """
        first = self._began_at is None
        if self._began_at is None:
            self._began_at = reading.at
        booted = self._boots(reading, led)
        found = [each for name in sorted(reading.facts) if (each := self._answers(reading, name, booted.get(name)))]
        found += [each for missing in reading.missing if (each := self._silent(reading, missing, first=first))]
        for gone in self._there.keys() - reading.facts.keys() - {each.broker for each in reading.missing}:
            del self._there[gone]
        return found + self._name_server(reading)

    def unsettled(self, now: int) -> frozenset[str]:
        """Return the brokers whose clients may not have connected to them again yet."""
        return frozenset(name for name, until in self._settled_at.items() if now < until)

    def _boots(self, reading: LagReading, led: Collection[str]) -> dict[str, int]:
        masters = {broker.addr: broker.name for broker in reading.brokers if broker.is_master}
        for addr, name in masters.items():
            if name in led and name in self._booted and self._addresses[name] != addr:
                del self._booted[name]
                self._settled_at[name] = reading.at + SETTLE_MS
            self._addresses[name] = addr
        return {
            masters[addr]: runtime.booted_at
            for addr, runtime in reading.runtimes.items()
            if addr in masters and runtime.booted_at
        }

    def _answers(self, reading: LagReading, name: str, booted: int | None) -> ActivityEvent | None:
        was_there, before = self._there.get(name), self._booted.get(name)
        self._there[name] = True
        if booted is not None:
            self._booted[name] = booted
        is_restarted = before is not None and booted is not None and before != booted
        assert self._began_at is not None
        is_early = reading.at - self._began_at < _PATIENCE_MS
        # One that is heard of for the first time is new, unless the watch itself is.
        has_come = was_there is False or (was_there is None and not is_early)
        if not (is_restarted or has_come):
            return None
        self._settled_at[name] = reading.at + SETTLE_MS
        kind = "broker_restarted" if is_restarted else "broker_came"
        return ActivityEvent(seen_at=rfc3339(reading.at), kind=kind, broker=name)  # type: ignore[arg-type]

    def _silent(self, reading: LagReading, missing: Missing, *, first: bool) -> ActivityEvent | None:
        was_there = self._there.get(missing.broker)
        if was_there is None:
            # It never answered this watch: that it does later is news only after a while.
            assert self._began_at is not None
            if not first and reading.at - self._began_at >= _PATIENCE_MS:
                self._there[missing.broker] = False
            return None
        self._there[missing.broker] = False
        if not was_there:
            return None
        return ActivityEvent(
            seen_at=rfc3339(reading.at), kind="broker_went", broker=missing.broker, reason=missing.reason
        )

    def _name_server(self, reading: LagReading) -> list[ActivityEvent]:
        before, now = self._has_name_server, reading.name_server_reason is None
        self._has_name_server = now
        if before is None or before is now:
            return []
        kind = "name_server_came" if now else "name_server_went"
        return [ActivityEvent(seen_at=rfc3339(reading.at), kind=kind, reason=reading.name_server_reason)]  # type: ignore[arg-type]
