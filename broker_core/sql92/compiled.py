"""Compiles an expression into a Python function of the properties that it names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from broker_core.sql92 import values
from broker_core.sql92.errors import IllegalExpression
from broker_core.sql92.parser import Parser
from broker_core.sql92.values import Kind

MAX_CHARACTERS: Final = 16_384
"""Of one expression: it is compiled while other clients wait."""

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
    """An expression: `test` takes the values of the properties `names`, None for one that is missing."""

    text: str
    names: tuple[str, ...]
    test: Callable[..., bool]

    def matches(self, properties: Mapping[str, str]) -> bool:
        """Return whether a message with these properties is selected; false where a property is no number."""
        return self.test(*map(properties.get, self.names))


@lru_cache(maxsize=1_024)
def compile_sql92(text: str) -> Sql92:
    """Return an expression that can be tested; raises IllegalExpression."""
    if len(text) > MAX_CHARACTERS:
        raise IllegalExpression(f"longer than {MAX_CHARACTERS} characters", MAX_CHARACTERS + 1)
    parser = Parser(text)
    code = parser.expression().code
    names = tuple(parser.parts.names)
    source = _FUNCTION.format(variables=", ".join(f"p{number}" for number in range(len(names))), code=code)
    found: dict[str, Any] = dict(_HELPERS)
    # The source is made of our own words, of numbers and of texts as Python writes them.
    exec(compile(source, "<sql92>", "exec"), found)  # noqa: S102
    return Sql92(text, names, found["test"])
