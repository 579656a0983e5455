"""JSON shapes of a topic's settings broker by broker, and what a change of them does.

RocketMQ has queue counts and a permission for each broker of a topic; its protocol knows none for a single queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from rest_framework import serializers

from broker_core.client.admin.topics import Topic, TopicChange
from broker_core.protocol.bodies import TopicConfig
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from console.clusters.outcomes import BrokerOutcome
from console.moments import Moment
from gateway.control.topic_shapes import MAX_QUEUES, PERMISSIONS, ShownPermission, TopicSettings, settings_of

MAX_BROKERS: Final = 256
PERMISSION_BITS: Final[Mapping[str, int]] = {"rw": PERM_READ | PERM_WRITE, "r": PERM_READ, "w": PERM_WRITE}
QueueEffect = Literal[
    "sends_stop", "sends_start", "delivery_stops", "delivery_starts", "queues_hidden", "queues_added", "queues_unread"
]


class BrokerQueues(Struct, frozen=True, kw_only=True):
    """The settings of a topic on one broker."""

    broker: str
    read_queues: int
    write_queues: int
    permission: ShownPermission


class TopicQueue(Struct, frozen=True, kw_only=True):
    """The readable range of a queue: from `min_offset` (inclusive) to `max_offset` (exclusive)."""

    broker: str
    queue_id: int
    min_offset: int | None = None
    max_offset: int | None = None
    count: int | None = None
    last_stored_at: Moment | None = None
    unknown_reason: str | None = None


class TopicQueues(Struct, frozen=True, kw_only=True):
    """All queues of a topic, and its settings on each broker."""

    items: list[TopicQueue]
    brokers: list[BrokerQueues]


class QueueChange(Struct, frozen=True, kw_only=True):
    """The settings of a topic on one broker before and after a change."""

    before: BrokerQueues
    after: BrokerQueues
    effects: Annotated[
        list[QueueEffect],
        Meta(
            description="queues_hidden: messages in queues above the new read count are kept, and nobody consumes "
            "them. queues_unread: messages are written to queues that nobody reads."
        ),
    ]


class QueueChanges(Struct, frozen=True, kw_only=True):
    """What a change does on each broker, and its outcomes; a dry run has none."""

    items: list[QueueChange]
    brokers: list[BrokerOutcome]


class BrokerQueuesSerializer(serializers.Serializer[Any]):
    """The settings of a topic to change on one broker."""

    broker = serializers.CharField(max_length=127)
    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    permission = serializers.ChoiceField(PERMISSIONS, required=False)


class QueueChangeSerializer(serializers.Serializer[Any]):
    """A change of a topic broker by broker."""

    brokers = BrokerQueuesSerializer(many=True, allow_empty=False)

    def validate_brokers(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse too many brokers, brokers that are named twice, and entries that change nothing."""
        if len(entries) > MAX_BROKERS:
            raise serializers.ValidationError(f"Has {len(entries)} brokers; at most {MAX_BROKERS} are changed at once.")
        names = [entry["broker"] for entry in entries]
        for entry in entries:
            if names.count(entry["broker"]) > 1:
                raise serializers.ValidationError(f"The broker {entry['broker']!r} is named more than once.")
            if len(entry) == 1:
                raise serializers.ValidationError(
                    f"Nothing is to change on {entry['broker']!r}; give read_queues, write_queues or permission."
                )
        return entries


def settings_on(topic: Topic, broker: str) -> TopicSettings:
    """Return the settings of a topic on one of its brokers."""
    return settings_of(replace(topic, configs={broker: topic.configs[broker]}))


def queues_on(topic: Topic) -> list[BrokerQueues]:
    """Return the settings of a topic on each of its brokers, by name; the ETag of its queues is based on them."""
    return [_shown(broker, settings_on(topic, broker)) for broker in topic.brokers]


def planned(topic: Topic, changes: Mapping[str, TopicChange]) -> list[QueueChange]:
    """Return what changes do on each broker, by name."""
    after = replace(
        topic, configs={broker: _changed(config, changes.get(broker)) for broker, config in topic.configs.items()}
    )
    pairs = zip(queues_on(topic), queues_on(after), strict=True)
    return [
        QueueChange(before=old, after=new, effects=list(_effects(old, new)))
        for old, new in pairs
        if old.broker in changes
    ]


def _shown(broker: str, settings: TopicSettings) -> BrokerQueues:
    return BrokerQueues(
        broker=broker,
        read_queues=settings.read_queues,
        write_queues=settings.write_queues,
        permission=settings.permission,
    )


def _changed(config: TopicConfig, change: TopicChange | None) -> TopicConfig:
    if change is None:
        return config
    wanted = change.request(config)
    return replace(
        config, read_queue_nums=wanted.read_queue_nums, write_queue_nums=wanted.write_queue_nums, perm=wanted.perm
    )


def _effects(old: BrokerQueues, new: BrokerQueues) -> Iterator[QueueEffect]:
    if ("w" in old.permission) != ("w" in new.permission):
        yield "sends_start" if "w" in new.permission else "sends_stop"
    if ("r" in old.permission) != ("r" in new.permission):
        yield "delivery_starts" if "r" in new.permission else "delivery_stops"
    if new.read_queues < old.read_queues:
        yield "queues_hidden"
    if new.write_queues > old.write_queues:
        yield "queues_added"
    if new.write_queues > new.read_queues:
        yield "queues_unread"
