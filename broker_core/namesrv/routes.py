"""The route table: clusters, broker names, addresses, topics (namesrv/README.md#routes).

Plain tables and no clock: the time is the argument `now` in ms. A `holder` keeps a registration alive: it is the
broker's connection, which the table only compares.

========  ==========================================  ===========================================================
table     from → to                                   removed
========  ==========================================  ===========================================================
topics    topic → broker name → queues, permission    with its last broker name, or by `delete_topic`
brokers   broker name → cluster, {broker id → addr}   with its last address
clusters  cluster → broker names                      with its last broker name
live      address → last heartbeat, data version      by `unregister`, `expire` or `forget_holder`
========  ==========================================  ===========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from broker_core.protocol.bodies import BrokerData, ClusterInfo, DataVersion, QueueData, TopicConfig, TopicRouteData
from broker_core.protocol.codes import PERM_READ, PERM_WRITE

MASTER_ID: Final = 0


@dataclass(frozen=True, slots=True)
class Registration:
    """The data of a registering broker (REGISTER_BROKER)."""

    cluster: str
    broker_name: str
    broker_id: int
    address: str
    ha_address: str
    data_version: DataVersion | None
    topics: dict[str, TopicConfig] | None  # None if the broker sent no table


@dataclass(frozen=True, slots=True)
class Master:
    """Where a slave finds its master."""

    address: str
    ha_address: str


@dataclass(slots=True)
class _Live:
    last_seen: int
    data_version: DataVersion | None
    holder: object
    ha_address: str


class RouteTable:
    """All known brokers and topics. Every change is one call; only this class changes the tables."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, QueueData]] = {}
        self._brokers: dict[str, BrokerData] = {}
        self._clusters: dict[str, set[str]] = {}
        self._live: dict[str, _Live] = {}

    # Brokers

    def register(self, broker: Registration, *, holder: object, now: int) -> Master | None:
        """Register a broker; return its master if it is a slave of a known one.

        Topics are read from masters only, when the broker is new or its data version changed, and never removed
        (namesrv/README.md#registration).
        """
        self._clusters.setdefault(broker.cluster, set()).add(broker.broker_name)
        known = self._brokers.get(broker.broker_name)
        is_first = known is None or broker.broker_id not in known.broker_addrs
        # An address has only one id: a slave that became master loses its old one.
        addresses = {id_: at for id_, at in (known.broker_addrs if known else {}).items() if at != broker.address}
        addresses[broker.broker_id] = broker.address
        self._brokers[broker.broker_name] = BrokerData(
            broker.broker_name, broker.cluster, addresses, enable_acting_master=False
        )
        before = self._live.get(broker.address)
        is_changed = is_first or before is None or before.data_version != broker.data_version
        if broker.broker_id == MASTER_ID and broker.topics is not None and is_changed:
            self._take_topics(broker.broker_name, broker.topics.values())
        version = broker.data_version
        if before is None and broker.topics is not None and len(broker.topics) <= 1:
            # Only what changed, and the others are missing: the whole table will follow, under this version.
            version = DataVersion()
        self._live[broker.address] = _Live(now, version, holder, broker.ha_address)
        return self._master_of(broker)

    def unregister(self, broker_name: str, broker_id: int, address: str) -> None:
        """Remove one address of a broker name; the last one removes the name and its queues."""
        self._live.pop(address, None)
        broker = self._brokers.get(broker_name)
        if broker is not None and broker_id in broker.broker_addrs:
            self._drop_address(broker, broker_id)

    def expire(self, *, before: int) -> list[object]:
        """Remove each broker last seen before `before` (ms); return their holders, for the caller to close."""
        silent = [(address, live.holder) for address, live in self._live.items() if live.last_seen < before]
        for address, _ in silent:
            self._forget_address(address)
        return [holder for _, holder in silent]

    def forget_holder(self, holder: object) -> None:
        """Remove every broker that `holder` kept alive: its connection has closed."""
        for address in [address for address, live in self._live.items() if live.holder is holder]:
            self._forget_address(address)

    def touch(self, address: str, version: DataVersion, *, now: int) -> tuple[bool, DataVersion | None]:
        """Return whether `version` differs from the known version of `address`, and the known version.

        An equal version counts as a heartbeat at `now`.
        """
        live = self._live.get(address)
        if live is None:
            return True, None
        if live.data_version != version:
            return True, live.data_version
        live.last_seen = now
        return False, live.data_version

    # Queries

    def find_route(self, topic: str) -> TopicRouteData | None:
        """Return the queues and brokers of `topic`, or None if it has no queues or no brokers."""
        queues = list(self._topics.get(topic, {}).values())
        brokers = [self._brokers[queue.broker_name] for queue in queues if queue.broker_name in self._brokers]
        return TopicRouteData(broker_datas=brokers, queue_datas=queues) if brokers else None

    def clusters(self) -> ClusterInfo:
        """Return all clusters and brokers."""
        return ClusterInfo(dict(self._brokers), {name: sorted(members) for name, members in self._clusters.items()})

    def topics(self) -> list[str]:
        """Return the names of all topics."""
        return list(self._topics)

    def topics_of_cluster(self, cluster: str) -> list[str]:
        """Return the topics with queues on a broker of `cluster`; none for an unknown cluster."""
        members = self._clusters.get(cluster, set())
        return [topic for topic, queues in self._topics.items() if not members.isdisjoint(queues)]

    def topics_where(self, holds: Callable[[int], bool]) -> list[str]:
        """Return the topics with a queue entry whose topicSysFlag satisfies `holds`."""
        return [
            topic
            for topic, queues in self._topics.items()
            if any(holds(queue.topic_sys_flag) for queue in queues.values())
        ]

    def names(self) -> list[str]:
        """Return all cluster names, then all broker names: each is also the name of a system topic."""
        return [*self._clusters, *self._brokers]

    def any_address(self) -> str | None:
        """Return the address of some broker, or None if there is none."""
        return next((address for broker in self._brokers.values() for address in broker.broker_addrs.values()), None)

    # Changes by an operator

    def delete_topic(self, topic: str, cluster: str | None = None) -> None:
        """Remove `topic`, everywhere or only on the brokers of `cluster`."""
        queues = self._topics.get(topic, {})
        for name in list(queues) if cluster is None else self._clusters.get(cluster, set()) & queues.keys():
            del queues[name]
        if not queues:
            self._topics.pop(topic, None)

    def take_write_permission(self, broker_name: str) -> int:
        """Remove the write permission from all topics of a broker name; return how many it has."""
        return self._change_permission(broker_name, lambda permission: permission & ~PERM_WRITE)

    def give_write_permission(self, broker_name: str) -> int:
        """Give all topics of a broker name exactly read and write permission; return how many it has."""
        return self._change_permission(broker_name, lambda _: PERM_READ | PERM_WRITE)

    # Internals

    def _take_topics(self, broker_name: str, topics: Iterable[TopicConfig]) -> None:
        for topic in topics:
            queues = self._topics.setdefault(topic.topic_name, {})
            known = queues.get(broker_name)
            # A broker sends all of its topics with each new one: nearly all of them are unchanged.
            if known is None or not _says(known, topic):
                queues[broker_name] = QueueData(
                    broker_name=broker_name,
                    read_queue_nums=topic.read_queue_nums,
                    write_queue_nums=topic.write_queue_nums,
                    perm=topic.perm,
                    topic_sys_flag=topic.topic_sys_flag,
                )

    def _master_of(self, broker: Registration) -> Master | None:
        if broker.broker_id == MASTER_ID:
            return None
        address = self._brokers[broker.broker_name].broker_addrs.get(MASTER_ID)
        live = self._live.get(address) if address else None
        return Master(address, live.ha_address) if address and live else None

    def _forget_address(self, address: str) -> None:
        self._live.pop(address, None)
        for broker in list(self._brokers.values()):
            for broker_id, at in broker.broker_addrs.items():
                if at == address:
                    self._drop_address(broker, broker_id)
                    break

    def _drop_address(self, broker: BrokerData, broker_id: int) -> None:
        left = {id_: address for id_, address in broker.broker_addrs.items() if id_ != broker_id}
        if left:
            self._brokers[broker.broker_name] = replace(broker, broker_addrs=left)
            return
        del self._brokers[broker.broker_name]
        members = self._clusters.get(broker.cluster, set())
        members.discard(broker.broker_name)
        if not members:
            self._clusters.pop(broker.cluster, None)
        for topic in [topic for topic, queues in self._topics.items() if broker.broker_name in queues]:
            del self._topics[topic][broker.broker_name]
            if not self._topics[topic]:
                del self._topics[topic]

    def _change_permission(self, broker_name: str, change: Callable[[int], int]) -> int:
        count = 0
        for queues in self._topics.values():
            if broker_name in queues:
                queues[broker_name] = replace(queues[broker_name], perm=change(queues[broker_name].perm))
                count += 1
        return count


def _says(queues: QueueData, topic: TopicConfig) -> bool:
    return (
        queues.read_queue_nums == topic.read_queue_nums
        and queues.write_queue_nums == topic.write_queue_nums
        and queues.perm == topic.perm
        and queues.topic_sys_flag == topic.topic_sys_flag
    )
