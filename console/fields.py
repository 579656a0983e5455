"""Serializer fields shared by the whole console."""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from broker_core.moments import EXAMPLE, NoMoment, read_moment
from console.moments import rfc3339

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
AFTER_THE_CALENDAR: Final = "is after the end of the year 9999 in UTC"
BEFORE_THE_CALENDAR: Final = "is before the beginning of the year 1 in UTC"
# A line break in a name breaks a log in two; a mark of direction makes it look like another one.
_NOT_IN_NAMES: Final = frozenset({"Cc", "Zl", "Zp"})
_MARKS_OF_DIRECTION: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@extend_schema_field({"type": "string", "format": "date-time"})
class MomentField(serializers.DateTimeField):
    """A moment: output is RFC 3339 in UTC with milliseconds, input any RFC 3339 text with a zone."""

    default_error_messages = {"invalid": f"must be a moment with a time zone, such as {EXAMPLE}"}

    def to_internal_value(self, value: Any) -> datetime:
        """Return the moment; refuse what is none."""
        if not isinstance(value, str):
            # A document in YAML or a default has moments already.
            read: datetime = super().to_internal_value(value)
            return read
        try:
            return self.enforce_timezone(read_moment(value))
        except NoMoment as error:
            raise serializers.ValidationError(f"{value[:40]!r} {error}") from None

    def enforce_timezone(self, value: datetime) -> datetime:
        """Return the moment; refuse a time without a zone."""
        if value.tzinfo is None:
            raise serializers.ValidationError(f"{value.isoformat()} has no time zone; append Z for UTC")
        try:
            value.astimezone(UTC)
        except OverflowError:
            is_late = value.year > _EPOCH.year
            raise serializers.ValidationError(AFTER_THE_CALENDAR if is_late else BEFORE_THE_CALENDAR) from None
        return super().enforce_timezone(value)

    def to_representation(self, value: Any) -> Any:
        """Return the text, or None for None."""
        return None if value is None else moment(value)


class NameField(serializers.CharField):
    """A name in one line, in any script."""

    def to_internal_value(self, data: Any) -> str:
        """Return the name; refuse one with control characters."""
        name: str = super().to_internal_value(data)
        for position, each in enumerate(name):
            if unicodedata.category(each) in _NOT_IN_NAMES or each in _MARKS_OF_DIRECTION:
                raise serializers.ValidationError(
                    f"must not contain control characters: U+{ord(each):04X} is at {position}"
                )
        return name


class ExactField(serializers.CharField):
    """The name of something that there is: with blanks at its ends it is another name."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class EachOnceField(serializers.ListField):
    """A list whose items differ."""

    def to_internal_value(self, data: Any) -> list[Any]:
        """Return the items; refuse one that is given twice."""
        items: list[Any] = super().to_internal_value(data)
        for index, item in enumerate(items):
            if item in items[:index]:
                raise serializers.ValidationError({str(index): f"{item!r} is given more than once"})
        return items


class NumberField(serializers.FloatField):
    """A number of JSON: DRF would also take a text or true."""

    def to_internal_value(self, data: Any) -> float:
        """Return the number; refuse anything else."""
        if isinstance(data, bool) or not isinstance(data, int | float) or not math.isfinite(data):
            raise serializers.ValidationError("must be a number")
        return float(data)


def moment(value: datetime) -> str:
    """Return the moment as RFC 3339 in UTC with milliseconds."""
    value = value.astimezone(UTC)
    return rfc3339(int(value.timestamp()) * 1000 + value.microsecond // 1000)


def milliseconds(value: datetime) -> int:
    """Return the moment in ms since 1970; 0 for an earlier one."""
    return max(0, (value - _EPOCH) // timedelta(milliseconds=1))
