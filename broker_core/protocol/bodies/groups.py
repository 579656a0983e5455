"""Bodies about groups: settings, members, stored offsets."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.heartbeat import ConsumeFromWhere, ConsumeType, MessageModel, SubscriptionData
from broker_core.protocol.bodies.topics import DataVersion


@dataclass(frozen=True, slots=True)
class SubscriptionGroupConfig:
    """A consumer group's settings (200)."""

    group_name: str
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_broadcast_enable: bool = True
    retry_queue_nums: int = 1
    retry_max_times: int = 16
    broker_id: int = 0
    which_broker_when_consume_slowly: int = 1
    notify_consumer_ids_changed_enable: bool = True


@dataclass(frozen=True, slots=True)
class SubscriptionGroupWrapper:
    """All group settings (201)."""

    data_version: DataVersion = field(default_factory=DataVersion)
    subscription_group_table: dict[str, SubscriptionGroupConfig] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupList:
    """Group names (300)."""

    group_list: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Connection:
    """One member of a group. `client_addr` is ``ip:port``, `version` as in headers."""

    client_id: str
    client_addr: str
    language: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class ConsumerConnection:
    """A consumer group's members and subscriptions (203)."""

    connection_set: list[Connection] = field(default_factory=list)
    subscription_table: dict[str, SubscriptionData] = field(default_factory=dict)
    consume_type: ConsumeType | None = None
    message_model: MessageModel | None = None
    consume_from_where: ConsumeFromWhere | None = None


@dataclass(frozen=True, slots=True)
class ProducerConnection:
    """A producer group's members (204)."""

    connection_set: list[Connection] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ProducerInfo:
    """One producer of the table. `remote_ip` is ``/ip:port``, times are in ms."""

    client_id: str
    remote_ip: str = field(default="", metadata={"wire": "remoteIP"})
    language: str | None = None
    version: int = 0
    last_update_timestamp: int = 0


@dataclass(frozen=True, slots=True)
class ProducerTableInfo:
    """All producers by group (328)."""

    data: dict[str, list[ProducerInfo]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SendingProducer:
    """What one connection sent to a topic in one producer group (30106). `address` is ``ip:port``, times are in ms.

    `client_id` is empty for a client that sent no heartbeat; `rate` is in messages a second over the last minute.
    """

    group: str
    client_id: str
    address: str
    language: str | None = None
    version: int = 0
    messages: int = 0
    last_send_at: int = 0
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class TopicProducersBody:
    """The producers of a topic (30106): all that sent anything from `since` on, and their messages from then on."""

    since: int
    producers: list[SendingProducer] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ConsumerOffsetSerializeWrapper:
    """Stored queue offsets (43): ``topic@group`` → queue id → offset."""

    offset_table: dict[str, dict[int, int]] = field(default_factory=dict)
    data_version: DataVersion | None = None  # 5.x


@dataclass(frozen=True, slots=True)
class DelayOffsetSerializeWrapper:
    """The progress of each delay level (45): level → offset."""

    offset_table: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueryCorrectionOffsetBody:
    """Corrected offsets (308): queue id → offset."""

    correction_offsets: dict[int, int] = field(default_factory=dict)
