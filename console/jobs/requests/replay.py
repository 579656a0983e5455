"""The request of a replay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers
from rest_framework.request import Request

from broker_core.client.admin.topics import kind_of
from broker_core.protocol.applications import TagsMalformed, tags_of
from broker_core.protocol.copies import NOT_COPIED, NOT_COPIED_PREFIXES, PREFIX
from broker_core.protocol.properties import RESERVED
from console.fields import EachOnceField, ExactField
from console.jobs.requests.kinds import COUNT, RATE, TIME, RequestKind
from console.jobs.requests.live import check_not_live
from console.jobs.requests.ranges import RangeSerializer
from console.jobs.requests.sides import SqlField
from console.jobs.requests.topics import check_kind
from console.jobs.time_limit import MinutesField

MAX_KEYS: Final = 1000
MAX_PROPERTIES: Final = 50
TOPIC: Final = "topic"
PARQUET: Final = "parquet"
TARGETS: Final = (TOPIC, PARQUET)
PRESERVED: Final = ("unique_id", "born_at")
ORDERS: Final = ("queue", "key")
_PROPERTY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}")
MOST_PER_SECOND: Final = 10_000_000


class OffsetRangeSerializer(serializers.Serializer[Any]):
    """A range of one queue by offsets: from one (inclusive) to one (exclusive), by default its begin and its end."""

    broker = ExactField(
        max_length=255, required=False, help_text="By default every broker with a queue of this number."
    )
    queue = serializers.IntegerField(min_value=0)
    to = serializers.IntegerField(min_value=0, required=False)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; "from" is a keyword of Python, so it cannot be declared like the others."""
        return {"from": serializers.IntegerField(min_value=0, required=False), **super().get_fields()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse an empty range."""
        if attrs.get("to") is not None and attrs["to"] <= attrs.get("from", 0):
            raise serializers.ValidationError({"to": "must be after from"})
        return attrs


class ReplaySourceSerializer(RangeSerializer):
    """The source of a replay: all messages of a topic that fulfil what is given."""

    offsets = serializers.ListField(
        child=OffsetRangeSerializer(),
        required=False,
        allow_empty=False,
        max_length=1024,
        help_text="Only these ranges of these queues.",
    )

    queues = EachOnceField(
        child=serializers.IntegerField(min_value=0), required=False, allow_null=True, allow_empty=False, max_length=1024
    )
    keys = serializers.ListField(
        child=serializers.CharField(max_length=1000),
        required=False,
        allow_null=True,
        allow_empty=False,
        max_length=MAX_KEYS,
    )
    keys_file = ExactField(
        max_length=500,
        required=False,
        help_text="A text file with a key on each line, below the folder of `GANTRY_JOBS_FILES`; `keys` add to it.",
    )
    tag = serializers.CharField(
        required=False, allow_null=True, max_length=1000, help_text="A tag, or several: `a || b`; `*` for all messages."
    )
    where = SqlField(required=False, help_text="An SQL condition over the columns of a topic, and `json`, its body.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse two ways to name queues, and two to bound them."""
        for name in ("queues", "from", "to"):
            if attrs.get("offsets") and attrs.get(name):
                raise serializers.ValidationError({name: "cannot go with offsets, which name queues and ranges"})
        return super().validate(attrs)

    def validate_offsets(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a second range of a queue: one read has one range of each queue."""
        seen: dict[int, set[str | None]] = {}
        for at, given in enumerate(value):
            brokers, broker = seen.setdefault(given["queue"], set()), given.get("broker")
            if brokers and (broker is None or broker in brokers or None in brokers):
                fault: Any = {at: {"queue": "has a range already; a job reads one of each queue"}}
                raise serializers.ValidationError(fault)
            brokers.add(broker)
        return value

    def validate_keys(self, value: list[str] | None) -> list[str] | None:
        """Refuse what is not one key: in messages a space separates keys, so such a one is never found."""
        faults: Any = {at: "has a space, which no key has" for at, key in enumerate(value or ()) if " " in key}
        if faults:
            raise serializers.ValidationError(faults)
        return value

    def validate_tag(self, value: str | None) -> str | None:
        """Refuse a text that chooses no tags."""
        try:
            if value is not None:
                tags_of(value)
        except TagsMalformed as error:
            raise serializers.ValidationError(str(error)) from None
        return value


class TransformSerializer(serializers.Serializer[Any]):
    """What copies have instead of what the messages have; each is an SQL expression over the message."""

    body = SqlField(required=False, help_text="A text or bytes; a message for which it is null fails.")
    tag = SqlField(required=False, help_text="A text; null for none.")
    keys = SqlField(required=False, help_text="An array of texts, or a text with spaces between the keys.")
    properties = serializers.DictField(
        child=SqlField(), required=False, help_text="Properties to set, by name; null removes one."
    )

    def validate_properties(self, value: dict[str, str]) -> dict[str, str]:
        """Refuse names that belong to the brokers, or to the provenance of copies."""
        if len(value) > MAX_PROPERTIES:
            raise serializers.ValidationError(f"names {len(value)} properties; at most {MAX_PROPERTIES} are set")
        for name in value:
            if not _PROPERTY.fullmatch(name):
                raise serializers.ValidationError({name: "must be a name of letters, digits and . _ - of at most 100"})
            if name in RESERVED or name in NOT_COPIED or name.startswith((PREFIX, *NOT_COPIED_PREFIXES)):
                raise serializers.ValidationError({name: "belongs to the brokers, or to the provenance of copies"})
        return value


class ReplayTargetSerializer(serializers.Serializer[Any]):
    """The target of a replay: a topic, or a Parquet file among the files of the job."""

    kind = serializers.ChoiceField(TARGETS, required=False, help_text=f"By default {TOPIC}.")
    topic = ExactField(max_length=127, required=False, help_text="Of the kind `topic`.")
    cluster = ExactField(max_length=64, required=False, help_text="By default the cluster of the job.")
    transform = TransformSerializer(required=False)
    order = serializers.ChoiceField(
        ORDERS,
        required=False,
        help_text="By default the messages of a queue stay together, in their order. With key those of each key go to "
        "the queue that producers choose by its hash, and keep the order of their source queue.",
    )
    preserve = EachOnceField(
        child=serializers.ChoiceField(PRESERVED),
        required=False,
        help_text="What copies keep beside body, keys, tag and own properties.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse fields of the other kind."""
        if attrs.get("kind", TOPIC) == TOPIC:
            if "topic" not in attrs:
                raise serializers.ValidationError({"topic": "is required for a target of the kind topic"})
            return attrs
        foreign = [name for name in ("topic", "cluster", "order", "preserve") if name in attrs]
        if foreign:
            raise serializers.ValidationError(dict.fromkeys(foreign, "does not belong to a target of the kind parquet"))
        return attrs


class LimitsSerializer(serializers.Serializer[Any]):
    """The limits of a job; all but the time are for replays to a topic."""

    messages_per_second = serializers.IntegerField(
        min_value=1, max_value=MOST_PER_SECOND, required=False, allow_null=True
    )
    max_messages = serializers.IntegerField(min_value=1, required=False, allow_null=True)
    max_minutes = MinutesField()


def _check(attrs: Mapping[str, Any]) -> None:
    """Refuse a target that is the source, unless that is allowed, or that no job may write to; limits of a file."""
    if is_file(attrs["target"]):
        fault = "does not belong to a target of the kind parquet"
        foreign: dict[str, Any] = {"allow_live_target": fault} if "allow_live_target" in attrs else {}
        if limits := {name: fault for name in (RATE, COUNT) if name in attrs.get("limits", {})}:
            foreign["limits"] = limits
        if foreign:
            raise serializers.ValidationError(foreign)
        return
    target = attrs["target"]["topic"]
    is_source = (attrs["cluster"], attrs["source"]["topic"]) == (target_cluster(attrs), target)
    if is_source and not attrs.get("allow_live_target"):
        fault = "must be a different topic from the source; allow_live_target allows the same one"
        raise serializers.ValidationError({"target": {"topic": fault}})
    check_kind(kind_of(target), target)


def is_file(target: Mapping[str, Any]) -> bool:
    """Return whether the target of a replay is a file of the job."""
    return bool(target.get("kind") == PARQUET)


def target_cluster(attrs: Mapping[str, Any]) -> str:
    """Return the cluster of the target of a replay."""
    return str(attrs["target"].get("cluster") or attrs["cluster"])


def check_live_target(request: Request, attrs: Mapping[str, Any]) -> None:
    """Raise ValidationError if groups read the target and the request does not allow that; a dry run writes nothing."""
    if not is_file(attrs["target"]) and not attrs.get("allow_live_target") and not attrs.get("dry_run"):
        check_not_live(request, target_cluster(attrs), attrs["target"]["topic"])


def _name(request: Mapping[str, Any]) -> str:
    return f"Replay {request['source']['topic']} to {request['target'].get('topic', 'Parquet')}"


REPLAY: Final = RequestKind(
    required=("source", "target"),
    optional=("dry_run", "allow_live_target"),
    limits=(RATE, COUNT, TIME),
    check=_check,
    name=_name,
)
