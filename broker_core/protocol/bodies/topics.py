"""Bodies about topics."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.heartbeat import SubscriptionData


@dataclass(frozen=True, slots=True)
class DataVersion:
    """The version of a table; two versions are equal if both numbers are. `timestamp` is in ms."""

    counter: int = 0
    timestamp: int = 0
    state_version: int | None = None  # 5.x


def is_same_version(one: DataVersion, other: DataVersion) -> bool:
    """Return whether two versions are equal to a broker of 4.9, which knows no state."""
    return (one.counter, one.timestamp) == (other.counter, other.timestamp)


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """A topic's settings on one broker."""

    topic_name: str
    read_queue_nums: int = 16
    write_queue_nums: int = 16
    perm: int = 6
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    order: bool = False
    attributes: dict[str, str] | None = None  # 5.x


@dataclass(frozen=True, slots=True)
class CreateTopicListRequestBody:
    """Topics to create or replace (18); their attributes are changes, a map of ``+key`` to value and ``-key``."""

    topic_config_list: list[TopicConfig] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TopicConfigSerializeWrapper:
    """All topics of a broker (21); also part of its registration (103)."""

    data_version: DataVersion = field(default_factory=DataVersion)
    topic_config_table: dict[str, TopicConfig] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicList:
    """Topic names (206, 224, 304, 305, 311 to 313); 304 also names a broker to query for more."""

    topic_list: list[str] = field(default_factory=list)
    broker_addr: str | None = None


@dataclass(frozen=True, slots=True)
class ConsumeQueueData:
    """One entry of a consume queue: log offset, size, tag hash, and whether it matches the filter."""

    physic_offset: int
    physic_size: int
    tags_code: int
    eval: bool = False
    extend_data_json: str | None = None
    bit_map: str | None = None
    msg: str | None = None


@dataclass(frozen=True, slots=True)
class QueryConsumeQueueResponseBody:
    """A part of a consume queue (321). `filter_data` is text, not an object."""

    queue_data: list[ConsumeQueueData] = field(default_factory=list)
    max_queue_index: int = 0
    min_queue_index: int = 0
    subscription_data: SubscriptionData | None = None
    filter_data: str | None = None


@dataclass(frozen=True, slots=True)
class QueueOffsets:
    """A queue offset for each queue id of a topic (30105)."""

    offset_table: dict[int, int] = field(default_factory=dict)
