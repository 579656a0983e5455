"""Which messages somebody looks for: tag, key, property, text, JSON field, SQL92 (docs/http-api.md, "Scan a topic").

All conditions must hold. A condition on something that a message does not have does not hold, whatever its operator,
except `absent`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final, Literal

import msgspec

from broker_core.protocol.message import StoredMessage
from broker_core.sql92 import Sql92

Operator = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "prefix", "exists", "absent"]
ORDERING: Final = frozenset({"lt", "le", "gt", "ge"})
WITHOUT_VALUE: Final = frozenset({"exists", "absent"})
_STEP: Final = re.compile(r"""\.?([A-Za-z_][\w-]*)|\[(\d{1,9})\]|\[(\*)\]|\["((?:[^"\\]|\\.)*)"\]""")
_EACH: Final = object()
_MOST_STEPS: Final = 32
_MOST_VALUES: Final = 10_000
"""Values that one path with `[*]` looks at in one message."""

_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_MISSING: Final = object()


class BadPath(ValueError):
    """The text is not the path of a JSON field."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a property or a JSON field must be."""

    operator: Operator
    value: Any = None
    """Text for properties; a JSON value with numbers as int or Decimal for fields."""

    def holds_for_any(self, found: Iterator[Any]) -> bool:
        """Return whether it holds for one of the values found."""
        if self.operator == "absent":
            return next(found, _MISSING) is _MISSING
        return any(map(self._holds, found))

    def _holds(self, found: Any) -> bool:
        if self.operator == "exists":
            return True
        if self.operator in ("contains", "prefix"):
            return _CONTAINS[self.operator](found, self.value)
        if self.operator in ("eq", "ne"):
            return _are_equal(found, self.value) is (self.operator == "eq")
        comparable = (_is_number(found) and _is_number(self.value)) or (
            isinstance(found, str) and isinstance(self.value, str)
        )
        return comparable and _COMPARE[self.operator](found, self.value)


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """The conditions of one scan; without any, every message matches."""

    tags: frozenset[str] = frozenset()
    """One of them; empty: any."""
    key: str | None = None
    text: bytes | None = None
    """A part of the body, byte for byte."""
    properties: Sequence[tuple[str, Condition]] = ()
    fields: Sequence[tuple[tuple[object, ...], Condition]] = field(default=())
    """Paths as `parse_path` returns them, with what must hold there."""
    sql: Sql92 | None = None
    """Over the properties, as a broker would test them."""

    @property
    def reads_contents(self) -> bool:
        """Whether body or properties decide: an answer tells something about them."""
        return self.text is not None or bool(self.fields or self.properties or self.sql)

    def matches(self, message: StoredMessage) -> bool:
        """Return whether all conditions hold; a body that is damaged or not JSON has no fields."""
        if self.tags and message.tag not in self.tags:
            return False
        if self.key is not None and self.key not in message.keys and self.key != message.unique_id:
            return False
        properties = message.properties
        for name, condition in self.properties:
            if not condition.holds_for_any(iter([properties[name]] if name in properties else [])):
                return False
        if self.sql is not None and not self.sql.matches(properties):
            return False
        if self.text is not None and self.text not in message.body:
            return False
        return not self.fields or self._fields_match(message)

    def _fields_match(self, message: StoredMessage) -> bool:
        try:
            content = _MISSING if message.damage is not None else _decode(message.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidOperation):
            content = _MISSING
        return all(condition.holds_for_any(_values(content, path)) for path, condition in self.fields)


def why_never(operator: str, value: object) -> str | None:
    """Return why a condition on a JSON field with this value could hold for no message; None if it could."""
    if operator in ORDERING and not (isinstance(value, str) or _is_number(value)):
        return f"the operator {operator} compares with a number or a text"
    return "the operator prefix takes a text" if operator == "prefix" and not isinstance(value, str) else None


def parse_path(text: str) -> tuple[object, ...]:
    """Return the steps of ``$.order.items[*].price``, ``a[0]`` or ``$["odd name"]``; raise BadPath.

    The syntax is the part of JSONPath (RFC 9535) without filters, slices, negative indices and descendants.
    """
    rest = text.removeprefix("$")
    steps: list[object] = []
    at = 0
    while at < len(rest):
        step = _STEP.match(rest, at)
        if step is None or len(steps) == _MOST_STEPS:
            raise BadPath(f"{text!r} is not a path such as $.order.items[0].price")
        name, index, each, quoted = step.groups()
        steps.append(name or (int(index) if index else _EACH if each else msgspec.json.decode(f'"{quoted}"')))
        at = step.end()
    if not steps and text != "$":
        raise BadPath("a path is empty")
    return tuple(steps)


def _values(content: Any, path: Sequence[object]) -> Iterator[Any]:
    """Yield what is at the path, which may be several values."""
    if content is _MISSING:
        return
    found = [content]
    for step in path:
        if step is _EACH:
            found = [each for one in found if isinstance(one, list) for each in one][:_MOST_VALUES]
        elif isinstance(step, int):
            found = [one[step] for one in found if isinstance(one, list) and step < len(one)]
        else:
            found = [one[step] for one in found if isinstance(one, dict) and step in one]
    yield from found


def _is_number(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _are_equal(found: object, value: object) -> bool:
    """Return whether two JSON values are the same; true is not 1."""
    return isinstance(found, bool) is isinstance(value, bool) and found == value


def _contains(found: object, value: object) -> bool:
    if isinstance(found, str):
        return isinstance(value, str) and value in found
    return isinstance(found, list) and any(_are_equal(each, value) for each in found)


_CONTAINS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "contains": _contains,
    "prefix": lambda found, value: isinstance(found, str) and isinstance(value, str) and found.startswith(value),
}
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "lt": lambda found, value: found < value,
    "le": lambda found, value: found <= value,
    "gt": lambda found, value: found > value,
    "ge": lambda found, value: found >= value,
}
