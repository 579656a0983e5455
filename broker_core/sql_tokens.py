"""The tokens of an SQL expression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

# What is in a text or in a quoted name is no code.
TOKEN: Final = re.compile(
    r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<name>`[^`]*`)|(?P<word>[A-Za-z0-9_]+)"""
    r"""|(?P<space>[ \t\r\n]+)|(?P<mark>.)""",
    re.DOTALL,
)
_OPENING: Final = ("(", "[")
_CLOSING: Final = (")", "]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a text, a name in backquotes, or a mark."""

    kind: str
    text: str
    """As it was written, a word in lower case."""

    @property
    def depth(self) -> int:
        """By how much brackets are deeper behind the token than before it."""
        return (self.text in _OPENING) - (self.text in _CLOSING)


def arguments(tokens: Sequence[Token], bracket: int) -> Iterator[list[Token]]:
    """Yield the arguments of a call, from its bracket on."""
    depth, found = 0, list[Token]()
    for token in tokens[bracket:]:
        depth += token.depth
        if depth == 0 or (depth == 1 and token.text == ","):
            yield found
            found = []
        elif found or depth > 1 or token.text != "(":
            found.append(token)
        if depth == 0:
            return
    yield found


def own_level(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the places of the tokens that are in no bracket of these."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += min(0, token.depth)
        if depth == 0:
            yield at
        depth += max(0, token.depth)
