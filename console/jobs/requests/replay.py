"""The request of a replay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers

from broker_core.client.admin.topics import kind_of
from console.jobs.requests.kinds import RequestKind
from console.jobs.requests.ranges import RangeSerializer
from console.jobs.requests.topics import check_kind

MAX_KEYS: Final = 1000
MOST_PER_SECOND: Final = 10_000_000


class ReplaySourceSerializer(RangeSerializer):
    """The source of a replay."""

    queues = serializers.ListField(
        child=serializers.IntegerField(min_value=0), required=False, allow_null=True, allow_empty=False, max_length=1024
    )
    keys = serializers.ListField(
        child=serializers.CharField(max_length=1000),
        required=False,
        allow_null=True,
        allow_empty=False,
        max_length=MAX_KEYS,
    )
    tag = serializers.CharField(required=False, allow_null=True, max_length=1000)

    def validate_tag(self, value: str | None) -> str | None:
        """Refuse a tag that no message can have: it would look like a filter expression and match nothing."""
        if value == "*" or (value is not None and "||" in value):
            raise serializers.ValidationError("must be one exact tag; leave it out to replay messages with any tag")
        return value


class ReplayTargetSerializer(serializers.Serializer[Any]):
    """The target of a replay."""

    topic = serializers.CharField(max_length=127)


class LimitsSerializer(serializers.Serializer[Any]):
    """The limits of a replay."""

    messages_per_second = serializers.IntegerField(
        min_value=1, max_value=MOST_PER_SECOND, required=False, allow_null=True
    )
    max_messages = serializers.IntegerField(min_value=1, required=False, allow_null=True)


def _check(attrs: Mapping[str, Any]) -> None:
    """Refuse a target that is the source, or that no job may write to whatever the cluster says."""
    target = attrs["target"]["topic"]
    if attrs["source"]["topic"] == target:
        raise serializers.ValidationError({"target": {"topic": "must be a different topic from the source"}})
    check_kind(kind_of(target), target)


def _name(request: Mapping[str, Any]) -> str:
    return f"Replay {request['source']['topic']} to {request['target']['topic']}"


REPLAY: Final = RequestKind(required=("source", "target"), optional=("limits", "dry_run"), check=_check, name=_name)
