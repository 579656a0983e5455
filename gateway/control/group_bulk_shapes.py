"""JSON shapes of a change of many groups, and of what became of each."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from rest_framework import serializers

from gateway.control.bulk import BulkItem, NamesField


class BulkGroup(BulkItem, frozen=True, kw_only=True):
    """One group of the request: what the change hits, as measured last, and what became of it."""

    consume_enabled: Annotated[
        bool | None, Meta(description="Null if unknown, refused, or different on its brokers.")
    ] = None
    clients: Annotated[int | None, Meta(description="Native clients that are connected; null if unknown.")] = None
    lease_consumers: Annotated[int | None, Meta(description="Callers that receive by lease; null if unknown.")] = None
    leases: Annotated[int | None, Meta(description="Messages delivered and not settled; null if unknown.")] = None
    lag: Annotated[int | None, Meta(description="Null if unknown.")] = None
    topics: list[str] = []


class BulkGroups(Struct, frozen=True):
    """The groups of the request, each once, in its order; the ETag of a dry run is the one for the change."""

    items: list[BulkGroup]


class GroupNamesSerializer(serializers.Serializer[Any]):
    """The groups to change."""

    groups = NamesField()
