"""JSON shapes of what the sampler measures: overview, groups, queues, history. Null means unknown, 0 means zero."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from console.fields import MomentField

GROUP_STATES: Final = ["unknown", "idle", "caught_up", "consuming", "growing", "stalled"]
CALLER_KINDS: Final = ["token", "user"]
GROUP_MODES: Final = ["clustering", "broadcast"]
RANGES: Final = ["15m", "1h", "6h", "24h", "7d"]


class MissingBrokerSerializer(serializers.Serializer[Any]):
    """A known broker whose answer lacks."""

    broker = serializers.CharField()
    reason = serializers.CharField()
    since = MomentField(allow_null=True)


class GroupLastKnownSerializer(serializers.Serializer[Any]):
    """The figures of a group as they were measured last, while they are unknown."""

    at = MomentField()
    lag = serializers.IntegerField(allow_null=True)
    time_lag_ms = serializers.IntegerField(allow_null=True)
    in_rate = serializers.FloatField(allow_null=True)
    out_rate = serializers.FloatField(allow_null=True)


class TopicLastKnownSerializer(serializers.Serializer[Any]):
    """The figures of a topic as they were measured last, while they are unknown."""

    at = MomentField()
    messages = serializers.IntegerField(allow_null=True)
    in_rate = serializers.FloatField(allow_null=True)
    last_stored_at = MomentField(allow_null=True)
    max_lag = serializers.IntegerField(allow_null=True)


class OverviewLastKnownSerializer(serializers.Serializer[Any]):
    """The key figures of a cluster as they were measured last, while they are unknown."""

    at = MomentField()
    total_lag = serializers.IntegerField(allow_null=True)
    oldest_unconsumed_ms = serializers.IntegerField(allow_null=True)
    dead_letters = serializers.IntegerField(allow_null=True)
    topics = serializers.IntegerField(allow_null=True)
    groups = serializers.IntegerField(allow_null=True)
    in_rate = serializers.FloatField(allow_null=True)
    out_rate = serializers.FloatField(allow_null=True)
    disk_used_ratio = serializers.FloatField(allow_null=True)


class BrokerSerializer(serializers.Serializer[Any]):
    """One broker of a cluster, as it answered last."""

    name = serializers.CharField()
    address = serializers.CharField()
    broker_id = serializers.IntegerField()
    version = serializers.CharField(allow_null=True)
    reachable = serializers.BooleanField()
    reason = serializers.CharField(allow_null=True)
    in_rate = serializers.FloatField(allow_null=True)
    out_rate = serializers.FloatField(allow_null=True)
    uptime_ms = serializers.IntegerField(allow_null=True)
    disk_used_ratio = serializers.FloatField(allow_null=True)
    commit_log_bytes = serializers.IntegerField(allow_null=True)


class LeaseConsumerSerializer(serializers.Serializer[Any]):
    """Who receives by lease over HTTP or WebSocket: a token or a user in person, at one address."""

    caller = serializers.CharField(help_text="Name of the token, or of the user.")
    user = serializers.CharField()
    kind = serializers.ChoiceField(CALLER_KINDS)
    address = serializers.CharField()
    since = MomentField()
    in_flight = serializers.IntegerField(help_text="Messages received and not settled.")
    last_receive_at = MomentField()


class GroupSummarySerializer(serializers.Serializer[Any]):
    """A consumer group in one line."""

    name = serializers.CharField()
    measured_at = MomentField(allow_null=True, help_text="When the oldest of its figures was read.")
    state = serializers.ChoiceField(GROUP_STATES)
    mode = serializers.ChoiceField(GROUP_MODES, allow_null=True)
    clients = serializers.IntegerField(allow_null=True, help_text="Native clients that are connected.")
    lease_consumers = LeaseConsumerSerializer(many=True, allow_null=True)
    topics = serializers.ListField(child=serializers.CharField())
    lag = serializers.IntegerField(allow_null=True)
    time_lag_ms = serializers.IntegerField(allow_null=True, help_text="Age of the oldest message not consumed.")
    in_rate = serializers.FloatField(allow_null=True, help_text="Messages a second into its topics.")
    out_rate = serializers.FloatField(allow_null=True, help_text="Messages a second that it consumes.")
    lag_per_second = serializers.FloatField(allow_null=True, help_text="Change of the lag over five minutes.")
    drain_eta_ms = serializers.IntegerField(allow_null=True)
    leases = serializers.IntegerField(allow_null=True, help_text="Messages handed out and not settled.")
    unknown_reason = serializers.CharField(allow_null=True)
    missing = MissingBrokerSerializer(many=True)
    last_known = GroupLastKnownSerializer(allow_null=True)


class GroupQueueSerializer(serializers.Serializer[Any]):
    """How far a group is in one queue."""

    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    client = serializers.CharField(allow_null=True)
    broker_offset = serializers.IntegerField(allow_null=True)
    group_offset = serializers.IntegerField(allow_null=True)
    lag = serializers.IntegerField(allow_null=True)
    time_lag_ms = serializers.IntegerField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True)


class GroupConfigSerializer(serializers.Serializer[Any]):
    """The settings of a group at its brokers."""

    consume_enabled = serializers.BooleanField()
    consume_broadcast_enabled = serializers.BooleanField()
    retry_queue_nums = serializers.IntegerField()
    retry_max_times = serializers.IntegerField()


class GroupSerializer(GroupSummarySerializer):
    """A consumer group, queue by queue."""

    at = MomentField()
    queues = GroupQueueSerializer(many=True)
    config = GroupConfigSerializer(allow_null=True)


class OverviewSerializer(serializers.Serializer[Any]):
    """The key figures of a cluster."""

    at = MomentField()
    in_rate = serializers.FloatField(allow_null=True)
    out_rate = serializers.FloatField(allow_null=True)
    total_lag = serializers.IntegerField(allow_null=True)
    lag_unknown_groups = serializers.IntegerField()
    oldest_unconsumed_ms = serializers.IntegerField(
        allow_null=True, help_text="Of all groups; null while one of those behind was not timed yet."
    )
    oldest_group = serializers.CharField(allow_null=True)
    groups_behind = serializers.IntegerField(allow_null=True)
    groups_timed = serializers.IntegerField(allow_null=True, help_text="How many of those behind were timed.")
    dead_letters = serializers.IntegerField(allow_null=True)
    dead_letter_groups = serializers.IntegerField(allow_null=True)
    disk_used_ratio = serializers.FloatField(allow_null=True)
    disk_days_to_full = serializers.FloatField(allow_null=True)
    uptime_ms = serializers.IntegerField(allow_null=True)
    brokers = BrokerSerializer(many=True)
    brokers_answering = serializers.IntegerField()
    topics = serializers.IntegerField(allow_null=True)
    groups = serializers.IntegerField(allow_null=True)
    worst_groups = GroupSummarySerializer(many=True)
    missing = MissingBrokerSerializer(many=True)
    unknown_reason = serializers.CharField(allow_null=True)
    name_server_reason = serializers.CharField(allow_null=True, help_text="Why no name server answers.")
    last_known = OverviewLastKnownSerializer(allow_null=True)


def _points() -> serializers.ListField:
    return serializers.ListField(child=serializers.FloatField(allow_null=True))


class _HistorySerializer(serializers.Serializer[Any]):
    step_ms = serializers.IntegerField()
    to = MomentField()

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        # "from" is a word of Python, so it cannot be declared like the others.
        return {"from": MomentField(), **super().get_fields()}


class OverviewSeriesSerializer(serializers.Serializer[Any]):
    """Values from `from` to `to`, one each step; null where nothing was measured."""

    in_rate = _points()
    out_rate = _points()
    total_lag = _points()
    oldest_unconsumed_ms = _points()
    disk_used_ratio = _points()


class OverviewHistorySerializer(_HistorySerializer):
    """How the key figures of a cluster went, and the lag of the five groups with most of it."""

    series = OverviewSeriesSerializer()
    group_lag = serializers.DictField(child=_points())


class LagSeriesSerializer(serializers.Serializer[Any]):
    """Values from `from` to `to`, one each step; null where nothing was measured."""

    lag = _points()
    in_rate = _points()
    out_rate = _points()


class LagHistorySerializer(_HistorySerializer):
    """How the lag of a group went."""

    series = LagSeriesSerializer()
