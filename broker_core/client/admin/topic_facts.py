"""What is known of a topic: its owner, its settings on each broker, the contents of its queues, and a change of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from broker_core.client.admin.replica_reads import FromSlave
from broker_core.client.admin.requests import BrokerAddress
from broker_core.client.errors import NameIllegal
from broker_core.errors import GantryError
from broker_core.protocol.bodies.groups import ProducerInfo
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import TopicOffset
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.protocol.topic_attributes import MessageType, message_type_of
from broker_core.protocol.topics import (
    MAX_TOPIC_NAME,
    NAME,
    SYSTEM_PREFIX,
    is_dead_letter_topic,
    is_retry_topic,
    is_system_topic,
    reply_topic,
)


class TopicKind(StrEnum):
    """The owner of a topic."""

    NORMAL = "normal"
    RETRY = "retry"
    DEAD_LETTER = "dlq"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with its settings on each of its brokers."""

    name: str
    kind: TopicKind
    configs: dict[str, TopicConfig]
    """Broker name → settings there."""

    @property
    def brokers(self) -> tuple[str, ...]:
        """Names of the brokers that have the topic."""
        return tuple(sorted(self.configs))

    @property
    def read_queues(self) -> int:
        """Read queues on one broker; the largest number if brokers differ."""
        return max((config.read_queue_nums for config in self.configs.values()), default=0)

    @property
    def write_queues(self) -> int:
        """Write queues on one broker; the largest number if brokers differ."""
        return max((config.write_queue_nums for config in self.configs.values()), default=0)

    @property
    def perm(self) -> int:
        """The permissions on at least one broker: PERM_READ and PERM_WRITE."""
        bits = 0
        for config in self.configs.values():
            bits |= config.perm
        return bits & (PERM_READ | PERM_WRITE)

    @property
    def message_type(self) -> MessageType | None:
        """What was declared for its messages; None if no broker told one, or brokers disagree."""
        told = {message_type_of(config.attributes) for config in self.configs.values()} - {None}
        return told.pop() if len(told) == 1 else None

    @property
    def order(self) -> bool:
        """Whether it is an ordered topic on some broker."""
        return any(config.order for config in self.configs.values())


@dataclass(frozen=True, slots=True)
class TopicStats:
    """The contents of a topic's queues; brokers that did not answer are in `failed`, their queues are not counted."""

    queues: dict[MessageQueue, TopicOffset] = field(default_factory=dict)
    failed: dict[str, GantryError] = field(default_factory=dict)
    slaves: dict[str, FromSlave] = field(default_factory=dict)
    """The slaves that were asked in the place of their masters, by broker name; they may lack the newest messages."""

    @property
    def messages(self) -> int:
        """Number of readable messages."""
        return sum(queue.max_offset - queue.min_offset for queue in self.queues.values())

    @property
    def written(self) -> int:
        """Number of messages ever written, from which rates are computed."""
        return sum(queue.max_offset for queue in self.queues.values())

    @property
    def last_stored_at(self) -> int | None:
        """Store time of the last message, ms."""
        return max((queue.last_update_timestamp for queue in self.queues.values()), default=0) or None


@dataclass(frozen=True, slots=True)
class TopicChange:
    """Settings of a topic on one broker to change; None keeps the value."""

    read_queues: int | None = None
    write_queues: int | None = None
    perm: int | None = None

    def request(self, config: TopicConfig) -> CreateTopicRequest:
        """Return the request that changes `config`: brokers know only whole settings."""
        return CreateTopicRequest(
            config.topic_name,
            config.read_queue_nums if self.read_queues is None else self.read_queues,
            config.write_queue_nums if self.write_queues is None else self.write_queues,
            config.perm if self.perm is None else self.perm,
            topic_sys_flag=config.topic_sys_flag,
            order=config.order,
        )


@dataclass(frozen=True, slots=True)
class TopicProducer:
    """One connected producer."""

    group: str
    info: ProducerInfo

    @property
    def address(self) -> str:
        """Its remote address, ``ip:port``."""
        return self.info.remote_ip.lstrip("/")


def own_names(brokers: Iterable[BrokerAddress]) -> frozenset[str]:
    """Return the topics that brokers create for themselves: by cluster, by broker name, and for replies."""
    listed = list(brokers)
    clusters = {broker.cluster for broker in listed}
    return frozenset(clusters | {broker.name for broker in listed} | {reply_topic(name) for name in clusters})


def kind_of(name: str, own: frozenset[str] = frozenset()) -> TopicKind:
    """Return the owner of a topic; `own` are the topics named after clusters and brokers."""
    if is_retry_topic(name):
        return TopicKind.RETRY
    if is_dead_letter_topic(name):
        return TopicKind.DEAD_LETTER
    if is_system_topic(name) or name in own or name.lower().startswith(SYSTEM_PREFIX):
        return TopicKind.SYSTEM
    return TopicKind.NORMAL


def check_name(name: str, *, longest: int = MAX_TOPIC_NAME) -> None:
    """Raise NameIllegal for a name that brokers refuse."""
    if not name or len(name) > longest:
        raise NameIllegal(f"a name has 1 to {longest} characters, {name!r} has {len(name)}")
    if not NAME.fullmatch(name):
        raise NameIllegal(f"{name!r}: a name may contain only letters, digits, '_', '-', '%' and '|'")
