"""Java's String.hashCode, which the store keeps for tags and index keys (store-format.md 3.1 and 4.4)."""

from __future__ import annotations

from functools import lru_cache
from operator import mul
from typing import Final

# Message ids of one producer differ in their last eight characters for about a minute; the hash of what comes before
# is looked up.
_TAIL: Final = 8
_LONG: Final = 2 * _TAIL
# Longer heads are not worth the memory of the cache.
_LONGEST: Final = 256
_MASK: Final = 0xFFFFFFFF
_SIGN: Final = 0x80000000
_RANGE: Final = 1 << 32
_POWERS: Final = [pow(31, power, 1 << 32) for power in range(_TAIL - 1, -1, -1)]
_TAIL_POWER: Final = pow(31, _TAIL, 1 << 32)


def string_hash(text: str) -> int:
    """Return h = 31·h + unit over the UTF-16 units of `text`, as a signed 32-bit number."""
    if _LONG <= len(text) <= _LONGEST and text.isascii():
        head = _hash_of_head(text[:-_TAIL]) * _TAIL_POWER
        hashed: int = (head + sum(map(mul, text[-_TAIL:].encode(), _POWERS))) & _MASK
    else:
        hashed = _fold(_utf16_units(text))
    return hashed if hashed < _SIGN else hashed - _RANGE


@lru_cache(maxsize=8192)
def tags_code(tag: str | None) -> int:
    """Return the number that a consume queue keeps for a message with this tag; 0 without a tag."""
    return string_hash(tag) if tag else 0


def key_hash(text: str) -> int:
    """Return the 31-bit hash that an index file keeps for `text`, which is `topic#key` (store-format.md 4.4)."""
    hashed = abs(string_hash(text))
    return hashed if hashed != _SIGN else 0


@lru_cache(maxsize=8192)
def _hash_of_head(text: str) -> int:
    return _fold(text.encode())


def _fold(units: bytes | memoryview) -> int:
    hashed = 0
    for unit in units:
        hashed = (31 * hashed + unit) & _MASK
    return hashed


def _utf16_units(text: str) -> bytes | memoryview:
    if text.isascii():
        return text.encode()
    native = "utf-16-le" if _IS_LITTLE else "utf-16-be"
    return memoryview(text.encode(native, "surrogatepass")).cast("H")


_IS_LITTLE: Final = memoryview(b"\x01\x00").cast("H")[0] == 1
