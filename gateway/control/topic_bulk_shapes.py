"""JSON shapes of a change of many topics, and of what became of each."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from rest_framework import serializers

from gateway.control.bulk import BulkItem, NamesField
from gateway.control.topic_queue_shapes import QueueChange
from gateway.control.topic_shapes import MAX_QUEUES, PERMISSIONS


class BulkTopic(BulkItem, frozen=True, kw_only=True):
    """One topic of the request: what the change does to it, and what became of it."""

    messages: Annotated[int | None, Meta(description="Messages that it holds, as measured last; null if unknown.")] = (
        None
    )
    groups: Annotated[
        list[str] | None, Meta(description="Its consumer groups that the caller may see; null if unknown.")
    ] = None
    hidden_groups: Annotated[int | None, Meta(description="Others, which the caller may not see; null if unknown.")] = (
        None
    )
    scheduled: Annotated[
        int | None,
        Meta(
            description="In a deletion: messages that wait for their delivery time, and are dropped when it comes; "
            "null if unknown."
        ),
    ] = None
    transactions: Annotated[
        int | None,
        Meta(
            description="In a deletion: open transactions, which cannot be committed while there is no such topic; "
            "null if unknown."
        ),
    ] = None
    changes: Annotated[list[QueueChange], Meta(description="Broker by broker; empty for a deletion.")] = []


class BulkTopics(Struct, frozen=True):
    """The topics of the request, each once, in its order; the ETag of a dry run is the one for the change."""

    items: list[BulkTopic]


class TopicNamesSerializer(serializers.Serializer[Any]):
    """The topics to change."""

    topics = NamesField()


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
