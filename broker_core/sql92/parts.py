"""The parts of an expression as Python source: each function joins parts, or refuses what cannot be joined.

Java's classes decide what a comparison does (`values.py`). They are known here for everything but properties, which are
texts, so most of the decision is made once, when the expression is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final

from broker_core.sql92 import program, values
from broker_core.sql92.errors import IllegalExpression
from broker_core.sql92.program import Program
from broker_core.sql92.values import NUMBERS, Kind, Value

Failure = Callable[[str], IllegalExpression]
"""Makes the error of a reason, at the place of the expression that is being read."""

_CONVERSIONS: Final = {Kind.INT: "int32", Kind.LONG: "int64", Kind.DOUBLE: "ordered_double"}
_ORDERS: Final = {
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
}  # fmt: skip
_SEARCHES: Final = {
    "CONTAINS": "{text!r} in {code}",
    "STARTSWITH": "{code}.startswith({text!r})",
    "ENDSWITH": "{code}.endswith({text!r})",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression.

    `code` is its Python source. `is_literal`: it is a literal as written, whose value is `value`. `is_condition`: it is
    true, false or unknown, and `program` the same for compiled code. `is_property`: it is a property, `code` its
    variable and `place` the number of its name.
    """

    kind: Kind
    code: str
    can_be_unknown: bool = True
    is_literal: bool = False
    value: Value = None
    is_condition: bool = False
    is_property: bool = False
    place: int = 0
    program: Program = None

    @property
    def is_computed(self) -> bool:
        """Whether its value is known only when a message is tested, and may then fail."""
        return not (self.is_property or self.is_literal or self.value is not None)


