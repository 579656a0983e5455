"""Serializer fields shared by the whole console."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.moments import rfc3339

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@extend_schema_field({"type": "string", "format": "date-time"})
class MomentField(serializers.DateTimeField):
    """A moment: output is RFC 3339 in UTC with milliseconds, input any RFC 3339 text with a zone."""

    default_error_messages = {"invalid": "must be a moment with a time zone, such as 2026-05-01T08:00:00Z"}

    def enforce_timezone(self, value: datetime) -> datetime:
        """Return the moment; refuse a time without a zone."""
        if value.tzinfo is None:
            raise serializers.ValidationError(f"{value.isoformat()} has no time zone; append Z for UTC")
        return super().enforce_timezone(value)

    def to_representation(self, value: Any) -> Any:
        """Return the text, or None for None."""
        return None if value is None else moment(value)


def moment(value: datetime) -> str:
    """Return the moment as RFC 3339 in UTC with milliseconds."""
    value = value.astimezone(UTC)
    return rfc3339(int(value.timestamp()) * 1000 + value.microsecond // 1000)


def milliseconds(value: datetime) -> int:
    """Return the moment in ms since 1970; 0 for an earlier one."""
    return max(0, (value - _EPOCH) // timedelta(milliseconds=1))
