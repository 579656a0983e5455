"""Which brokers to avoid after they failed or were slow, and for how long (behaviour.md D.4, 5.x table)."""

from __future__ import annotations

from typing import Final

# Latency in ms from which a pause applies, and the pause in ms. The table of 5.x: the one of 4.9 keeps a broker
# out for ten minutes after one lost connection, which outlives most restarts by far.
_PAUSES: Final = ((15_000, 30_000), (5_000, 10_000), (3_000, 6_000), (1_800, 5_000), (550, 2_000))
_ISOLATION_LATENCY_MS: Final = 10_000
SLOW_MS: Final = _PAUSES[-1][0]


class Faults:
    """Remembers until when each broker is to be avoided; the clock comes in as `now` in ms."""

    def __init__(self) -> None:
        self._avoid_until: dict[str, int] = {}

    def __bool__(self) -> bool:
        """Whether any broker is remembered at all: the quick way past every other question."""
        return bool(self._avoid_until)

    def is_available(self, broker_name: str, *, now: int) -> bool:
        """Whether a new request may go to this broker."""
        return now >= self._avoid_until.get(broker_name, 0)

    def note_latency(self, broker_name: str, latency_ms: int, *, now: int) -> None:
        """Remember a request that was answered after `latency_ms`: a slow broker is avoided, a quick one no more."""
        pause = _pause_ms(latency_ms)
        if pause:
            self._avoid_until[broker_name] = now + pause
        else:
            self._avoid_until.pop(broker_name, None)

    def note_failure(self, broker_name: str, *, now: int) -> None:
        """Remember that a request failed: the broker is isolated for as long as one that takes ten seconds."""
        self._avoid_until[broker_name] = now + _pause_ms(_ISOLATION_LATENCY_MS)


def _pause_ms(latency_ms: int) -> int:
    for threshold, pause in _PAUSES:
        if latency_ms >= threshold:
            return pause
    return 0
