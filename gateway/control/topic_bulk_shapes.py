"""JSON shapes of a change of many topics, and of what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from rest_framework import serializers

from console.clusters.outcomes import BrokerOutcome
from gateway.control.topic_queue_shapes import QueueChange
from gateway.control.topic_shapes import MAX_QUEUES, PERMISSIONS

MAX_TOPICS: Final = 200
BulkWord = Literal["planned", "done", "partial", "failed", "refused"]


class BulkTopic(Struct, frozen=True, kw_only=True):
    """One topic of the request: what the change does to it, and what became of it."""

    name: str
    outcome: Annotated[
        BulkWord, Meta(description="refused: not tried, for the reason given. partial: not made on all its brokers.")
    ]
    reason: str | None = None
    messages: Annotated[int | None, Meta(description="Messages that it holds, as measured last; null if unknown.")] = (
        None
    )
    groups: Annotated[list[str], Meta(description="Its consumer groups that the caller may see.")] = []
    changes: Annotated[list[QueueChange], Meta(description="Broker by broker; empty for a deletion.")] = []
    brokers: Sequence[BrokerOutcome] = []


class BulkTopics(Struct, frozen=True):
    """The topics of the request, each once, in its order; the ETag of a dry run is the one for the change."""

    items: list[BulkTopic]


class TopicNamesSerializer(serializers.Serializer[Any]):
    """The topics to change."""

    topics = serializers.ListField(
        child=serializers.CharField(max_length=255), min_length=1, max_length=MAX_TOPICS, help_text="Each once."
    )

    def validate_topics(self, names: list[str]) -> list[str]:
        """Refuse names that are given twice."""
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise serializers.ValidationError(f"Is given more than once: {', '.join(twice)}.")
        return names


class BulkChangeSerializer(TopicNamesSerializer):
    """Settings to change on each broker of many topics; what is not given stays."""

    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    permission = serializers.ChoiceField(PERMISSIONS, required=False)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change of nothing."""
        if values.keys() == {"topics"}:
            raise serializers.ValidationError({"topics": "Give read_queues, write_queues or permission to change."})
        return values
