"""What values mean to each other (sql92/README.md#values): conversions and comparisons as Java makes them.

A conversion that fails raises ValueError, for which the whole expression does not match.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from functools import lru_cache
from typing import Any, Final

_WHOLE: Final = re.compile(r"[+-]?\d+")
# Possessive (++): a property may have 32,767 digits before what makes it no number, and none is tried twice.
_DECIMAL: Final = re.compile(r"([+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)[fFdD]?")
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]++\.?[0-9a-fA-F]*+|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++)[fFdD]?"
)
_NAMED: Final = {
    sign + name: float(sign + short) for sign in ("", "+", "-") for name, short in (("NaN", "nan"), ("Infinity", "inf"))
}
# What Java's trim takes from both ends: everything up to the space.
_TRIMMED: Final = "".join(map(chr, range(33)))


_LONG: Final = 64
"""From this length on a property is read once for all comparisons of an expression."""


class Kind(Enum):
    """The Java class of a value: it decides how two values are compared."""

    TEXT = "String"
    INT = "Integer"
    LONG = "Long"
    DOUBLE = "Double"
    BOOLEAN = "Boolean"
    NULL = "null"


NUMBERS: Final = (Kind.INT, Kind.LONG, Kind.DOUBLE)

Value = str | int | float | bool | None


def int32(text: str) -> int:
    """Return the number in a property as a Java Integer."""
    if len(text) < 10 and text.isdecimal():  # nearly always, and it has to be fast
        return int(text)
    return _ranged(text, 1 << 31) if len(text) < _LONG else _ranged_once(text, 1 << 31)


def int64(text: str) -> int:
    """Return the number in a property as a Java Long."""
    if len(text) < 19 and text.isdecimal():
        return int(text)
    return _ranged(text, 1 << 63) if len(text) < _LONG else _ranged_once(text, 1 << 63)


@lru_cache(maxsize=64)
def _ranged_once(text: str, bound: int) -> int:
    return _ranged(text, bound)


def _ranged(text: str, bound: int) -> int:
    if not text.isdecimal() and _WHOLE.fullmatch(text) is None:
        raise ValueError
    number = int(text)
    if not -bound <= number < bound:
        raise ValueError
    return number


def double(text: str) -> float:
    """Return the number in a property as a Java Double."""
    return _double(text) if len(text) < _LONG else _double_once(text)


@lru_cache(maxsize=64)
def _double_once(text: str) -> float:
    return _double(text)


def _double(text: str) -> float:
    text = text.strip(_TRIMMED)
    if (match := _DECIMAL.fullmatch(text)) is not None:
        return float(match.group(1))
    if (match := _HEXADECIMAL.fullmatch(text)) is not None:
        try:
            return float.fromhex(match.group(1))
        except OverflowError:
            return -math.inf if text.startswith("-") else math.inf
    if text in _NAMED:
        return _NAMED[text]
    raise ValueError


def ordered_double(text: str) -> float:
    """Return the number in a property for a comparison with a finite number other than 0: Java sorts NaN last."""
    if len(text) < 16 and text.isdecimal() and text.isascii():
        return float(text)
    number = double(text)
    return math.inf if number != number else number


def is_true(text: str) -> bool:
    """Return what Java's Boolean.valueOf makes of a property."""
    return text.lower() == "true"


def compare_texts(left: str, right: str) -> int:
    """Return -1, 0 or 1 for two properties that are compared as numbers."""
    return _compare_doubles(double(left), double(right))


def equal(left: Value, left_kind: Kind, right: Value, right_kind: Kind) -> bool | None:
    """Return whether two values are equal, as `=` sees them: it is unknown only if the left one alone is missing."""
    if left is None or right is None:
        return True if left is right else None if left is None else False
    if left_kind is right_kind:
        return left == right
    return compare(left, left_kind, right, right_kind) == 0


def compare(left: Value, left_kind: Kind, right: Value, right_kind: Kind) -> int:
    """Return -1, 0 or 1 for two values of different kinds; -1 where Java can convert neither into the other."""
    if left_kind is Kind.BOOLEAN:
        if right_kind is Kind.TEXT:
            raise ValueError  # Java casts the wrong one
        return -1
    if left_kind is Kind.TEXT:
        return _compare_text(str(left), right, right_kind)
    if right_kind is Kind.TEXT:
        return -_compare_text(str(right), left, left_kind)
    return -1 if right_kind not in NUMBERS else compare_numbers(left, left_kind, right, right_kind)


def _compare_text(text: str, other: Value, kind: Kind) -> int:
    if kind is Kind.BOOLEAN:
        return _sign(is_true(text), bool(other))
    if kind is Kind.INT and isinstance(other, int):
        return _sign(int32(text), other)
    if kind is Kind.LONG and isinstance(other, int):
        return _sign(int64(text), other)
    if kind is Kind.DOUBLE and isinstance(other, float):
        return _compare_doubles(double(text), other)
    return -1


def compare_numbers(left: Value, left_kind: Kind, right: Value, right_kind: Kind) -> int:
    """Return -1, 0 or 1 for two numbers; as doubles if one of them is."""
    assert isinstance(left, int | float)
    assert isinstance(right, int | float)
    if Kind.DOUBLE in (left_kind, right_kind):
        return _compare_doubles(float(left), float(right))
    return _sign(left, right)


def _compare_doubles(left: float, right: float) -> int:
    """Compare as Java's Double: NaN equals itself and comes last, -0 comes before 0."""
    return _sign(_rank(left), _rank(right))


def _rank(number: float) -> tuple[bool, float, float]:
    if number != number:
        return True, 0.0, 0.0
    return False, number, math.copysign(1.0, number) if number == 0 else 0.0


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)
