"""The request of a reconciliation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.jobs.requests.kinds import RequestKind

BY: Final = ("key", "unique_id", "body", "source")
COMPARE: Final = ("body", "none")
FIELDS: Final = ("body", "tag", "keys", "properties")


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": list(COMPARE)},
            {"type": "array", "items": {"type": "string", "enum": list(FIELDS)}, "maxItems": len(FIELDS)},
        ],
        "description": "The fields to compare; `none` finds only missing and surplus messages.",
    }
)
class CompareField(serializers.Field[Any, Any, Any, Any]):
    """A list of fields of a message, or one of two words."""

    _fields = serializers.ListField(
        child=serializers.ChoiceField(
            FIELDS, error_messages={"invalid_choice": f"must be one of {', '.join(FIELDS)}, not {{input!r}}"}
        ),
        max_length=len(FIELDS),
    )
    _word = serializers.ChoiceField(
        COMPARE, error_messages={"invalid_choice": f"must be a list of fields, or {' or '.join(COMPARE)}"}
    )

    def to_internal_value(self, data: Any) -> Any:
        """Return the list or the word."""
        return self._fields.run_validation(data) if isinstance(data, list) else self._word.run_validation(data)

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


def _name(request: Mapping[str, Any]) -> str:
    return f"Reconcile {request['left']['topic']} with {request['right']['topic']}"


RECONCILE: Final = RequestKind(required=("left", "right"), optional=("by", "compare", "order"), name=_name)
