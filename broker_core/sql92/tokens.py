"""The tokens of an expression (sql92/README.md#grammar)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from broker_core.sql92.errors import IllegalExpression

WORD: Final = "word"
"""A reserved word, in upper case."""
NAME: Final = "name"
TEXT: Final = "text"
WHOLE: Final = "whole"
DECIMAL: Final = "decimal"
MARK: Final = "mark"
END: Final = "end"

RESERVED: Final = frozenset(
    {"NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE", "NULL", "IS", "CONTAINS", "STARTSWITH", "ENDSWITH"}
)

# A decimal is tried before a whole number: of the two the longer one is meant.
_TOKEN: Final = re.compile(
    r"""
      (?P<space> [ \t\n\r\f]+ | --[^\n\r]*(?:\r\n|\n|\r|\Z) | /\*(?:[^*]|\*(?!/))*\*/ )
    | (?P<decimal> [0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)? | \.[0-9]+(?:[eE][+-]?[0-9]+)? | [0-9]+[eE][+-]?[0-9]+ )
    | (?P<whole> (?:0|[1-9][0-9]*)[lL]? )
    | (?P<text> '(?:''|[^'])*' )
    | (?P<name> [A-Za-z_$][A-Za-z0-9_$]* )
    | (?P<mark> <> | >= | <= | [=<>+\-(),] )
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A part of an expression; `at` is its first character, counted from 1."""

    kind: str
    text: str
    at: int


def read_tokens(text: str) -> list[Token]:
    """Return the tokens of an expression, END last; raise IllegalExpression for what is none."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise IllegalExpression(_reason(text, position), position + 1)
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(_token(kind, match.group(), position + 1))
        position = match.end()
    found.append(Token(END, "", len(text) + 1))
    return found


def _token(kind: str, text: str, at: int) -> Token:
    if kind == NAME and text.upper() in RESERVED:
        return Token(WORD, text.upper(), at)
    if kind == TEXT:
        return Token(TEXT, text[1:-1].replace("''", "'"), at)
    return Token(kind, text, at)


def _reason(text: str, position: int) -> str:
    if text.startswith("/*", position):
        return "a comment that does not end: */ is missing"
    character = text[position]
    if character == "'":
        return "a text that does not end: a quote is missing"
    return f"{character!r} means nothing here"
