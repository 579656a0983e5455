"""Bodies about groups: settings, members, stored offsets."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.heartbeat import ConsumeFromWhere, ConsumeType, MessageModel, SubscriptionData
from broker_core.protocol.bodies.topics import DataVersion


@dataclass(frozen=True, slots=True)
class ExponentialRetryPolicy:
    """Delays between retries that grow by a factor (5.x), in ms."""

    initial: int = 5_000
    max: int = 7_200_000
    multiplier: int = 2


@dataclass(frozen=True, slots=True)
class CustomizedRetryPolicy:
    """Delays between retries, one by one (5.x), in ms."""

    next: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GroupRetryPolicy:
    """A group's own delays between retries (5.x); without any of them the broker's delay levels apply."""

    type: str = "CUSTOMIZED"
    exponential_retry_policy: ExponentialRetryPolicy | None = None
    customized_retry_policy: CustomizedRetryPolicy | None = None

    @property
    def has_delays(self) -> bool:
        """Whether it says anything."""
        return self.exponential_retry_policy is not None or self.customized_retry_policy is not None


@dataclass(frozen=True, slots=True)
class SimpleSubscriptionData:
    """What a group is said to subscribe to (5.x)."""

    topic: str = ""
    expression_type: str | None = None
    expression: str | None = None
    version: int = 0


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
    consume_message_orderly: bool | None = None  # 5.x, like all that follow
    group_retry_policy: GroupRetryPolicy | None = None
    group_sys_flag: int | None = None
    consume_timeout_minute: int | None = None
    subscription_data_set: list[SimpleSubscriptionData] | None = None
    attributes: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionGroupList:
    """Settings of several groups (225)."""

    group_config_list: list[SubscriptionGroupConfig] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class QuerySubscriptionResponseBody:
    """What a group subscribes to in a topic (345); without a subscription it has none there."""

    group: str
    topic: str
    subscription_data: SubscriptionData | None = None


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
