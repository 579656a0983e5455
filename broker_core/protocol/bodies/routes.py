"""Bodies of name servers: routes, registration, settings."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper


@dataclass(frozen=True, slots=True)
class QueueData:
    """The number of a topic's queues on a broker name, and their permissions."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_sys_flag: int = 0


@dataclass(frozen=True, slots=True)
class BrokerData:
    """The addresses of a broker name by broker id; 0 is the master."""

    broker_name: str
    cluster: str = ""
    broker_addrs: dict[int, str] = field(default_factory=dict)
    enable_acting_master: bool | None = None  # 5.x; some of its clients reject routes without it


@dataclass(frozen=True, slots=True)
class TopicRouteData:
    """The route of a topic (105)."""

    broker_datas: list[BrokerData] = field(default_factory=list)
    queue_datas: list[QueueData] = field(default_factory=list)
    filter_server_table: dict[str, list[str]] = field(default_factory=dict)
    order_topic_conf: str | None = None


@dataclass(frozen=True, slots=True)
class RegisterBrokerBody:
    """The data of a registering broker (103), uncompressed form."""

    topic_config_serialize_wrapper: TopicConfigSerializeWrapper = field(default_factory=TopicConfigSerializeWrapper)
    filter_server_list: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KVTable:
    """Text by name (28, 103, 219)."""

    table: dict[str, str] = field(default_factory=dict)
