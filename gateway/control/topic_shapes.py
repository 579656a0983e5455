"""JSON shapes of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, get_args

from msgspec import Meta, Struct
from msgspec.structs import asdict
from rest_framework import serializers

from broker_core.client.admin.topics import Topic, TopicKind, kind_of
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from broker_core.protocol.topic_attributes import MESSAGE_TYPES, MessageType
from broker_core.protocol.topics import PLAIN_TOPIC_NAME
from console.clusters.outcomes import BrokerOutcome
from console.lag.shapes import GroupSummary, TopicState

Permission = Literal["rw", "r", "w"]
ShownPermission = Literal["rw", "r", "w", "none"]
MessageTypeName = Literal["normal", "fifo", "delay", "transaction", "mixed", "unspecified"]
MESSAGE_TYPE_NAMES: Final[tuple[MessageTypeName, ...]] = get_args(MessageTypeName)
_TYPE_NAMES: Final[dict[MessageType, MessageTypeName]] = dict(zip(MESSAGE_TYPES, MESSAGE_TYPE_NAMES, strict=True))
TOPIC_NAME: Final = f"^{PLAIN_TOPIC_NAME.pattern}$"
KINDS: Final = [kind.value for kind in TopicKind]
PERMISSIONS: Final = list(get_args(Permission))
SHOWN_PERMISSIONS: Final = list(get_args(ShownPermission))
MAX_QUEUES: Final = 1024
_PERMISSION_NAMES: Final[dict[int, ShownPermission]] = {
    PERM_READ | PERM_WRITE: "rw",
    PERM_READ: "r",
    PERM_WRITE: "w",
    0: "none",
}


class TopicSettings(Struct, frozen=True, kw_only=True):
    """The settings of a topic; its ETag is based on them."""

    name: str
    kind: TopicKind
    read_queues: int
    write_queues: int
    permission: ShownPermission


class TopicSummary(TopicState, kw_only=True):
    """A topic in one line."""

    kind: TopicKind
    total_read_queues: Annotated[int, Meta(description="On all brokers together.")]
    total_write_queues: Annotated[int, Meta(description="On all brokers together.")]
    read_queues: Annotated[int, Meta(description="On each broker.")]
    write_queues: Annotated[int, Meta(description="On each broker.")]
    permission: ShownPermission
    message_type: Annotated[
        MessageTypeName | None,
        Meta(description="As declared; null if no broker tells one, as before RocketMQ 5, or brokers disagree."),
    ]


class TopicCounts(Struct, frozen=True):
    """How many topics of each kind the search found."""

    normal: int
    retry: int
    dlq: int
    system: int


class TopicPage(Struct, frozen=True, kw_only=True):
    """A page of topics."""

    items: list[TopicSummary]
    next_cursor: str | None
    prev_cursor: str | None
    total: int | None
    counts: TopicCounts


class TopicDetail(TopicSummary, kw_only=True):
    """A topic."""

    order: bool
    brokers: list[str]


class TopicChanged(TopicSummary, kw_only=True):
    """A topic after a change, with the outcome on each broker."""

    order: bool
    brokers: Sequence[BrokerOutcome]


class TopicChangeSerializer(serializers.Serializer[Any]):
    """The settings of a topic to change."""

    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, required=False)
    permission = serializers.ChoiceField(PERMISSIONS, required=False)


class TopicCreateSerializer(serializers.Serializer[Any]):
    """A topic to create."""

    name = serializers.RegexField(TOPIC_NAME)
    read_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, default=4)
    write_queues = serializers.IntegerField(min_value=1, max_value=MAX_QUEUES, default=4)
    permission = serializers.ChoiceField(PERMISSIONS, default="rw")
    message_type = serializers.ChoiceField(
        MESSAGE_TYPE_NAMES,
        required=False,
        help_text="Declared and shown, not enforced. Brokers before RocketMQ 5 cannot keep one and refuse it.",
    )

    def validate_name(self, name: str) -> str:
        """Refuse names that brokers reserve: such a topic could be neither consumed nor deleted."""
        if kind_of(name) is TopicKind.SYSTEM:
            raise serializers.ValidationError(f"The name {name!r} is reserved by brokers.")
        return name


class TopicImpact(Struct, frozen=True, kw_only=True):
    """What the deletion of a topic removes."""

    groups: Annotated[list[str], Meta(description="Consumer groups that the caller may see.")]
    hidden_groups: Annotated[int, Meta(description="Others, which the caller may not see.")]
    messages: Annotated[int | None, Meta(description="Null if a broker that may have some does not answer.")]
    scheduled: Annotated[
        int | None,
        Meta(description="Messages that wait for their delivery time, and are dropped when it comes; null if unknown."),
    ]
    transactions: Annotated[
        int | None,
        Meta(description="Open transactions, which cannot be committed while there is no such topic; null if unknown."),
    ]


class TopicGroups(Struct, frozen=True):
    """All groups of a topic."""

    items: list[GroupSummary]


def settings_of(topic: Topic) -> TopicSettings:
    """Return the settings of a topic."""
    return TopicSettings(
        name=topic.name,
        kind=topic.kind,
        read_queues=topic.read_queues,
        write_queues=topic.write_queues,
        permission=_PERMISSION_NAMES[topic.perm & (PERM_READ | PERM_WRITE)],
    )


def summary_of(topic: Topic, figures: TopicState) -> TopicSummary:
    """Return the summary of a topic."""
    configs = topic.configs.values()
    return TopicSummary(
        **{**asdict(figures), **asdict(settings_of(topic))},
        total_read_queues=sum(config.read_queue_nums for config in configs),
        total_write_queues=sum(config.write_queue_nums for config in configs),
        message_type=shown_type(topic),
    )


def wire_type(name: str) -> MessageType:
    """Return the wire's word for a message type of the API."""
    return next(each for each in MESSAGE_TYPES if each.lower() == name)


def shown_type(topic: Topic) -> MessageTypeName | None:
    """Return the message type that a topic declares; None if that is not known."""
    told = topic.message_type
    return None if told is None else _TYPE_NAMES[told]
