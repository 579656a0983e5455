"""How a benchmark reports: rates and durations of one run, each as a ratio to another of the same run, and counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_LONG_SECONDS: Final = 0.1
"""What takes longer is not told to the tenth of a millisecond."""


@dataclass(frozen=True)
class Row:
    """One line of the table: how many a second, beside what it is compared with."""

    name: str
    per_second: float
    unit: str
    beside: str = ""
    beside_per_second: float = 0.0

    def text(self) -> str:
        """Return the line."""
        ratio = f"{self.per_second / self.beside_per_second:6.2f} x {self.beside}" if self.beside_per_second else ""
        return f"{self.name:<46} {self.per_second:>12,.0f} {self.unit:<8} {ratio}"


@dataclass(frozen=True)
class Duration:
    """One line of the table: how many seconds, beside what it is compared with."""

    name: str
    seconds: float
    beside: str = ""
    beside_seconds: float = 0.0

    def text(self) -> str:
        """Return the line."""
        ratio = f"{self.seconds / self.beside_seconds:6.2f} x {self.beside}" if self.beside_seconds else ""
        digits = 2 if self.seconds >= _LONG_SECONDS else 4
        return f"{self.name:<46} {self.seconds:>12,.{digits}f} {'s':<8} {ratio}"


@dataclass(frozen=True)
class Count:
    """One line of the table: how many of something there are for each of another."""

    name: str
    each: float

    def text(self) -> str:
        """Return the line."""
        return f"{self.name:<46} {self.each:>12,.1f}"
