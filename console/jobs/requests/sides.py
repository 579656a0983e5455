"""A side of a reconciliation: messages of a topic, what a group consumed, or rows of a file or a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from broker_core.sql_text import sql_fault
from console.clusters.operations import find_group
from console.fields import ExactField, NumberField
from console.jobs.bounds import BoundField, check_range
from console.jobs.requests.places import check_connection, check_file
from console.jobs.requests.topics import check_topic

TOPIC: Final = "topic"
GROUP: Final = "group"
DATABASE: Final = "postgresql"
FILES: Final = ("parquet", "csv")
KINDS: Final = (TOPIC, GROUP, *FILES, DATABASE)
OF_MESSAGES: Final = (TOPIC, GROUP)
"""Kinds whose rows are messages: they have the words of `by` and `compare`."""
_RANGE: Final = ("from", "to", "where")
_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    TOPIC: (("topic",), ("cluster", *_RANGE)),
    GROUP: (("group", "topic"), ("cluster", *_RANGE)),
    "parquet": (("path",), ("time", *_RANGE)),
    "csv": (("path",), ("time", *_RANGE)),
    DATABASE: (("connection",), ("table", "query", "time", *_RANGE)),
}
"""Of each kind the fields that it needs, and those that it may have."""


class SqlField(serializers.CharField):
    """An SQL expression over the row."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=4000, **options)

    def to_internal_value(self, data: Any) -> str:
        """Return the expression; raise ValidationError for one that would reach beyond the row."""
        if not isinstance(data, str):
            # Expressions inside of `by` and `compare` are not among the fields whose types are checked by name.
            raise serializers.ValidationError("must be a text")
        text = super().to_internal_value(data)
        fault = sql_fault(text)
        if fault is not None:
            raise serializers.ValidationError(fault)
        return text


class SideSerializer(serializers.Serializer[Any]):
    """One side: by default the messages of a topic, from a moment (inclusive) to a moment (exclusive)."""

    kind = serializers.ChoiceField(KINDS, required=False, help_text=f"By default {TOPIC}.")
    topic = ExactField(max_length=127, required=False, help_text="For the kinds `topic` and `group`.")
    group = ExactField(
        max_length=120, required=False, help_text="What this group has consumed of the topic (kind `group`)."
    )
    cluster = ExactField(
        max_length=64, required=False, help_text="The cluster of the topic; by default that of the job."
    )
    path = ExactField(
        max_length=500, required=False,
        help_text="A file, or a folder of files, under the folder of `GANTRY_JOBS_FILES` (kinds `parquet` and `csv`).",
    )  # fmt: skip
    connection = ExactField(
        max_length=64, required=False, help_text="A name in the file of `GANTRY_JOBS_DATABASES` (kind `postgresql`)."
    )
    table = ExactField(max_length=200, required=False, help_text="A table or view, with or without schema.")
    query = serializers.CharField(max_length=10_000, required=False, help_text="A query, instead of a table.")
    time = ExactField(
        max_length=200, required=False, help_text="The column with the time of a row, for `from`, `to` and the charts."
    )
    to = BoundField(required=False, allow_null=True)
    where = SqlField(required=False, help_text="An SQL condition over the columns of the side, and `json`, its body.")

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; "from" is a keyword of Python, so it cannot be declared like the others."""
        return {"from": BoundField(required=False, allow_null=True), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse fields of another kind, and an empty range."""
        kind = attrs.get("kind", TOPIC)
        required, optional = _FIELDS[kind]
        faults = {name: f"is required for a side of the kind {kind}" for name in required if name not in attrs}
        foreign = attrs.keys() - {"kind", *required, *optional}
        faults |= dict.fromkeys(foreign, f"does not belong to a side of the kind {kind}")
        if faults:
            raise serializers.ValidationError(faults)
        check_range(attrs.get("from"), attrs.get("to"))
        if kind not in OF_MESSAGES and (attrs.get("from") or attrs.get("to")) and "time" not in attrs:
            raise serializers.ValidationError({"time": "is required with from and to"})
        return attrs


def check_side(cluster: str, part: str, side: Mapping[str, Any]) -> None:
    """Raise ValidationError for a side that is not there, by its field.

    Only after the rights: whoever lacks them must not learn which topics and files there are.
    """
    if has_messages(side):
        check_topic(cluster, part, side)
        if "group" in side and find_group(side.get("cluster") or cluster, side["group"]) is None:
            raise serializers.ValidationError({part: {"group": f"there is no group {side['group']!r}"}})
        return
    try:
        if side["kind"] == DATABASE:
            check_connection(side)
        else:
            check_file(side["path"], side["kind"])
    except serializers.ValidationError as error:
        raise serializers.ValidationError({part: error.detail}) from error


def title_of(side: Mapping[str, Any]) -> str:
    """Return how a side is called in the name of a job."""
    match side.get("kind", TOPIC):
        case "topic":
            return str(side["topic"])
        case "group":
            return f"{side['topic']} of {side['group']}"
        case "postgresql":
            return f"{side['connection']}.{side['table']}" if "table" in side else str(side["connection"])
    return str(side["path"])


def has_messages(side: Mapping[str, Any]) -> bool:
    """Return whether the rows of a side are messages."""
    return side.get("kind", TOPIC) in OF_MESSAGES


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "enum": ["key", "unique_id", "body", "source"]},
            {
                "type": "object",
                "required": ["left", "right"],
                "additionalProperties": False,
                "properties": {"left": {"type": "string"}, "right": {"type": "string"}},
            },
        ],
        "description": "The key that pairs messages: a word, or an SQL expression for each side.",
    }
)
class ByField(serializers.Field[Any, Any, Any, Any]):
    """A word, or an expression for each side."""

    def __init__(self, words: tuple[str, ...], **options: Any) -> None:
        super().__init__(**options)
        fault = f"must be one of {', '.join(words)}, or an SQL expression for each side, not {{input!r:.60}}"
        self._word = serializers.ChoiceField(words, error_messages={"invalid_choice": fault})

    def to_internal_value(self, data: Any) -> Any:
        """Return the word or the expressions."""
        if isinstance(data, Mapping):
            return _Pair().run_validation(data)
        return self._word.run_validation(data)

    def to_representation(self, value: Any) -> Any:
        """Return the value unchanged."""
        return value


class _Pair(serializers.Serializer[Any]):
    left = SqlField()
    right = SqlField()

    def to_internal_value(self, data: Any) -> Any:
        """Refuse other fields by name."""
        unknown = data.keys() - self.fields.keys() if isinstance(data, Mapping) else ()
        if unknown:
            raise serializers.ValidationError({str(name): "is not a field" for name in unknown})
        return super().to_internal_value(data)


class ComparedField(_Pair):
    """A compared value: an SQL expression for each side."""

    name = serializers.RegexField(r"^[A-Za-z_][A-Za-z0-9_.-]{0,99}$")
    tolerance = NumberField(min_value=0, required=False, help_text="By how much numbers may differ and still be equal.")
