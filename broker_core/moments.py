"""The one reader of moments that users write: RFC 3339 (section 5.6), as fields, queries, frames and options have them.

Knows nothing of who asks; the writer is `console.moments.rfc3339`.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

EXAMPLE: Final = "2026-05-01T08:00:00Z"

# Python's own reader also takes weeks, basic forms and dates alone; and `\d` digits of every script.
_RFC3339: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:(?P<second>[0-9]{2})(?:\.[0-9]+)?"
    r"(?P<zone>[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?"
)


class NoMoment(ValueError):
    """The text is no moment; the message says why, and goes behind the quoted text."""


def read_moment(text: str) -> datetime:
    """Return a moment with its zone; parts of a microsecond are cut off. Raises NoMoment."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise NoMoment(f"is not a moment such as {EXAMPLE}")
    if found["zone"] is None:
        raise NoMoment("has no time zone; append Z for UTC")
    if found["second"] == "60":
        raise NoMoment("has a leap second, which no clock here counts; write second 59")
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        raise NoMoment(f"is not a moment such as {EXAMPLE}") from None
