"""Compiles an expression into a Python function of the properties that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import accumulate
from threading import Lock
from typing import Any, Final, NamedTuple

from broker_core.sql92 import values
from broker_core.sql92.errors import IllegalExpression
from broker_core.sql92.parser import Parser
from broker_core.sql92.program import MAX_BYTES
from broker_core.sql92.values import Kind

MAX_CHARACTERS: Final = 16_384
"""Of one expression: it is compiled while other clients wait."""

MAX_KEPT_CHARACTERS: Final = 1 << 20
"""Of all expressions that are kept compiled: each takes up to 40 bytes of memory for a character."""

_MAX_BRACKETS: Final = 180
"""How deep the brackets of the source may be nested; Python reads 200."""

# Texts are matched whole: what stands in them is no bracket.
_BRACKETS: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[(){}]""")

_FUNCTION: Final = """\
def test({variables}):
    try:
        return {code} is True
    except ValueError:
        return False
"""
_HELPERS: Final[dict[str, Any]] = {
    "__builtins__": {"ValueError": ValueError},
    "int32": values.int32,
    "int64": values.int64,
    "ordered_double": values.ordered_double,
    "is_true": values.is_true,
    "compare_texts": values.compare_texts,
    "equal": values.equal,
    "missing": lambda *_: None,
    **{kind.name: kind for kind in Kind},
}


class Sql92(NamedTuple):
    """An expression: `test` takes the values of the properties `names`, None for one that is missing.

    `program` decides the same in compiled code; it is empty for an expression that only Python decides.
    """

    text: str
    names: tuple[str, ...]
    test: Callable[..., bool]
    program: bytes = b""

    def matches(self, properties: Mapping[str, str]) -> bool:
        """Return whether a message with these properties is selected; false where a property is no number."""
        return self.test(*map(properties.get, self.names))


class _Kept:
    """The expressions that were used last, by their text."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_text: dict[str, Sql92] = {}
        self._characters = 0

    def find(self, text: str) -> Sql92 | None:
        """Return an expression, which is the last to go now."""
        with self._lock:
            found = self._by_text.pop(text, None)
            if found is not None:
                self._by_text[text] = found
            return found

    def keep(self, compiled: Sql92) -> None:
        """Keep an expression in the place of others, if there are too many."""
        with self._lock:
            if compiled.text not in self._by_text:
                self._characters += len(compiled.text)
            self._by_text[compiled.text] = compiled
            while self._characters > MAX_KEPT_CHARACTERS:
                oldest = next(iter(self._by_text))
                del self._by_text[oldest]
                self._characters -= len(oldest)


_kept: Final = _Kept()


def compile_sql92(text: str) -> Sql92:
    """Return an expression that can be tested; raises IllegalExpression."""
    found = _kept.find(text)
    if found is None:
        found = _compiled(text)
        _kept.keep(found)
    return found


def _compiled(text: str) -> Sql92:
    if len(text) > MAX_CHARACTERS:
        raise IllegalExpression(f"longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS + 1)
    parser = Parser(text)
    whole = parser.expression()
    code = whole.code
    if _depth_of(code) > _MAX_BRACKETS:
        raise IllegalExpression("its conditions are nested too deeply", len(text))
    names = tuple(parser.parts.names)
    source = _FUNCTION.format(variables=", ".join(f"p{number}" for number in range(len(names))), code=code)
    found: dict[str, Any] = dict(_HELPERS)
    # The source is made of our own words, of numbers and of texts as Python writes them.
    exec(compile(source, "<sql92>", "exec"), found)  # noqa: S102
    program = whole.program or b""
    return Sql92(text, names, found["test"], program if len(program) <= MAX_BYTES else b"")


def _depth_of(code: str) -> int:
    """Return how deep the brackets of Python source are nested."""
    steps = (1 if mark in "({" else -1 for mark in _BRACKETS.findall(code) if len(mark) == 1)
    return max(accumulate(steps), default=0)
