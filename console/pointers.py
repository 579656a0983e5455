"""Steps of JSON pointers (RFC 6901), by which problems name a place in a body. Knows no Django."""

from __future__ import annotations


def escaped(name: str) -> str:
    """Return a member's name as one step of a pointer."""
    return name.replace("~", "~0").replace("/", "~1")
