"""Reads an expression into Python source (sql92/README.md#grammar), by recursive descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from broker_core.sql92 import parts, tokens
from broker_core.sql92.errors import IllegalExpression
from broker_core.sql92.parts import Part, Parts
from broker_core.sql92.tokens import Token
from broker_core.sql92.values import Kind

MAX_NESTING: Final = 64
"""How deep brackets, NOT and signs may be nested: Python reads no more brackets than about three times that."""

MAX_CHAINED: Final = 16
"""How many comparisons of one expression may have a comparison on their left, as `a = 1 = TRUE` has: they nest too."""

_INT_BOUND: Final = 1 << 31
_LONG_BOUND: Final = 1 << 63
_SEARCHES: Final = ("CONTAINS", "STARTSWITH", "ENDSWITH")
_ORDERS: Final = ("<", "<=", ">", ">=")
_CONSTANTS: Final = {"TRUE": (Kind.BOOLEAN, True), "FALSE": (Kind.BOOLEAN, False), "NULL": (Kind.NULL, None)}


class Parser:
    """Reads one expression."""

    def __init__(self, text: str) -> None:
        self.parts = Parts()
        self._tokens = tokens.read_tokens(text)
        self._at = 0
        self._depth = 0
        self._chained = 0

    def expression(self) -> Part:
        """Return the whole text as one condition; raises IllegalExpression."""
        part = self.parts.condition(self._any(), self._failure)
        if self._token.kind != tokens.END:
            raise self._unexpected("the expression ends before it")
        return part

    # -- tokens

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._token
        self._at += 1
        return token

    def _skip(self, text: str, *, kind: str = tokens.WORD) -> bool:
        """Go past the next token if it is this one; return whether it is."""
        is_it = self._token.kind == kind and self._token.text == text
        self._at += is_it
        return is_it

    def _demand(self, text: str, *, kind: str = tokens.WORD) -> None:
        if not self._skip(text, kind=kind):
            raise self._unexpected(f"{text} is needed here")

    def _demand_text(self) -> str:
        if self._token.kind != tokens.TEXT:
            raise self._unexpected("a text in quotes is needed here")
        return self._next().text

    def _failure(self, reason: str) -> IllegalExpression:
        """Return the error for what was read last."""
        return IllegalExpression(reason, self._tokens[max(0, self._at - 1)].at)

    def _unexpected(self, reason: str) -> IllegalExpression:
        token = self._token
        met = "the text ends" if token.kind == tokens.END else f"{token.text[:40]!r} does not belong here"
        return IllegalExpression(f"{met}: {reason}", token.at)

    # -- grammar, the loosest binding first

    def _any(self) -> Part:
        return self._chain("OR", self._all, self.parts.any_of)

    def _all(self) -> Part:
        return self._chain("AND", self._equality, self.parts.all_of)

    def _chain(self, word: str, operand: Callable[[], Part], join: Callable[[list[Part]], Part]) -> Part:
        found = [operand()]
        while self._token.kind == tokens.WORD and self._token.text == word:
            found[-1] = self.parts.condition(found[-1], self._failure)
            self._next()
            found.append(operand())
        if len(found) == 1:
            return found[0]
        found[-1] = self.parts.condition(found[-1], self._failure)
        return join(found)

    def _equality(self) -> Part:
        left = self._comparison()
        while True:
            before = left
            if self._skip("=", kind=tokens.MARK):
                left = parts.equality(left, self._comparison(), self._failure)
            elif self._skip("<>", kind=tokens.MARK):
                left = self.parts.negation(parts.equality(left, self._comparison(), self._failure))
            elif self._skip("IS"):
                is_negated = self._skip("NOT")
                self._demand("NULL")
                missing = parts.is_missing(left)
                left = self.parts.negation(missing) if is_negated else missing
            else:
                return left
            self._note_chained(before)

    def _note_chained(self, left: Part) -> None:
        """Count a comparison of `left`, if that is one itself."""
        self._chained += left.is_condition and not left.is_literal
        if self._chained > MAX_CHAINED:
            raise self._failure(f"more than {MAX_CHAINED} comparisons of comparisons")

    def _comparison(self) -> Part:
        left = self._signed()
        while (token := self._token).kind in (tokens.MARK, tokens.WORD):
            if token.text in _ORDERS:
                self._next()
                left = parts.order(left, token.text, self._signed(), self._failure)
            elif token.text in ("NOT", "IN", "BETWEEN", *_SEARCHES) and token.kind == tokens.WORD:
                left = self._predicate(left, holds=not self._skip("NOT"))
            else:
                break
        return left

    def _predicate(self, left: Part, *, holds: bool) -> Part:
        word = self._next().text if self._token.kind == tokens.WORD else ""
        if word in _SEARCHES:
            return parts.search(left, word, self._demand_text(), holds=holds)
        if word == "IN":
            return parts.membership(left, self._texts(), is_in=holds, failure=self._failure)
        if word == "BETWEEN":
            return self._range(left, holds=holds)
        self._at -= bool(word)
        raise self._unexpected("IN, BETWEEN, CONTAINS, STARTSWITH or ENDSWITH is needed here")

    def _range(self, left: Part, *, holds: bool) -> Part:
        low = self._signed()
        self._demand("AND")
        high = self._signed()
        if holds:
            parts.check_bounds(low, high, self._failure)
        first, second = self.parts.twice(left)
        signs = (">=", "<=") if holds else ("<", ">")
        sides = [(first, signs[0], low), (second, signs[1], high)]
        both = [parts.order(side, sign, bound, self._failure) for side, sign, bound in sides]
        return self.parts.all_of(both) if holds else self.parts.any_of(both)

    def _texts(self) -> list[str]:
        self._demand("(", kind=tokens.MARK)
        texts = [self._demand_text()]
        while self._skip(",", kind=tokens.MARK):
            texts.append(self._demand_text())
        self._demand(")", kind=tokens.MARK)
        return texts

    def _signed(self) -> Part:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise IllegalExpression(f"nested deeper than {MAX_NESTING}", self._token.at)
        if self._skip("+", kind=tokens.MARK):
            part = self._signed()
        elif self._skip("-", kind=tokens.MARK):
            part = parts.negative(self._signed())
        elif self._skip("NOT"):
            part = self.parts.negation(self.parts.condition(self._signed(), self._failure))
        else:
            part = self._primary()
        self._depth -= 1
        return part

    def _primary(self) -> Part:
        if self._skip("(", kind=tokens.MARK):
            part = self._any()
            self._demand(")", kind=tokens.MARK)
            return part
        token = self._token
        if token.kind == tokens.NAME:
            return self.parts.property(self._next().text)
        if token.kind == tokens.TEXT:
            return parts.literal(Kind.TEXT, self._next().text)
        if token.kind == tokens.WHOLE:
            return self._whole(self._next().text)
        if token.kind == tokens.DECIMAL:
            return self._decimal(self._next().text)
        if token.kind == tokens.WORD and token.text in _CONSTANTS:
            return parts.literal(*_CONSTANTS[self._next().text])
        raise self._unexpected("a property, a value or a bracket is needed here")

    def _whole(self, text: str) -> Part:
        digits = text.rstrip("lL")
        number = int(digits) if len(digits) <= len(str(_LONG_BOUND)) else _LONG_BOUND
        if number >= _LONG_BOUND:
            raise self._failure(f"{text[:40]} is more than {_LONG_BOUND - 1}")
        return parts.literal(Kind.INT if number < _INT_BOUND else Kind.LONG, number)

    def _decimal(self, text: str) -> Part:
        number = float(text)
        if number in (0.0, float("inf")):
            raise self._failure(f"{text[:40]} is 0, or not within what a double holds; write 0 without a point")
        return parts.literal(Kind.DOUBLE, number)
