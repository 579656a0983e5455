"""Patterns of addresses whose requests need no signature.

::

    10.0.0.7                 one address
    10.0.0.{7,9}             several that differ in the last part
    10.0.0.7,10.0.1.9        a list
    10.0.1-5.*               parts that may be anything, or in a range
    5::7:6:1-200:*           the same for IPv6, whose numbers are hexadecimal
    *                        every address

An empty pattern is no address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, TypeAlias

Parts: TypeAlias = tuple[int, ...]
"""The numbers of an address: four of IPv4, eight of IPv6."""

_Range: TypeAlias = tuple[int, int]
_KINDS: Final = {".": (4, 10, 255), ":": (8, 16, 0xFFFF)}
_EVERYONE: Final = frozenset({"*", "*.*.*.*", "*:*:*:*:*:*:*:*"})


@dataclass(frozen=True, slots=True)
class AddressPattern:
    """The addresses that a text stands for; each alternative has a range for every part."""

    is_everyone: bool = False
    alternatives: tuple[tuple[_Range, ...], ...] = ()

    @classmethod
    def parse(cls, text: str | None) -> AddressPattern:
        """Return the pattern of a text; raises ValueError with the reason."""
        text = (text or "").strip()
        if text in _EVERYONE:
            return cls(is_everyone=True)
        return cls(alternatives=tuple(_ranges(each) for each in pieces(text)))

    def matches(self, parts: Parts | None) -> bool:
        """Return whether an address is meant; None is an address that cannot be read."""
        if self.is_everyone:
            return True
        if parts is None:
            return False
        return any(
            len(ranges) == len(parts)
            and all(low <= part <= high for part, (low, high) in zip(parts, ranges, strict=True))
            for ranges in self.alternatives
        )


@lru_cache(maxsize=4096)
def parts_of(peer: str) -> Parts | None:
    """Return the numbers of the address of a peer, ``ip:port`` or ``[ip]:port``; None if it has none."""
    return _parts(peer.rpartition(":")[0].strip("[]").partition("%")[0])


def _parts(host: str) -> Parts | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return tuple(address.ipv4_mapped.packed)
        packed = address.packed
        return tuple(packed[place] << 8 | packed[place + 1] for place in range(0, 16, 2))
    return tuple(address.packed)


def pieces(text: str) -> Sequence[str]:
    """Return the alternatives of a text: those of its braces, or those between its commas; raises ValueError."""
    if "{" not in text and "}" not in text:
        return [each.strip() for each in text.split(",")] if text else []
    before, _, inside = text.partition("{")
    if not inside.endswith("}") or not before.endswith((".", ":")) or "," in before or "{" in inside:
        raise ValueError(f"{text!r} has braces that are not its whole last part")
    return [before + each.strip() for each in inside[:-1].split(",")]


def _ranges(text: str) -> tuple[_Range, ...]:
    single = _parts(text)
    if single is not None and "%" not in text:
        return tuple((part, part) for part in single)
    separator = ":" if ":" in text else "."
    count, base, top = _KINDS[separator]
    parts = _all_groups(text) if separator == ":" else text.split(".")
    if len(parts) != count:
        raise ValueError(f"{text!r} is not an address")
    return tuple(_range(part.strip(), base, top, text) for part in parts)


def _all_groups(text: str) -> list[str]:
    """Return the groups of an IPv6 address with those that ``::`` leaves out."""
    head, gap, tail = text.partition("::")
    before, after = (side.split(":") if side else [] for side in (head, tail))
    if not gap:
        return before
    missing = 8 - len(before) - len(after)
    if missing < 1 or "::" in tail:
        raise ValueError(f"{text!r} is not an address")
    return [*before, *["0"] * missing, *after]


def _range(part: str, base: int, top: int, text: str) -> _Range:
    if part == "*":
        return 0, top
    low, dash, high = part.partition("-")
    first = _number(low, base, top, text)
    last = _number(high, base, top, text) if dash else first
    if first > last:
        raise ValueError(f"{text!r} has the range {part}, which ends before it begins")
    return first, last


def _number(text: str, base: int, top: int, whole: str) -> int:
    try:
        if not text.isascii() or not text.isalnum() or len(text) > 4:
            raise ValueError
        found = int(text, base)
    except ValueError:
        raise ValueError(f"{whole!r} is not an address") from None
    if found > top:
        raise ValueError(f"{whole!r} has {text}, which is too large")
    return found
