"""What `mqadmin` prints, taken apart as a person reads it."""

from __future__ import annotations

import re


def rows(printed: str) -> list[list[str]]:
    """Return the words of each line of a table, without its headings (``#…``), remarks and blank lines."""
    return [line.split() for line in printed.splitlines() if line.strip() and not line.startswith("#")]


def row(printed: str, first: str) -> list[str]:
    """Return the words of the line that begins with `first`; raises AssertionError when there is none, or several."""
    found = [words for words in rows(printed) if words[0] == first]
    assert len(found) == 1, f"{first!r} begins {len(found)} lines of:\n{printed}"
    return found[0]


def pairs(printed: str) -> dict[str, str]:
    """Return ``name : text`` or ``name = text`` lines."""
    found = (re.match(r"\s*([^:=]+?)\s*[:=]\s*(.*?)\s*$", line) for line in printed.splitlines())
    return {match[1]: match[2] for match in found if match is not None}
