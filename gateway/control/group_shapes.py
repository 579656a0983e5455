"""JSON shapes of what is asked of a group, besides its lag (`console.lag.serializers`)."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from broker_core.client.admin.groups import is_system_group
from console.clusters.serializers import BrokerOutcomeSerializer
from console.fields import MomentField
from console.lag.serializers import GroupSerializer

PROTOCOLS: Final = ["native", "http_lease"]


class GroupChangedSerializer(GroupSerializer):
    """A consumer group after a change, and what each broker made of it."""

    brokers = BrokerOutcomeSerializer(many=True)


class GroupChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a group."""

    retry_max_times = serializers.IntegerField(min_value=0, max_value=1000, required=False)
    consume_enabled = serializers.BooleanField(required=False)
    consume_broadcast_enabled = serializers.BooleanField(required=False)


class GroupCreateSerializer(serializers.Serializer[Any]):
    """A group to create."""

    name = serializers.RegexField(r"^[A-Za-z0-9_-]{1,120}$")
    retry_max_times = serializers.IntegerField(min_value=0, max_value=1000, default=16)
    consume_enabled = serializers.BooleanField(default=True)
    consume_broadcast_enabled = serializers.BooleanField(default=True)

    def validate_name(self, name: str) -> str:
        """Refuse names that are the brokers' own."""
        if is_system_group(name):
            raise serializers.ValidationError(f"{name!r} is a name of the brokers' own.")
        return name


class GroupClientSerializer(serializers.Serializer[Any]):
    """A client of a group: a native one that is connected, or a caller that receives by lease over HTTP or WebSocket.

    What only one of the two has is null for the other.
    """

    client_id = serializers.CharField(help_text="Of a caller: name of the token, or of the user.")
    address = serializers.CharField()
    language = serializers.CharField(allow_null=True)
    version = serializers.CharField(allow_null=True)
    protocol = serializers.ChoiceField(PROTOCOLS)
    queues = serializers.IntegerField(
        allow_null=True, help_text="How many queues it reads; null where it says nothing."
    )
    user = serializers.CharField(allow_null=True, help_text="Whose token it is.")
    since = MomentField(allow_null=True)
    in_flight = serializers.IntegerField(allow_null=True, help_text="Messages received and not settled.")
    last_receive_at = MomentField(allow_null=True)


class GroupClientsSerializer(serializers.Serializer[Any]):
    """All clients of a group."""

    items = GroupClientSerializer(many=True)


class GroupSubscriptionSerializer(serializers.Serializer[Any]):
    """What a group wants of a topic."""

    topic = serializers.CharField()
    expression = serializers.CharField()
    type = serializers.CharField()


class GroupSubscriptionsSerializer(serializers.Serializer[Any]):
    """All subscriptions of a group."""

    items = GroupSubscriptionSerializer(many=True)
