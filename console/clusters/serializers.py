"""JSON shapes of the clusters that the console knows."""

from __future__ import annotations

import re
from typing import Any, Final

from rest_framework import serializers

from console.clusters.models import ClusterKind

_ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9-]{0,62}$"


def _check_address(value: str) -> None:
    found = _ADDRESS.fullmatch(value)
    if found is None or not 1 <= int(found[2]) <= 65535:
        raise serializers.ValidationError(f"{value!r} is no host:port")


class NameServersField(serializers.ListField):
    """One to sixteen ``host:port``."""

    child = serializers.CharField(max_length=260, validators=[_check_address])
    min_length = 1
    max_length = 16


class ClusterSerializer(serializers.Serializer[Any]):
    """A cluster, and how it answered last."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(ClusterKind.choices)
    name_servers = serializers.ListField(child=serializers.CharField())
    brokers = serializers.IntegerField(allow_null=True)
    version = serializers.CharField(allow_null=True)
    reachable = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True)
    etag = serializers.CharField(help_text="For If-Match.")


class ClusterCreateSerializer(serializers.Serializer[Any]):
    """A cluster to add."""

    name = serializers.RegexField(NAME_PATTERN)
    name_servers = NameServersField(min_length=1, max_length=16)


class ClusterChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a cluster."""

    name_servers = NameServersField(min_length=1, max_length=16)


class BrokerOutcomeSerializer(serializers.Serializer[Any]):
    """Whether one broker took a change."""

    broker = serializers.CharField()
    done = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True, help_text="Why it did not.")


class PartlyDeletedSerializer(serializers.Serializer[Any]):
    """What was asked to be deleted, and what each broker made of it: not all did it."""

    name = serializers.CharField()
    brokers = BrokerOutcomeSerializer(many=True)
