"""JSON shapes of a change of many groups, and of what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from rest_framework import serializers

from console.clusters.outcomes import BrokerOutcome
from gateway.control.topic_bulk_shapes import BulkWord

MAX_GROUPS: Final = 200


class BulkGroup(Struct, frozen=True, kw_only=True):
    """One group of the request: what the change hits, as measured last, and what became of it."""

    name: str
    outcome: Annotated[
        BulkWord, Meta(description="refused: not tried, for the reason given. partial: not made on all its brokers.")
    ]
    reason: str | None = None
    consume_enabled: Annotated[bool | None, Meta(description="Null if unknown, or refused.")] = None
    clients: Annotated[int | None, Meta(description="Native clients that are connected; null if unknown.")] = None
    lease_consumers: Annotated[int | None, Meta(description="Callers that receive by lease; null if unknown.")] = None
    leases: Annotated[int | None, Meta(description="Messages delivered and not settled; null if unknown.")] = None
    lag: Annotated[int | None, Meta(description="Null if unknown.")] = None
    topics: list[str] = []
    brokers: Sequence[BrokerOutcome] = []


class BulkGroups(Struct, frozen=True):
    """The groups of the request, each once, in its order; the ETag of a dry run is the one for the change."""

    items: list[BulkGroup]


class GroupNamesSerializer(serializers.Serializer[Any]):
    """The groups to change."""

    groups = serializers.ListField(
        child=serializers.CharField(max_length=255), min_length=1, max_length=MAX_GROUPS, help_text="Each once."
    )

    def validate_groups(self, names: list[str]) -> list[str]:
        """Refuse names that are given twice."""
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise serializers.ValidationError(f"Is given more than once: {', '.join(twice)}.")
        return names
