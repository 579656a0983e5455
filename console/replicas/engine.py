"""Whether what keeps the controllers' decisions serves them, from what one of them tells."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

OLD_MS: Final = 10_000
"""A controller that has not read what it keeps for so long does not know what is decided."""


def is_fresh(age_ms: int | None) -> bool:
    """Return whether a controller whose last read is that old knows what is decided now."""
    return age_ms is not None and age_ms <= OLD_MS


def is_up(age_ms: int | None, alarms: Collection[str] | None) -> bool:
    """Return whether a controller reads its engine, which takes a majority of it, and hears of no alarm there."""
    return is_fresh(age_ms) and not alarms
