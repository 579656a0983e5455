"""A topic and a range of time: what every job reads."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from console.fields import ExactField
from console.jobs.bounds import BoundField, check_range


class RangeSerializer(serializers.Serializer[Any]):
    """A topic, from a moment (inclusive) to a moment (exclusive)."""

    topic = ExactField(max_length=127)
    to = BoundField(required=False, allow_null=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; "from" is a keyword of Python, so it cannot be declared like the others."""
        return {"from": BoundField(required=False, allow_null=True), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an empty range."""
        check_range(attrs.get("from"), attrs.get("to"))
        return attrs
