"""Bloom filters over consumers, with the geometry and the hash of Apache RocketMQ (broker/README.md#filter-bits)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple, Self

_MASK: Final = (1 << 64) - 1
_C1: Final = 0x87C37B91114253D5
_C2: Final = 0x4CF5AD432745937F


class Bloom(NamedTuple):
    """The number of places that a consumer has, and the number of bits among which they are."""

    places: int
    bits: int

    @classmethod
    def of(cls, *, error_percent: int, consumers: int) -> Self:
        """Return the filter in which this many consumers are mistaken for each other this often."""
        error = error_percent / 100
        places = math.ceil(math.log(error) / math.log(0.5))
        bits = math.ceil(consumers * (math.log(1 / error) / math.log(2)) * (math.log(math.e) / math.log(2)))
        return cls(places, 8 * math.ceil(bits / 8))

    def places_of(self, group: str, topic: str) -> tuple[int, ...]:
        """Return the places of a consumer group in the bits of a topic's messages."""
        hashed = murmur3(f"{group}#{topic}".encode())
        low, high = hashed & 0xFFFFFFFF, hashed >> 32
        return tuple(_positive(low + number * high) % self.bits for number in range(1, self.places + 1))

    def bytes_of(self, places: Iterable[int]) -> bytes:
        """Return the bits in which these places are set."""
        found = bytearray(self.bits // 8)
        for place in places:
            found[place // 8] |= 1 << place % 8
        return bytes(found)


def _positive(number: int) -> int:
    """Return the low 32 bits of a number as Java has them, with all bits turned round if it is negative there."""
    low = number & 0xFFFFFFFF
    return ~(low - (1 << 32)) if low & 0x80000000 else low


def murmur3(data: bytes) -> int:
    """Return the first 64 bits of MurmurHash3 for x64 with 128 bits and seed 0, as an unsigned number."""
    one = two = 0
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        one ^= _mixed_one(int.from_bytes(data[at : at + 8], "little"))
        one = (_rotated(one, 27) + two) * 5 + 0x52DCE729 & _MASK
        two ^= _mixed_two(int.from_bytes(data[at + 8 : at + 16], "little"))
        two = (_rotated(two, 31) + one) * 5 + 0x38495AB5 & _MASK
    one ^= _mixed_one(int.from_bytes(data[whole : whole + 8], "little"))
    two ^= _mixed_two(int.from_bytes(data[whole + 8 :], "little"))
    one ^= len(data)
    two ^= len(data)
    one = one + two & _MASK
    two = two + one & _MASK
    return _finished(one) + _finished(two) & _MASK


def _mixed_one(part: int) -> int:
    return _rotated(part * _C1 & _MASK, 31) * _C2 & _MASK


def _mixed_two(part: int) -> int:
    return _rotated(part * _C2 & _MASK, 33) * _C1 & _MASK


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> 64 - by) & _MASK


def _finished(number: int) -> int:
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCD & _MASK
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return number ^ number >> 33
