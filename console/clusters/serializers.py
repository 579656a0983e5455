"""JSON shapes of the clusters that the console knows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from rest_framework import serializers

from console.brokers.abilities import Ability
from console.clusters.accounts import AccessKeyField, SecretKeyField
from console.clusters.models import ClusterKind
from console.clusters.same_brokers import SameBrokers
from console.clusters.tls import ShownTls, TlsSerializer

_ADDRESS: Final = re.compile(r"(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_MAX_MAPPED: Final = 64
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


class AddressMapField(serializers.DictField):
    """Addresses to connect to, by the ``host:port`` that a broker announces; at most sixty-four."""

    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.CharField(max_length=260, validators=[_check_address]), **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the map; refuse one that is too large or has a wrong address."""
        if len(data) > _MAX_MAPPED:
            raise serializers.ValidationError(f"at most {_MAX_MAPPED} addresses; {len(data)} are given")
        for announced in data:
            _check_address(announced)
        return super().to_internal_value(data)


class ClusterState(Struct, frozen=True, kw_only=True):
    """A cluster, and its last answer."""

    name: str
    kind: ClusterKind
    name_servers: Sequence[str]
    address_map: Annotated[
        dict[str, str], Meta(description="Where to connect instead of an announced address that cannot be reached.")
    ]
    access_key: Annotated[
        str | None, Meta(description="The account with which Gantry signs its requests; its secret is never shown.")
    ]
    tls: Annotated[ShownTls | None, Meta(description="How to connect with TLS; null: in plaintext.")]
    brokers: int | None
    brokers_answering: Annotated[int | None, Meta(description="Of `brokers`; null where that is.")]
    version: str | None
    reachable: Annotated[
        bool | None,
        Meta(
            description="Whether one of its brokers answers. Null: nobody asked in the last seconds; `reason` says why."
        ),
    ]
    reason: Annotated[
        str | None,
        Meta(description="Why no broker answers, or, while one does, why no name server does, or else another broker."),
    ]
    same_brokers: Annotated[
        Sequence[SameBrokers], Meta(description="Other clusters of the console that have some of its brokers.")
    ]
    etag: Annotated[str, Meta(description="For If-Match.")]


class ClusterDetail(ClusterState, frozen=True, kw_only=True):
    """A cluster with its abilities."""

    capabilities: Annotated[Sequence[Ability], Meta(description="What its brokers said that they can do.")]


class ClusterCreateSerializer(serializers.Serializer[Any]):
    """A cluster to add."""

    name = serializers.RegexField(NAME_PATTERN)
    name_servers = NameServersField(min_length=1, max_length=16)
    address_map = AddressMapField(required=False)
    access_key = AccessKeyField(required=False, default="")
    secret_key = SecretKeyField(required=False, default="")
    tls = TlsSerializer(required=False, allow_null=True)


class ClusterChangeSerializer(serializers.Serializer[Any]):
    """The changeable fields of a cluster; those left out stay."""

    name_servers = NameServersField(min_length=1, max_length=16, required=False)
    address_map = AddressMapField(required=False)
    access_key = AccessKeyField(required=False)
    secret_key = SecretKeyField(required=False)
    tls = TlsSerializer(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse a change of nothing."""
        if not attrs:
            raise serializers.ValidationError("Nothing to change: give name_servers, address_map, an account or tls.")
        return attrs


class ProbeSerializer(serializers.Serializer[Any]):
    """A connection to try."""

    name_servers = NameServersField(min_length=1, max_length=16)
    address_map = AddressMapField(required=False)
    access_key = AccessKeyField(required=False, default="")
    secret_key = SecretKeyField(required=False, default="")
    tls = TlsSerializer(required=False, allow_null=True)
    cluster = serializers.RegexField(
        NAME_PATTERN,
        required=False,
        help_text="A cluster of the console: its secret key and that of its client certificate are used if not given.",
    )
