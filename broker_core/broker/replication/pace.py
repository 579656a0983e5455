"""How fast a master copies its log to slaves: what it may, so that messages have room, and what it does."""

from __future__ import annotations

from typing import Final

_BURST_SECONDS: Final = 0.1
_SECOND_MS: Final = 1_000


class ByteRate:
    """Bytes a second, measured over the last second that was complete; times in ms."""

    __slots__ = ("_bytes", "_measured", "per_second")

    def __init__(self) -> None:
        self.per_second = 0
        self._bytes = 0
        self._measured: tuple[int, int] | None = None  # when, and how much it was then

    def count(self, size: int) -> None:
        """Count what was sent."""
        self._bytes += size

    def step(self, now: int) -> None:
        """Measure, when a second has passed."""
        since, before = self._measured or (now, self._bytes)
        if self._measured is None or now - since >= _SECOND_MS:
            self.per_second = (self._bytes - before) * _SECOND_MS // max(now - since, 1)
            self._measured = now, self._bytes


class Pace:
    """A bucket for all slaves (`maxHaTransferByteInSecond`); times are seconds of one clock.

    It may owe one frame, and waits until that is paid.
    """

    __slots__ = ("_at", "_left", "bytes_per_second")

    def __init__(self, bytes_per_second: int) -> None:
        self.bytes_per_second = bytes_per_second
        self._left = bytes_per_second * _BURST_SECONDS
        self._at = float("-inf")

    def wait_seconds(self, now: float) -> float:
        """Return how long to wait before the next frame; 0: it may go now."""
        self._refill(now)
        return max(0.0, -self._left / self.bytes_per_second)

    def sent(self, size: int, now: float) -> None:
        """Count a frame."""
        self._refill(now)
        self._left -= size

    def _refill(self, now: float) -> None:
        most = self.bytes_per_second * _BURST_SECONDS
        passed = max(0.0, now - self._at)
        self._at = now
        self._left = min(most, self._left + passed * self.bytes_per_second) if passed != float("inf") else most
