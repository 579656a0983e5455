"""Moments as answers, frames and audit write them (RFC 3339 in UTC with milliseconds), and lengths of time in words.

Knows no Django.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final

from msgspec import Meta

Moment = Annotated[str, Meta(extra={"moment": True})]
"""The type of a field that holds what `rfc3339` returned."""

_FIRST_SECOND: Final = -62_135_596_800
_LAST_SECOND: Final = 253_402_300_799
_UNITS: Final = ("day", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)


def rfc3339(moment_ms: int) -> str:
    """Return the text of a moment (ms since 1970)."""
    seconds, millis = divmod(moment_ms, 1000)
    return f"{_second(seconds)}.{millis:03d}Z"


def lasting(ms: int) -> str:
    """Return a length of time in words, such as ``3 days`` or ``1 day 4 h 5 s 20 ms``."""
    words: list[str] = []
    rest = ms
    for unit, length in _UNITS:
        amount, rest = divmod(rest, length)
        if amount:
            words.append(f"{amount} {unit}{'s' if unit == 'day' and amount > 1 else ''}")
    return " ".join(words) or "0 s"


@lru_cache(maxsize=1024)
def _second(seconds: int) -> str:
    # A client may send any number as a time; numbers outside the calendar become its first or last second.
    moment = datetime.fromtimestamp(min(max(seconds, _FIRST_SECOND), _LAST_SECOND), UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")
