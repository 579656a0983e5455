"""JSON shapes of consumer groups; those of their lag are in `console.lag.shapes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta, Struct
from rest_framework import serializers

from broker_core.client.admin.groups import is_system_group
from broker_core.protocol.topics import PLAIN_GROUP_NAME
from console.clusters.outcomes import BrokerOutcome
from console.lag.shapes import GroupState, MissingBroker
from console.moments import Moment

Protocol = Literal["native", "http_lease"]
GROUP_NAME: Final = f"^{PLAIN_GROUP_NAME.pattern}$"
PROTOCOLS: Final = list(get_args(Protocol))


def refuse_reserved(name: str) -> str:
    """Return the name; raise ValidationError if brokers reserve it."""
    if is_system_group(name):
        raise serializers.ValidationError(f"The name {name!r} is reserved by brokers.")
    return name


class GroupChanged(GroupState, kw_only=True):
    """A consumer group after a change, with the outcome on each broker."""

    brokers: Sequence[BrokerOutcome]


class GroupChangeSerializer(serializers.Serializer[Any]):
    """The settings of a group to change."""

    retry_max_times = serializers.IntegerField(min_value=0, max_value=1000, required=False)
    consume_enabled = serializers.BooleanField(required=False)
    consume_broadcast_enabled = serializers.BooleanField(required=False)


class GroupCreateSerializer(serializers.Serializer[Any]):
    """A group to create."""

    name = serializers.RegexField(GROUP_NAME)
    retry_max_times = serializers.IntegerField(min_value=0, max_value=1000, default=16)
    consume_enabled = serializers.BooleanField(default=True)
    consume_broadcast_enabled = serializers.BooleanField(default=True)

    def validate_name(self, name: str) -> str:
        """Refuse names that brokers reserve."""
        return refuse_reserved(name)


class GroupClient(Struct, frozen=True, kw_only=True):
    """A client of a group: a connected native client, or a caller that receives by lease over HTTP or WebSocket.

    Fields that only one of the two has are null for the other.
    """

    client_id: Annotated[str, Meta(description="For a caller the name of the token or of the user.")]
    address: str
    language: str | None = None
    version: str | None = None
    protocol: Protocol
    queues: Annotated[int | None, Meta(description="How many queues it reads; null if unknown.")] = None
    user: Annotated[str | None, Meta(description="The user of the token.")] = None
    since: Moment | None = None
    in_flight: Annotated[int | None, Meta(description="Messages received and not settled.")] = None
    last_receive_at: Moment | None = None


class GroupClients(Struct, frozen=True, kw_only=True):
    """All clients of a group that are known."""

    items: list[GroupClient]
    missing: Annotated[list[MissingBroker], Meta(description="Brokers that may have more clients and did not answer.")]
    callers_known: Annotated[
        bool, Meta(description="Whether who receives by lease is known; it is not while Redis does not answer.")
    ]
