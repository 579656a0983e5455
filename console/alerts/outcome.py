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
    """Its beginning as text that can be shown and stored, whatever was sent."""
    body: bytes = b""
    """Its beginning as it was sent."""
    cut: str | None = None
    """Why `body` is not all of it."""

    @property
    def is_delivered(self) -> bool:
        """Return whether the receiver took it."""
        return self.error is None
