"""The request of a reconciliation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from console.jobs.requests.kinds import RequestKind
from console.jobs.requests.sides import ComparedField, has_messages, title_of

BY: Final = ("key", "unique_id", "body", "source")
COMPARE: Final = ("body", "none")
FIELDS: Final = ("body", "tag", "keys", "properties")
MOST_FIELDS: Final = 50
LONGEST_LATENESS_MS: Final = 7 * 24 * 3600 * 1000


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": list(COMPARE)},
            {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_FIELDS,
                "items": {
                    "oneOf": [
                        {"type": "string", "enum": list(FIELDS)},
                        {
                            "type": "object",
                            "required": ["name", "left", "right"],
                            "additionalProperties": False,
                            "properties": {
                                "name": {"type": "string"},
                                "left": {"type": "string"},
                                "right": {"type": "string"},
                                "tolerance": {"type": "number", "minimum": 0},
                            },
                        },
                    ]
                },
            },
        ],
        "description": "What to compare: fields of messages by name, or a value by an SQL expression for each side; "
        "`none` finds only missing and surplus messages.",
    }
)
class CompareField(serializers.Field[Any, Any, Any, Any]):
    """A list of fields and expressions, or one of two words."""

    _field = serializers.ChoiceField(
        FIELDS, error_messages={"invalid_choice": f"must be one of {', '.join(FIELDS)}, not {{input!r:.60}}"}
    )
    _word = serializers.ChoiceField(
        COMPARE, error_messages={"invalid_choice": f"must be a list of fields, or {' or '.join(COMPARE)}"}
    )

    def to_internal_value(self, data: Any) -> Any:
        """Return the list or the word."""
        if not isinstance(data, list):
            return self._word.run_validation(data)
        if not data:
            raise serializers.ValidationError("names no field; leave it out to compare bodies, none compares nothing")
        if len(data) > MOST_FIELDS:
            raise serializers.ValidationError(f"has {len(data)} fields; at most {MOST_FIELDS} are compared")
        found: list[Any] = []
        faults: dict[Any, Any] = {}
        for number, each in enumerate(data):
            try:
                is_value = isinstance(each, Mapping)
                found.append(ComparedField().run_validation(each) if is_value else self._field.run_validation(each))
            except serializers.ValidationError as error:
                faults[number] = error.detail
        if faults:
            raise serializers.ValidationError(faults)
        names = [each["name"] if isinstance(each, Mapping) else each for each in found]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise serializers.ValidationError(f"names {', '.join(twice)} twice")
        return found

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


def _check(attrs: Mapping[str, Any]) -> None:
    """Refuse what cannot be combined."""
    compare = attrs.get("compare", "body")
    if not all(has_messages(attrs[part]) for part in ("left", "right")):
        # A row of a table has no key and no body but what an expression says.
        if not isinstance(attrs.get("by"), Mapping):
            fault = "must be an SQL expression for each side, where one has no messages"
            raise serializers.ValidationError({"by": fault})
        if compare != "none" and not all(isinstance(each, Mapping) for each in compare):
            fault = "must be a list of SQL expressions for each side, or none, where one has no messages"
            raise serializers.ValidationError({"compare": fault})
    if not attrs.get("order"):
        return
    if attrs.get("multiset") is False:
        raise serializers.ValidationError({"order": "is that of all messages of a key, and multiset leaves some out"})
    if not isinstance(compare, str) and any("tolerance" in each for each in compare if isinstance(each, Mapping)):
        raise serializers.ValidationError({"order": "cannot go with a tolerance"})


def _name(request: Mapping[str, Any]) -> str:
    return f"Reconcile {title_of(request['left'])} with {title_of(request['right'])}"


RECONCILE: Final = RequestKind(
    required=("left", "right"),
    optional=("by", "compare", "order", "multiset", "lateness_ms"),
    check=_check,
    name=_name,
)


def _name_of_check(request: Mapping[str, Any]) -> str:
    return f"Check the store of {request['cluster']}"


CHECKS: Final = ("store",)
CHECK: Final = RequestKind(required=("check",), name=_name_of_check)
"""A reconciliation of a store with itself: its log, queues and index."""
