"""Values of any type as text of limited length, for reports."""

from __future__ import annotations

from typing import Any, Final

LONGEST: Final = 2000


def shown_column(values: Any) -> list[str | None]:
    """Return the values of an Arrow column as text (`shown`)."""
    return [shown(value) for value in values.to_pylist()]


def shown(value: Any) -> str | None:
    """Return a value as text of limited length: binary bytes as hex, pairs one per line."""
    if value is None:
        return None
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            text = value.hex(" ")
    elif isinstance(value, list):
        # A map is a list of pairs here.
        text = "\n".join(f"{each[0]}={each[1]}" if isinstance(each, tuple) else str(each) for each in value)
    else:
        text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
