"""How two sides are compared: by which key, in which fields, and what counts as equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from broker_core.spark.errors import BadRequest

LEFT: Final = "left"
RIGHT: Final = "right"
SIDES: Final = (LEFT, RIGHT)
CLASSES: Final = (
    "matched",
    "missing_left",
    "missing_right",
    "different",
    "duplicate_left",
    "duplicate_right",
    "duplicate",
    "reordered",
    "late",
)
"""The order of the classes in reports. `different`: one side has a value that the other lacks; `duplicate`: both
have the same values in several messages, but not equally often; `reordered`: equally often, in another order;
`late`: the partner lies outside of the range by no more than the lateness, or may still come."""
DAMAGED: Final = ("damaged_left", "damaged_right")
"""Classes of rows that could not be read; whether they match is not known."""

BY: Final = ("key", "unique_id", "body", "source")
FIELDS: Final = ("body", "tag", "keys", "properties")
"""The fields that can be compared by name; the properties are those that producers set themselves."""
_NOTHING: Final = "none"


@dataclass(frozen=True, slots=True)
class Field:
    """A compared field: one of `FIELDS`, or a name with an SQL expression for each side."""

    name: str
    left: str | None = None
    right: str | None = None
    tolerance: float | None = None
    """By how much numbers may differ and still be equal."""

    def sql(self, side: str) -> str | None:
        """Return the expression of a side; None for a word."""
        return self.left if side == LEFT else self.right


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two sides are compared."""

    by: str | None = "key"
    """One of `BY`; None for a key by expression."""
    fields: tuple[Field, ...] = (Field("body"),)
    """None to search only for missing and duplicate messages."""
    key: tuple[str, str] | None = None
    """The SQL expression of the key on the left and on the right."""
    ordered: bool = False
    """Whether the messages of a key must have the same order, by store time."""
    multiset: bool = True
    """Whether it counts how often a message occurs; if not, repetitions on one side are no fault."""
    lateness_ms: int = 0

    def key_sql(self, side: str) -> str | None:
        """Return the expression of the key of a side; None for a word."""
        return None if self.key is None else self.key[SIDES.index(side)]


def parse_comparison(asked: Mapping[str, Any]) -> Comparison:
    """Return the comparison of a request; raise BadRequest with the field for one that cannot be made."""
    by, key = _key(asked.get("by") or "key")
    ordered, multiset = bool(asked.get("order")), asked.get("multiset") is not False
    if ordered and not multiset:
        raise BadRequest("order: an order is that of all messages of a key, so it cannot go with multiset=false")
    fields = _fields(asked.get("compare") or "body")
    # Messages paired by their bodies have equal bodies.
    fields = tuple(field for field in fields if (field.name, by) != ("body", "body"))
    if ordered and any(field.tolerance is not None for field in fields):
        raise BadRequest("order: cannot go with a tolerance, since equal is then no order")
    return Comparison(by, fields, key, ordered, multiset, int(asked.get("lateness_ms") or 0))


def _key(by: Any) -> tuple[str | None, tuple[str, str] | None]:
    if isinstance(by, Mapping):
        return None, (str(by["left"]), str(by["right"]))
    if by not in BY:
        raise BadRequest(f"by={by!r}: one of {', '.join(BY)}")
    return str(by), None


def _fields(asked: Any) -> tuple[Field, ...]:
    words = asked.split(",") if isinstance(asked, str) else asked
    fields = [_field(word) for word in words if word != _NOTHING]
    by_word = {field.name: field for field in fields if field.left is None}
    ordered = [by_word[name] for name in FIELDS if name in by_word]
    return (*ordered, *(field for field in fields if field.left is not None))


def _field(asked: Any) -> Field:
    if isinstance(asked, Mapping):
        tolerance = asked.get("tolerance")
        return Field(str(asked["name"]), asked["left"], asked["right"], None if tolerance is None else float(tolerance))
    name = asked.strip()
    if name not in FIELDS:
        raise BadRequest(f"compare={name!r}: some of {', '.join(FIELDS)}, or {_NOTHING}")
    return Field(name)
