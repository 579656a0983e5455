"""Bodies by which clients describe themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ConsumeType(StrEnum):
    """Whether the client pulls messages or has them pushed to a handler."""

    CONSUME_ACTIVELY = "CONSUME_ACTIVELY"
    CONSUME_PASSIVELY = "CONSUME_PASSIVELY"
    CONSUME_POP = "CONSUME_POP"  # 5.x


class MessageModel(StrEnum):
    """Whether every member gets each message, or the members share the messages."""

    BROADCASTING = "BROADCASTING"
    CLUSTERING = "CLUSTERING"


class ConsumeFromWhere(StrEnum):
    """Where a group without a stored offset starts."""

    CONSUME_FROM_LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    CONSUME_FROM_MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    CONSUME_FROM_MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"
    CONSUME_FROM_FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    CONSUME_FROM_TIMESTAMP = "CONSUME_FROM_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class SubscriptionData:
    """What a group subscribes to in a topic. `sub_version` is the client's clock in ms, 0 if it sent none."""

    topic: str = ""
    sub_string: str = "*"
    expression_type: str = "TAG"
    tags_set: list[str] = field(default_factory=list)
    code_set: list[int] = field(default_factory=list)
    sub_version: int = 0
    class_filter_mode: bool = False


@dataclass(frozen=True, slots=True)
class ProducerData:
    """A producer group this client belongs to."""

    group_name: str


@dataclass(frozen=True, slots=True)
class ConsumerData:
    """A consumer group this client belongs to."""

    group_name: str
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: ConsumeFromWhere | None = None
    subscription_data_set: list[SubscriptionData] = field(default_factory=list)
    unit_mode: bool = False


@dataclass(frozen=True, slots=True)
class HeartbeatData:
    """All roles of one client (34)."""

    client_id: str = field(default="", metadata={"wire": "clientID"})
    producer_data_set: list[ProducerData] = field(default_factory=list)
    consumer_data_set: list[ConsumerData] = field(default_factory=list)
    heartbeat_fingerprint: int | None = None  # 5.x
    without_sub: bool | None = field(default=None, metadata={"wire": "withoutSub"})  # 5.x


@dataclass(frozen=True, slots=True)
class CheckClientRequestBody:
    """A subscription to check (46)."""

    client_id: str = ""
    group: str = ""
    subscription_data: SubscriptionData = field(default_factory=SubscriptionData)


@dataclass(frozen=True, slots=True)
class GetConsumerListByGroupResponseBody:
    """The client ids of a group's members (38)."""

    consumer_id_list: list[str] = field(default_factory=list)
