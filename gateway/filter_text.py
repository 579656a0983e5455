"""A filter of messages as one line of text: ``tag = paid and $.amount >= 100`` (docs/http-api.md, "Browse a topic").

The console reads the same text (frontend/src/features/messages/filter-text.ts).
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import msgspec

from gateway.message_filter import ORDERING, WITHOUT_VALUE, Condition, MessageFilter, Operator, parse_path

MOST_CONDITIONS: Final = 16
_STRING: Final = r'"(?:[^"\\]|\\.)*"'
_FIELD: Final = re.compile(
    rf"tag\b|key\b|body\b|property(?:\.[\w%-]+|\[{_STRING}\])"
    rf"|\$(?:\.[A-Za-z_][\w-]*|\[(?:\d{{1,9}}|\*|{_STRING})\])+"
)
_OPERATOR: Final = re.compile(r"!=|<=|>=|=|<|>|(?:contains|starts_with|in|exists|missing)\b")
_VALUE: Final = re.compile(rf'{_STRING}|[^\s"]+')
_LIST: Final = re.compile(r"\[[^\]]*\]")
_AND: Final = re.compile(r"and\b")
_SPACE: Final = re.compile(r"\s*")
_WIRE: Final[dict[str, Operator]] = {
    "=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    "contains": "contains", "starts_with": "prefix", "exists": "exists", "missing": "absent",
}  # fmt: skip
_OF_PROPERTIES: Final = ("=", "!=", "contains", "starts_with", "exists", "missing")
_TAKES: Final = {"tag": ("=", "in"), "key": ("=",), "body": ("contains",)}

_decode = msgspec.json.Decoder(float_hook=Decimal).decode


class BadFilter(ValueError):
    """The text is not a filter; the message names the place."""


@dataclass(slots=True)
class _Read:
    """What was read so far."""

    tags: frozenset[str] | None = None
    key: str | None = None
    text: str | None = None
    properties: list[tuple[str, Condition]] = field(default_factory=list)
    fields: list[tuple[tuple[object, ...], Condition]] = field(default_factory=list)


class _Text:
    """The text and how far it was read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.take(_SPACE)

    @property
    def place(self) -> str:
        """Where the text was read to, in words."""
        return f"at character {self._at + 1}"

    def is_at_end(self) -> bool:
        return self._at >= len(self._text)

    def take(self, pattern: re.Pattern[str]) -> str | None:
        """Return what matches here, and go behind it and the space after it; None if nothing does."""
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = _end_of(_SPACE, self._text, found.end())
        return found[0]

    def need(self, pattern: re.Pattern[str], what: str) -> str:
        """Return what matches here; raise BadFilter."""
        found = self.take(pattern)
        if found is None:
            rest = repr(self._text[self._at : self._at + 20]) if not self.is_at_end() else "the end"
            raise BadFilter(f"{self.place}: expected {what}, found {rest}")
        return found


def parse_filter(text: str) -> MessageFilter:
    """Return the filter that the text means; raise BadFilter. An empty text lets everything through."""
    source, read, conditions = _Text(text), _Read(), 0
    while not source.is_at_end():
        _read_condition(source, read)
        conditions += 1
        if conditions > MOST_CONDITIONS:
            raise BadFilter(f"has more than {MOST_CONDITIONS} conditions")
        if not source.is_at_end():
            source.need(_AND, "and")
            if source.is_at_end():
                source.need(_FIELD, "a condition")
    return MessageFilter(
        tags=read.tags or frozenset(),
        key=read.key,
        text=None if read.text is None else read.text.encode(),
        properties=tuple(read.properties),
        fields=tuple(read.fields),
    )


def _read_condition(source: _Text, read: _Read) -> None:
    name = source.need(_FIELD, "tag, key, body, property.NAME or $.path")
    operator = source.need(_OPERATOR, "an operator such as = < >= contains exists")
    kind = re.split(r"[.\[]", name)[0]
    allowed: Sequence[str] = _OF_PROPERTIES if kind == "property" else _TAKES.get(kind, tuple(_WIRE))
    if operator not in allowed:
        raise BadFilter(f"{name} does not take the operator {operator}; it takes {', '.join(allowed)}")
    if kind in _TAKES:
        _read_plain(source, read, kind, operator)
        return
    wire, place = _WIRE[operator], source.place
    value = None if wire in WITHOUT_VALUE else source.need(_VALUE, "a value")
    if kind == "property":
        shown = name.removeprefix("property.") if "[" not in name else _plain(name[len("property[") : -1])
        read.properties.append((shown, Condition(wire, None if value is None else _plain(value))))
    else:
        read.fields.append(
            (parse_path(name), Condition(wire, None if value is None else _of_field(wire, operator, value, place)))
        )


def _read_plain(source: _Text, read: _Read, kind: str, operator: str) -> None:
    """Read the value of `tag`, `key` or `body`, each of which a filter has at most once."""
    attribute = {"tag": "tags", "key": "key", "body": "text"}[kind]
    if getattr(read, attribute) is not None:
        raise BadFilter(f"{kind} is given more than once")
    if operator == "in":
        inside = source.need(_LIST, "a list such as [a, b]")[1:-1].split(",")
        read.tags = frozenset(_plain(each.strip()) for each in inside if each.strip())
        if not read.tags:
            raise BadFilter("the list of tags is empty")
        return
    value = _plain(source.need(_VALUE, "a value"))
    setattr(read, attribute, frozenset([value]) if kind == "tag" else value)


def _plain(text: str) -> str:
    return str(_decoded(text)) if text.startswith('"') else text


def _of_field(wire: Operator, operator: str, text: str, place: str) -> Any:
    """Return the value of a condition on a JSON field; raise BadFilter for a comparison with a bare word."""
    if wire == "prefix":
        return _plain(text)
    value = _json(text)
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if wire in ORDERING and not (is_number or text.startswith('"')):
        raise BadFilter(f"{place}: {operator} compares with a number or a text in quotes, found {text[:20]!r}")
    return value


def _json(text: str) -> Any:
    """Return a number, true, false, null or a quoted text as JSON reads it, exactly; any other word is a text."""
    if text.startswith('"'):
        return _decoded(text)
    try:
        value = _decode(text)
    except (msgspec.DecodeError, decimal.InvalidOperation):
        return text
    return text if isinstance(value, list | dict) else value


def _decoded(text: str) -> Any:
    try:
        return _decode(text)
    except msgspec.DecodeError:
        raise BadFilter(f"{text[:40]} is not a quoted text as JSON writes it") from None


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
