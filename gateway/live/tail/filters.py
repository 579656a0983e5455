"""The filter of a tail: its shape on the wire, and the judgement of a message (docs/http-api.md, "Scan a topic").

A condition on a field cannot be tried on a body that is not JSON. Such a message is shown, with the reason: what an
operator cannot see, they would take for absent.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from broker_core.protocol.message import StoredMessage
from gateway.data.bodies import is_json
from gateway.data.schemas import invalid
from gateway.message_filter import WITHOUT_VALUE, BadPath, Condition, MessageFilter, parse_path, why_never
from gateway.sql_filter import MOST_OF_READERS, BadSql, parse_sql

MOST_CONDITIONS: Final = 16
TextOperator = Literal["eq", "ne", "contains", "prefix", "exists", "absent"]
FieldOperator = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains", "prefix", "exists", "absent"]
Scalar = str | int | float | bool | None


class PropertyCondition(Struct, frozen=True, forbid_unknown_fields=True):
    """What a property must be."""

    name: Annotated[str, Meta(min_length=1, max_length=255)]
    operator: TextOperator
    value: Annotated[str, Meta(max_length=30_000)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse a missing value, and one that the operator does not take."""
        _check_value(self.operator, self.value)


class FieldCondition(Struct, frozen=True, forbid_unknown_fields=True):
    """What a field of a JSON body must be."""

    path: Annotated[str, Meta(min_length=1, max_length=1_000)]
    operator: FieldOperator
    value: Scalar | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuse what is not a path, a missing value, and one with which the condition could never hold."""
        _check_value(self.operator, self.value)
        fault = why_never(self.operator, self.value)
        if fault is not None:
            raise ValueError(fault)
        try:
            parse_path(self.path)
        except BadPath as error:
            raise ValueError(str(error)) from None


class TailFilter(Struct, frozen=True, forbid_unknown_fields=True):
    """The messages that a viewer wants; all that is given must hold, and one of the tags."""

    tags: Annotated[list[Annotated[str, Meta(min_length=1, max_length=255)]], Meta(max_length=100)] = []
    key: Annotated[str, Meta(min_length=1, max_length=1_000)] | None = None
    text: Annotated[str, Meta(min_length=1, max_length=10_000)] | None = None
    properties: Annotated[list[PropertyCondition], Meta(max_length=MOST_CONDITIONS)] = []
    fields: Annotated[list[FieldCondition], Meta(max_length=MOST_CONDITIONS)] = []
    sql: Annotated[str, Meta(min_length=1, max_length=MOST_OF_READERS)] | None = None

    @property
    def reads_content(self) -> bool:
        """Whether it needs bodies or values of properties."""
        return bool(self.text or self.properties or self.fields or self.sql)

    def check(self) -> None:
        """Raise INVALID at the field for SQL that does not compile."""
        if self.sql is not None:
            try:
                parse_sql(self.sql)
            except BadSql as error:
                raise invalid("#/filter/sql", str(error)) from None


class Judgement(Struct, frozen=True):
    """Whether a message passes; `unjudged` says why a condition could not be tried."""

    passes: bool
    unjudged: str | None = None


PASSES: Final = Judgement(True)
FAILS: Final = Judgement(False)


class Judge:
    """Judges messages by one filter."""

    def __init__(self, wanted: TailFilter) -> None:
        self._by_rest = MessageFilter(
            tags=frozenset(wanted.tags),
            key=wanted.key,
            text=None if wanted.text is None else wanted.text.encode(),
            properties=[(each.name, _condition(each.operator, each.value)) for each in wanted.properties],
            sql=None if wanted.sql is None else parse_sql(wanted.sql),
        )
        paths = [(parse_path(each.path), _condition(each.operator, each.value)) for each in wanted.fields]
        self._by_fields = MessageFilter(fields=paths)
        self._first_path = wanted.fields[0].path if wanted.fields else None

    def judge(self, message: StoredMessage) -> Judgement:
        """Return whether a message passes."""
        if not self._by_rest.matches(message):
            return FAILS
        if self._first_path is None or self._by_fields.matches(message):
            return PASSES
        if message.damage is not None:
            return Judgement(True, f"{self._first_path} cannot be read: the body is damaged")
        if not is_json(message.body):
            return Judgement(True, f"{self._first_path} cannot be read: the body is not JSON")
        return FAILS


def _check_value(operator: str, value: object) -> None:
    if (operator in WITHOUT_VALUE) is (value is not UNSET):
        raise ValueError(f"the operator {operator} takes {'no' if operator in WITHOUT_VALUE else 'a'} value")


def _condition(operator: FieldOperator, value: object) -> Condition:
    if value is UNSET:
        return Condition(operator)
    return Condition(operator, Decimal(str(value)) if isinstance(value, float) else value)
