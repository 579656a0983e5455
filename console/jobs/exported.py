"""Which jobs make a file with messages, and whether it tells what stands in them, by their request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from console.jobs.models import JobType

CONTENTS: Final = ("body", "properties", "properties_text")
"""The columns that show what stands in messages."""


def shows_bodies(asked: Mapping[str, Any]) -> bool:
    """Return whether the job makes a file that tells what stands in messages; a condition tells it by what passes."""
    if asked["type"] == JobType.REPLAY:
        return bool(asked["target"].get("kind") == "parquet")
    if asked["type"] != JobType.EXPORT:
        return False
    return "where" in asked["source"] or not set(CONTENTS).isdisjoint(asked["columns"])
