"""What became of one attempt to deliver. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_ANSWER: Final = 500
"""How many characters of an answer are kept."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of a receiver, or why there is none."""

    status: int | None
    error: str | None
    answer: str = ""

    @property
    def is_delivered(self) -> bool:
        """Return whether the receiver took it."""
        return self.error is None