class Parts:
    """Makes parts; `names` are the properties they read so far, in the order of the variables."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers = count()

    # -- leaves

    def property(self, name: str) -> Part:
        """Return a property, a text or missing."""
        if name not in self.names:
            self.names.append(name)
        place = self.names.index(name)
        return Part(Kind.TEXT, f"p{place}", is_property=True, place=place)

    # -- conditions

    def condition(self, part: Part, failure: Failure) -> Part:
        """Return a part as a condition: a property is false if it is there, and unknown if not."""
        if part.is_condition:
            return part
        if part.is_property:
            return _condition(f"(None if {part.code} is None else False)", program.condition(part.place))
        raise failure("true or false is needed here")

    def any_of(self, parts: Sequence[Part]) -> Part:
        """Join conditions by OR: they are computed in order until one is true."""
        return self._chain(parts, decides=True)

    def all_of(self, parts: Sequence[Part]) -> Part:
        """Join conditions by AND: they are computed in order until one is false."""
        return self._chain(parts, decides=False)

    def _chain(self, parts: Sequence[Part], *, decides: bool) -> Part:
        otherwise = not decides
        tests, unknown = [], []
        for part in parts:
            variable = self._variable()
            tests.append(f"({variable} := {part.code}) is {decides}")
            if part.can_be_unknown:
                unknown.append(f"{variable} is None")
        undecided = f"None if {' or '.join(unknown)} else {otherwise}" if unknown else otherwise
        code = f"({decides} if {' or '.join(tests)} else {undecided})"
        whole = program.chain((part.program for part in parts), decides=decides)
        return _condition(code, whole, can_be_unknown=bool(unknown))

    def negation(self, part: Part) -> Part:
        """Return the opposite of a condition."""
        opposite = program.negation(part.program)
        if not part.can_be_unknown:
            return _condition(f"(not {part.code})", opposite, can_be_unknown=False)
        variable = self._variable()
        return _condition(f"(None if ({variable} := {part.code}) is None else not {variable})", opposite)

    def twice(self, part: Part) -> tuple[Part, Part]:
        """Return a part for two places, of which the first is computed first: its source does not double."""
        if not part.is_computed:
            return part, part
        variable = self._variable()
        return replace(part, code=f"({variable} := {part.code})"), replace(part, code=variable)

    def _variable(self) -> str:
        return f"t{next(self._numbers)}"


def literal(kind: Kind, value: Value) -> Part:
    """Return a literal as it is written; TRUE, FALSE and NULL are conditions."""
    is_condition = value is None or isinstance(value, bool)
    constant = program.constant(value) if value is None or isinstance(value, bool) else None
    is_unknown = value is None
    return Part(kind, repr(value), is_unknown, True, value, is_condition, program=constant)


def negative(part: Part) -> Part:
    """Return a part with a minus sign: of everything but a number it is missing."""
    if part.kind in NUMBERS and isinstance(part.value, int | float):
        return Part(part.kind, repr(-part.value), can_be_unknown=False, value=-part.value)
    return Part(Kind.NULL, f"missing({part.code})" if part.is_computed else "None")


def is_missing(part: Part) -> Part:
    """Return whether a part is missing, or unknown."""
    if part.is_literal or part.value is not None:
        return _constant(part.value is None)
    missing = program.is_missing(part.place) if part.is_property else program.is_unknown(part.program)
    return _condition(f"({part.code} is None)", missing, can_be_unknown=False)


# -- comparisons


def equality(left: Part, right: Part, failure: Failure) -> Part:
    """Return whether two parts are equal."""
    for part in (left, right):
        if part.is_literal and part.value is None:
            raise failure("NULL is compared by IS NULL")
    if left.is_literal and right.is_literal and left.is_condition and not right.is_condition:
        raise failure(f"{left.code.upper()} cannot be compared with {right.code}")
    return _condition(_equality(left, right), _equality_program(left, right))


def _equality(left: Part, right: Part) -> str:
    if left.is_property and right.is_property:
        a, b = left.code, right.code
        return f"({a} == {b} if {a} is not None else None if {b} is not None else True)"
    if left.is_property and right.value is not None:
        return f"(None if {left.code} is None else {_converted(left, right)} == {right.code})"
    if right.is_property and left.value is not None and left.kind is not Kind.BOOLEAN:
        return f"({right.code} is not None and {_converted(right, left)} == {left.code})"
    return f"equal({left.code}, {left.kind.name}, {right.code}, {right.kind.name})"


def _equality_program(left: Part, right: Part) -> Program:
    if left.is_property and right.is_property:
        return program.equality_of_properties(left.place, right.place)
    if left.is_property and right.value is not None:
        return program.comparison(left.place, "=", right.kind, right.value)
    if right.is_property and left.value is not None and left.kind is not Kind.BOOLEAN:
        return program.comparison(right.place, "=", left.kind, left.value, is_left=False, missing=False)
    return None


def _converted(text: Part, other: Part) -> str:
    """Return a property as what it is compared with."""
    if other.kind is Kind.TEXT:
        return text.code
    if other.kind is Kind.BOOLEAN:
        return f"is_true({text.code})"
    return f"{_CONVERSIONS[other.kind]}({text.code})"


def order(left: Part, operator: str, right: Part, failure: Failure) -> Part:
    """Return whether a part is less or more than another; both are numbers, or properties that are read as numbers."""
    for part in (left, right):
        if part.is_condition or (part.is_literal and part.kind not in NUMBERS):
            raise failure(f"{operator} compares numbers")
    if left.value is not None and right.value is not None:
        sign = values.compare_numbers(left.value, left.kind, right.value, right.kind)
        return _constant(_ORDERS[operator](sign), can_be_unknown=True)
    return _condition(_order(left, operator, right), _order_program(left, operator, right))


def _order(left: Part, operator: str, right: Part) -> str:
    if left.is_property and right.is_property:
        a, b = left.code, right.code
        return f"(None if {a} is None or {b} is None else compare_texts({a}, {b}) {operator} 0)"
    if left.is_property and right.value is not None:
        return f"(None if {left.code} is None else {_converted(left, right)} {operator} {right.code})"
    if right.is_property and left.value is not None:
        return f"(None if {right.code} is None else {left.code} {operator} {_converted(right, left)})"
    missing = f"missing({right.code})"
    return missing if left.value is not None else f"(None if {left.code} is None else {missing})"


def _order_program(left: Part, operator: str, right: Part) -> Program:
    if left.is_property and right.is_property:
        return program.order_of_properties(left.place, operator, right.place)
    if left.is_property and right.value is not None:
        return program.comparison(left.place, operator, right.kind, right.value)
    if right.is_property and left.value is not None:
        return program.comparison(right.place, operator, left.kind, left.value, is_left=False)
    return None


def check_bounds(low: Part, high: Part, failure: Failure) -> None:
    """Raise the failure if two literals are not the bounds of a range."""
    if not (low.is_literal and high.is_literal):
        return
    if low.kind not in NUMBERS or high.kind not in NUMBERS:
        raise failure("BETWEEN compares numbers")
    if values.compare_numbers(low.value, low.kind, high.value, high.kind) > 0:
        raise failure(f"BETWEEN {low.code} AND {high.code} holds for nothing")


def membership(part: Part, texts: Sequence[str], *, is_in: bool, failure: Failure) -> Part:
    """Return whether a property is one of some texts, or none of them."""
    if not part.is_property:
        raise failure("only a property can be IN a list")
    listed = "{" + ", ".join(sorted(map(repr, set(texts)))) + "}"
    code = f"(None if {part.code} is None else {part.code} {'in' if is_in else 'not in'} {listed})"
    return _condition(code, program.membership(part.place, texts, is_in=is_in))


def search(part: Part, word: str, text: str, *, holds: bool) -> Part:
    """Return whether a property contains, starts or ends with a text, or does not; never unknown, false if missing."""
    condition = partial(_condition, can_be_unknown=False)
    if not text or (part.kind is not Kind.TEXT and not part.is_computed):
        return _constant(value=False)
    if part.kind is not Kind.TEXT:
        return condition(f"(missing({part.code}) is not None)", None)
    found = _SEARCHES[word].format(text=text, code=part.code)
    if part.is_literal:
        return condition(f"({'' if holds else 'not '}({found}))", None)
    code = f"({part.code} is not None and {'' if holds else 'not '}({found}))"
    return condition(code, program.search(part.place, word, text, holds=holds))


def _constant(value: bool, *, can_be_unknown: bool = False) -> Part:
    return _condition(repr(value), program.constant(value), can_be_unknown=can_be_unknown)


def _condition(code: str, computed: Program, *, can_be_unknown: bool = True) -> Part:
    return Part(Kind.BOOLEAN, code, can_be_unknown, is_condition=True, program=computed)
