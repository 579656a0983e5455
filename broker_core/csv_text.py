"""Texts in CSV files that a spreadsheet shows and does not run, and from which the original can be had again."""

from __future__ import annotations

import json
from typing import Final

GUARDED: Final = ("=", "+", "-", "@", "\t", "\r", "'")
"""A text that begins so gets an apostrophe in front: a spreadsheet would run it as a formula. One that begins with an
apostrophe gets another, so that one rule leads back: take one leading apostrophe away."""
NUL: Final = "\0"
"""Many readers end a field here, without a word. A text with it is a string of JSON behind an apostrophe, which no
other text is: of those that have one in front, none begins with a quotation mark."""


def guarded(text: str) -> str:
    """Return the text as it stands in a CSV file."""
    if NUL in text:
        return f"'{json.dumps(text, ensure_ascii=False)}"
    return f"'{text}" if text.startswith(GUARDED) else text
