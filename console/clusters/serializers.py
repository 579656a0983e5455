"""JSON shapes of the clusters that the console knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from rest_framework import serializers

from console.clusters.models import ClusterKind

_ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9-]{0,62}$"


def _check_address(value: str) -> None:
    found = _ADDRESS.fullmatch(value)
    if found is None or not 1 <= int(found[2]) <= 65535:
        raise serializers.ValidationError(f"{value!r} does not have the form host:port")


class NameServersField(serializers.ListField):
    """One to sixteen ``host:port``."""

    child = serializers.CharField(max_length=260, validators=[_check_address])
    min_length = 1
    max_length = 16


class ClusterState(Struct, frozen=True, kw_only=True):
    """A cluster, and its last answer."""

    name: str
    kind: ClusterKind
    name_servers: Sequence[str]
    brokers: int | None
    version: str | None
    reachable: bool
    reason: str | None
    etag: Annotated[str, Meta(description="For If-Match.")]


class ClusterCreateSerializer(serializers.Serializer[Any]):
    """A cluster to add."""

    name = serializers.RegexField(NAME_PATTERN)
    name_servers = NameServersField(min_length=1, max_length=16)


class ClusterChangeSerializer(serializers.Serializer[Any]):
    """The changeable fields of a cluster."""

    name_servers = NameServersField(min_length=1, max_length=16)
