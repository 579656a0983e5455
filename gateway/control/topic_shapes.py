"""JSON shapes of topics."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from broker_core.client.admin.topics import TopicKind, kind_of
from console.clusters.serializers import BrokerOutcomeSerializer
from console.fields import MomentField
from console.lag.serializers import GroupSummarySerializer, MissingBrokerSerializer, TopicLastKnownSerializer
from console.paging import page_of

KINDS: Final = ["normal", "retry", "dlq", "system"]
PERMISSIONS: Final = ["rw", "r", "w"]
SHOWN_PERMISSIONS: Final = [*PERMISSIONS, "none"]
MAX_QUEUES: Final = 1024


class TopicSummarySerializer(serializers.Serializer[Any]):
    """A topic in one line."""

    name = serializers.CharField()
    kind = serializers.ChoiceField(KINDS)
    total_read_queues = serializers.IntegerField(help_text="On all brokers together.")
    total_write_queues = serializers.IntegerField(help_text="On all brokers together.")
    read_queues = serializers.IntegerField(help_text="On each broker.")
    write_queues = serializers.IntegerField(help_text="On each broker.")
    permission = serializers.ChoiceField(SHOWN_PERMISSIONS)
    measured_at = MomentField(allow_null=True, help_text="When its figures were read.")
    messages = serializers.IntegerField(allow_null=True)
    in_rate = serializers.FloatField(allow_null=True)
    last_stored_at = MomentField(allow_null=True)
    groups = serializers.IntegerField(allow_null=True)
    max_lag = serializers.IntegerField(allow_null=True)
    missing = MissingBrokerSerializer(many=True)
    last_known = TopicLastKnownSerializer(allow_null=True)


class TopicCountsSerializer(serializers.Serializer[Any]):
    """How many topics of each kind the search found."""

    normal = serializers.IntegerField()
    retry = serializers.IntegerField()
    dlq = serializers.IntegerField()
    system = serializers.IntegerField()


class TopicPageSerializer(page_of(TopicSummarySerializer)):  # type: ignore[misc]
    """A page of topics."""

    counts = TopicCountsSerializer()


class TopicSerializer(TopicSummarySerializer):
    """A topic."""

    order = serializers.BooleanField()
    brokers = serializers.ListField(child=serializers.CharField())


class TopicChangedSerializer(TopicSummarySerializer):
    """A topic after a change, and what each broker made of it."""

    order = serializers.BooleanField()
    brokers = BrokerOutcomeSerializer(many=True)


class TopicChangeSerializer(serializers.Serializer[Any]):
    """What can be changed of a topic."""

    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    permission = serializers.ChoiceField(PERMISSIONS, required=False)


class TopicCreateSerializer(serializers.Serializer[Any]):
    """A topic to create."""

    name = serializers.RegexField(r"^[A-Za-z0-9_-]{1,127}$")
    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, default=4)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, default=4)
    permission = serializers.ChoiceField(PERMISSIONS, default="rw")

    def validate_name(self, name: str) -> str:
        """Refuse names that are the brokers' own: nobody could consume or delete such a topic."""
        if kind_of(name) is TopicKind.SYSTEM:
            raise serializers.ValidationError(f"{name!r} is a name of the brokers' own.")
        return name


class TopicImpactSerializer(serializers.Serializer[Any]):
    """What goes with a topic that is deleted."""

    groups = serializers.ListField(child=serializers.CharField())
    messages = serializers.IntegerField()


class TopicQueueSerializer(serializers.Serializer[Any]):
    """The readable range of a queue: from `min_offset` up to, not with, `max_offset`."""

    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    min_offset = serializers.IntegerField(allow_null=True)
    max_offset = serializers.IntegerField(allow_null=True)
    count = serializers.IntegerField(allow_null=True)
    last_stored_at = MomentField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True)


class TopicQueuesSerializer(serializers.Serializer[Any]):
    """All queues of a topic."""

    items = TopicQueueSerializer(many=True)


class TopicGroupsSerializer(serializers.Serializer[Any]):
    """All groups of a topic."""

    items = GroupSummarySerializer(many=True)


class TopicProducerSerializer(serializers.Serializer[Any]):
    """A producer that is connected."""

    group = serializers.CharField()
    client_id = serializers.CharField()
    address = serializers.CharField()
    language = serializers.CharField(allow_null=True)
    version = serializers.CharField()


class TopicProducersSerializer(serializers.Serializer[Any]):
    """All producers of a topic."""

    items = TopicProducerSerializer(many=True)
