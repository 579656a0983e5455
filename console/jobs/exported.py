"""What the file of an export tells, by its request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

CONTENTS: Final = ("body", "properties", "properties_text")
"""The columns that show what stands in messages."""


def shows_bodies(asked: Mapping[str, Any]) -> bool:
    """Return whether the file tells what stands in messages; a condition tells it by what passes."""
    return "where" in asked["source"] or not set(CONTENTS).isdisjoint(asked["columns"])
