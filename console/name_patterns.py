"""Patterns for names of topics and groups; each check takes time linear in the name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MAX_PATTERN: Final = 255
WRITTEN_AS: Final = "A part of the name; with `*`, a pattern of the whole name; after `~`, letters in this order."


def matcher(pattern: str) -> Callable[[str], bool]:
    """Return whether a name matches `pattern`, in any case.

    ``ord*eu`` is the whole name with anything for each star, ``~oeu`` has these letters in this order with anything
    between them, and any other text is a part of the name. No name has a star or a tilde. Raises ValueError if the
    pattern is longer than MAX_PATTERN.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"has {len(pattern)} characters; at most {MAX_PATTERN} are allowed")
    wanted = pattern.lower()
    if wanted.startswith("~"):
        return lambda name: _in_order(wanted[1:], name.lower())
    if "*" in wanted:
        parts = wanted.split("*")
        return lambda name: _with_gaps(parts, name.lower())
    return lambda name: wanted in name.lower()


def _in_order(letters: str, name: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


def _with_gaps(parts: list[str], name: str) -> bool:
    """Return whether the name begins with the first part, ends with the last and has the others between, in order.

    The first place of each part is the best one: it leaves most to the parts after it.
    """
    first, *between, last = parts
    if not name.startswith(first):
        return False
    position = len(first)
    for part in between:
        found = name.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return name.endswith(last) and len(name) - len(last) >= position
