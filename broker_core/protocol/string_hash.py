"""Java's String.hashCode, which the store uses for tags and index keys (protocol/README.md#tag-hash)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_MASK: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000
_RANGE: Final = 1 << 32


def string_hash(text: str) -> int:
    """Return h = 31·h + unit over the UTF-16 units of `text`, as a signed 32-bit number."""
    hashed = _unsigned_hash(text)
    return hashed if hashed < _SIGN else hashed - _RANGE


@lru_cache(maxsize=8192)
def tags_code(tag: str | None) -> int:
    """Return the number in a consume queue for a message with this tag; 0 without a tag."""
    return string_hash(tag) if tag else 0


def key_hash(text: str) -> int:
    """Return the 31-bit hash in an index file for `text`, which is `topic#key`.

    It is Java's Math.abs of `string_hash`, and 0 where that overflows.
    """
    hashed = _unsigned_hash(text)
    if hashed < _SIGN:
        return hashed
    return _RANGE - hashed if hashed != _SIGN else 0


def _unsigned_hash(text: str) -> int:
    hashed = 0
    for unit in memoryview(text.encode("utf-16", "surrogatepass")).cast("H")[1:]:  # after the byte order mark
        hashed = (31 * hashed + unit) & _MASK
    return hashed
