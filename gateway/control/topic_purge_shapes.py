"""JSON shapes of the purge of a topic: what it makes unreadable, and what groups lose by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from rest_framework import serializers

from console.clusters.outcomes import BrokerOutcome
from console.lag.shapes import MissingBroker

MOST_QUEUES: Final = 4_096
MOST_GROUPS: Final = 100
"""Groups that one preview asks for; of the others it says that their loss is not known."""


class PurgedQueue(Struct, frozen=True, kw_only=True):
    """One queue of the purge."""

    broker: str
    queue_id: int
    min_offset: Annotated[int, Meta(description="The first offset that can be read before the purge.")]
    max_offset: Annotated[int, Meta(description="The offset of the next message; a purge leaves it as it is.")]
    before: Annotated[int, Meta(description="Messages before this offset are purged; the queue begins here then.")]
    messages: int


class PurgedGroup(Struct, frozen=True, kw_only=True):
    """A consumer group of the topic, and what it has not had of the messages that are purged."""

    name: str
    unread: Annotated[int | None, Meta(description="Null if unknown.")]
    reason: Annotated[str | None, Meta(description="Why it is unknown.")] = None


class TopicPurge(Struct, frozen=True, kw_only=True):
    """The queues that are purged, and what the purge hits; nothing is changed by a dry run."""

    queues: list[PurgedQueue]
    messages: int
    bytes: Annotated[
        int | None,
        Meta(description="What they take in the log; null if only a part of the topic is purged, or unknown."),
    ]
    groups: Annotated[list[PurgedGroup], Meta(description="Consumer groups that the caller may see.")]
    hidden_groups: Annotated[int, Meta(description="Others, which the caller may not see.")]
    missing: Annotated[Sequence[MissingBroker], Meta(description="Brokers whose queues are not known.")]
    brokers: Annotated[Sequence[BrokerOutcome], Meta(description="Empty for a dry run.")] = []


class QueueBeforeSerializer(serializers.Serializer[Any]):
    """Up to which offset a queue is purged."""

    broker = serializers.CharField(max_length=255)
    queue_id = serializers.IntegerField(min_value=0)
    before = serializers.IntegerField(min_value=0, max_value=2**62, help_text="The first offset that stays.")


class PurgeSerializer(serializers.Serializer[Any]):
    """What to purge: by default everything that is stored now."""

    queues = serializers.ListField(
        child=QueueBeforeSerializer(),
        required=False,
        min_length=1,
        max_length=MOST_QUEUES,
        help_text="Only these queues, up to these offsets: for example those of a dry run.",
    )

    def validate_queues(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse a queue that is given twice."""
        places = [(entry["broker"], entry["queue_id"]) for entry in entries]
        twice = sorted({f"{broker}/{queue}" for broker, queue in places if places.count((broker, queue)) > 1})
        if twice:
            raise serializers.ValidationError(f"Is given more than once: {', '.join(twice)}.")
        return entries
