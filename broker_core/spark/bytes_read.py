"""How many bytes a read looked at, by the files they lie in: a job prints it, and its cost is tested by it."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, fields
from typing import Final

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_STEP: Final = 1024


@dataclass(slots=True)
class BytesRead:
    """Bytes of records, of units of consume queues, of index entries, of answers of brokers, of columns of tables."""

    log: int = 0
    queue: int = 0
    index: int = 0
    wire: int = 0
    table: int = 0

    def add(self, other: BytesRead) -> None:
        """Count what another read looked at, too."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def total(self) -> int:
        """Return all bytes."""
        return sum(astuple(self))

    def text(self) -> str:
        """Return the line for a job's log."""
        parts = (f"{each.name} {_amount(getattr(self, each.name))}" for each in fields(self))
        return f"bytes read: {', '.join(parts)}"


@dataclass(slots=True)
class PlanCost:
    """What planning took, and why a read takes more than was asked."""

    read: BytesRead = field(default_factory=BytesRead)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Keep a sentence for the log, once."""
        if text not in self.notes:
            self.notes.append(text)

    def lines(self) -> list[str]:
        """Return the lines for a job's log."""
        return [f"planned; {self.read.text()}", *self.notes]


def _amount(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= _STEP and unit < len(_UNITS) - 1:
        amount, unit = amount / _STEP, unit + 1
    return f"{size} B" if not unit else f"{amount:.1f} {_UNITS[unit]}"
