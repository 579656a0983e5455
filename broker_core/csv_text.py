"""Texts in CSV files that a spreadsheet shows and does not run, and from which the original can be had again."""

from __future__ import annotations

from typing import Final

GUARDED: Final = ("=", "+", "-", "@", "\t", "\r", "'")
"""A text that begins so gets an apostrophe in front: a spreadsheet would run it as a formula. One that begins with an
apostrophe gets another, so that one rule leads back: take one leading apostrophe away."""


def guarded(text: str) -> str:
    """Return the text as it stands in a CSV file."""
    return f"'{text}" if text.startswith(GUARDED) else text
