"""An expression as instructions for compiled code (native/src/predicate.c), which decides as the Python source does.

Instructions stand one after another, each with the text it needs behind it, and jump forwards only. A condition leaves
its result; AND and OR collect those of their operands on a stack. What has no instruction is None: the whole expression
is then left to Python, as is a message with a value that compiled code does not read (NaN, digits that are not ASCII).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from struct import Struct
from typing import Final

from broker_core.sql92.values import Kind, Value

Program = bytes | None

MAX_BYTES: Final = 8_192
"""Of the instructions of an expression: a longer one is left to Python."""

_MOST_LISTED: Final = 64
"""Texts of one IN: compiled code compares them one by one, Python looks them up."""

# operation, operator, result for a missing property, place of the property and of another, bytes behind it, number
_INSTRUCTION: Final = Struct(">BBBxHHIq")
_DOUBLE: Final = Struct(">d")
_WHOLE: Final = Struct(">q")
_LENGTH: Final = Struct(">H")
# What U+FFFD stands for in a property is no longer known in Python: bytes that are not UTF-8, or itself.
_REPLACED: Final = "\ufffd"
_OPERATORS: Final = {"<": 1, "=": 2, "<=": 3, ">": 4, ">=": 6}
"""By bits: less, equal, more."""

_FLIPPED: Final = {"<": ">", "<=": ">=", "=": "=", ">": "<", ">=": "<="}
_SEARCHES: Final = {"CONTAINS": 0, "STARTSWITH": 1, "ENDSWITH": 2}
_RESULTS: Final = {False: 0, None: 1, True: 2}


class _Operation(IntEnum):
    CONSTANT = 0
    IS_UNKNOWN = 1
    NOT = 2
    PUSH = 3
    AND = 4
    OR = 5
    POP = 6
    CONDITION = 7
    IS_MISSING = 8
    TEXT = 9
    INT = 10
    LONG = 11
    DOUBLE = 12
    BOOLEAN = 13
    LISTED = 14
    SEARCH = 15
    EQUAL = 16
    ORDER = 17


_COMPARISONS: Final = {
    Kind.TEXT: _Operation.TEXT,
    Kind.INT: _Operation.INT,
    Kind.LONG: _Operation.LONG,
    Kind.DOUBLE: _Operation.DOUBLE,
    Kind.BOOLEAN: _Operation.BOOLEAN,
}


def _instruction(
    operation: _Operation,
    *,
    operator: int = 0,
    missing: bool | None = False,
    place: int = 0,
    other: int = 0,
    number: int = 0,
    text: bytes = b"",
) -> bytes:
    return _INSTRUCTION.pack(operation, operator, _RESULTS[missing], place, other, len(text), number) + text


def constant(value: bool | None) -> bytes:
    """Return the program of TRUE, FALSE and NULL."""
    return _instruction(_Operation.CONSTANT, operator=_RESULTS[value])


def condition(place: int) -> bytes:
    """Return the program of a property alone."""
    return _instruction(_Operation.CONDITION, place=place, missing=None)


def is_missing(place: int) -> bytes:
    """Return the program of IS NULL behind a property."""
    return _instruction(_Operation.IS_MISSING, place=place, missing=True)


def is_unknown(program: Program) -> Program:
    """Return the program of IS NULL behind a condition."""
    return None if program is None else program + _instruction(_Operation.IS_UNKNOWN)


def negation(program: Program) -> Program:
    """Return the program of NOT before a condition."""
    return None if program is None else program + _instruction(_Operation.NOT)


def chain(programs: Iterable[Program], *, decides: bool) -> Program:
    """Return the program of conditions in order up to one that decides: True for OR, False for AND."""
    operation = _Operation.OR if decides else _Operation.AND
    joined = _instruction(_Operation.POP)
    for each in reversed(list(programs)):
        if each is None or len(each) + len(joined) > MAX_BYTES:
            return None
        # To the end of the chain, where POP takes the result.
        step = _INSTRUCTION.pack(operation, 0, 0, 0, 0, len(joined) - _INSTRUCTION.size, 0)
        joined = each + step + joined
    return _instruction(_Operation.PUSH, operator=_RESULTS[not decides]) + joined


def comparison(
    place: int, operator: str, kind: Kind, value: Value, *, is_left: bool = True, missing: bool | None = None
) -> Program:
    """Return the program of a comparison of a property with a value, which is on its right if `is_left`."""
    text, number = b"", 0
    if isinstance(value, str):
        encoded = _encoded(value)
        if encoded is None:
            return None
        text = encoded
    elif isinstance(value, float):
        (number,) = _WHOLE.unpack(_DOUBLE.pack(value))
    elif value is not None:
        number = int(value)
    bits = _OPERATORS[operator if is_left else _FLIPPED[operator]]
    return _instruction(_COMPARISONS[kind], operator=bits, missing=missing, place=place, number=number, text=text)


def equality_of_properties(place: int, other: int) -> bytes:
    """Return the program of two properties with = between them."""
    return _instruction(_Operation.EQUAL, place=place, other=other)


def order_of_properties(place: int, operator: str, other: int) -> bytes:
    """Return the program of two properties with < or its like between them."""
    return _instruction(_Operation.ORDER, operator=_OPERATORS[operator], missing=None, place=place, other=other)


def membership(place: int, texts: Sequence[str], *, is_in: bool) -> Program:
    """Return the program of IN and NOT IN."""
    found = [_encoded(each) for each in texts]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len(known) > _MOST_LISTED:
        return None
    listed = b"".join(_LENGTH.pack(len(each)) + each for each in known)
    return _instruction(_Operation.LISTED, place=place, missing=None, number=is_in, text=listed)


def search(place: int, word: str, text: str, *, holds: bool) -> Program:
    """Return the program of CONTAINS, STARTSWITH and ENDSWITH, with NOT unless it `holds`."""
    encoded = _encoded(text)
    if encoded is None:
        return None
    return _instruction(_Operation.SEARCH, operator=_SEARCHES[word], place=place, number=holds, text=encoded)


def _encoded(text: str) -> bytes | None:
    """Return a text as it stands in properties; None for one that is compared in Python alone."""
    try:
        return None if _REPLACED in text else text.encode()
    except UnicodeEncodeError:
        return None
