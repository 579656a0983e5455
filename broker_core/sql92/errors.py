"""Why an expression is refused."""

from __future__ import annotations

from broker_core.errors import GantryError


class IllegalExpression(GantryError):
    """Raised for a text that is no expression, or compares what cannot be compared; `at` counts characters from 1."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(f"{reason}, at character {at}")
        self.reason = reason
        self.at = at
