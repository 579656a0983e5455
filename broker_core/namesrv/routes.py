"""The route table: clusters, broker names, addresses, topics (namesrv/README.md#routes).

Plain tables and no clock: the time is the argument `now` in ms. A `holder` keeps a registration alive: it is the
broker's connection, which the table only compares.

========  ==========================================  ===========================================================
table     from → to                                   removed
========  ==========================================  ===========================================================
topics    topic → broker name → queues, permission    with its last broker name, or by `delete_topic`
brokers   broker name → cluster, {broker id → addr}   with its last address
clusters  cluster → broker names                      with its last broker name
live      address → last heartbeat, its brokers       by `unregister`, `expire` or `forget_holder`
served    broker name → its topics                    with its last topic, or with the name
held      holder → the addresses it keeps alive       with its last address
========  ==========================================  ===========================================================

The last two say the same as the others from the other side: what leaves is found without a look at what stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from broker_core.namesrv.limits import RouteLimits
from broker_core.namesrv.names import is_topic_name
from broker_core.protocol.bodies import BrokerData, ClusterInfo, DataVersion, QueueData, TopicConfig, TopicRouteData
from broker_core.protocol.codes import PERM_READ, PERM_WRITE

MASTER_ID: Final = 0

_Place: TypeAlias = tuple[str, int]
"""A broker name and an id: what a broker is registered as."""


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
    places: set[_Place] = field(default_factory=set)


class RouteTable:
    """All known brokers and topics. Every change is one call; only this class changes the tables."""

    def __init__(self, limits: RouteLimits | None = None) -> None:
        self.limits = limits or RouteLimits()
        self._topics: dict[str, dict[str, QueueData]] = {}
        self._brokers: dict[str, BrokerData] = {}
        self._clusters: dict[str, set[str]] = {}
        self._live: dict[str, _Live] = {}
        self._served: dict[str, set[str]] = {}
        self._held: dict[object, set[str]] = {}
        self._broker_count = 0
        self._route_count = 0

    # Brokers

    def register(self, broker: Registration, *, holder: object, now: int) -> Master | None:
        """Register a broker; return its master if it is a slave of a known one.

        Topics are read from masters only, when the broker is new or its data version changed, and never removed
        (namesrv/README.md#registration). One whose mastership is over changes nothing. Raises LimitReached.
        """
        known = self._brokers.get(broker.broker_name)
        if self._is_over(broker, known):
            return None
        before = self._live.get(broker.address)
        is_first = known is None or broker.broker_id not in known.broker_addrs
        is_changed = is_first or before is None or before.data_version != broker.data_version
        takes_topics = broker.broker_id == MASTER_ID and broker.topics is not None and is_changed
        self._check(broker, holder, is_first=is_first, takes_topics=takes_topics)
        live = self._keep_alive(broker, holder, now)
        self._place(broker, live, known)
        if takes_topics and broker.topics is not None:
            self._take_topics(broker.broker_name, broker.topics.values())
        return self._master_of(broker)

    def unregister(self, broker_name: str, broker_id: int, address: str) -> None:
        """Remove one address of a broker name, if it is still there; the last one removes the name and its queues."""
        broker = self._brokers.get(broker_name)
        if broker is not None and broker.broker_addrs.get(broker_id) == address:
            self._drop_place((broker_name, broker_id), address)

    def expire(self, *, before: int) -> list[object]:
        """Remove each broker last seen before `before` (ms); return their holders, for the caller to close."""
        silent = [(address, live.holder) for address, live in self._live.items() if live.last_seen < before]
        for address, _ in silent:
            self._forget_address(address)
        return [holder for _, holder in silent]

    def forget_holder(self, holder: object) -> None:
        """Remove every broker that `holder` kept alive: its connection has closed."""
        for address in list(self._held.get(holder, ())):
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
            self._drop_route(topic, name)

    def take_write_permission(self, broker_name: str) -> int:
        """Remove the write permission from all topics of a broker name; return how many it has."""
        return self._change_permission(broker_name, lambda permission: permission & ~PERM_WRITE)

    def give_write_permission(self, broker_name: str) -> int:
        """Give all topics of a broker name exactly read and write permission; return how many it has."""
        return self._change_permission(broker_name, lambda _: PERM_READ | PERM_WRITE)

    # Internals

    def _is_over(self, broker: Registration, known: BrokerData | None) -> bool:
        """Return whether another address has this id by a newer mastership: a process that was stopped woke up."""
        holder = known.broker_addrs.get(broker.broker_id) if known is not None else None
        if holder is None or holder == broker.address:
            return False
        return _state_of(broker.data_version) < _state_of(self._live[holder].data_version)

    def _check(self, broker: Registration, holder: object, *, is_first: bool, takes_topics: bool) -> None:
        """Raise LimitReached for a registration that would exceed a limit."""
        limits, name = self.limits, broker.broker_name
        what = f"broker {name[:80]!r} was not registered"
        if is_first:
            limits.check("brokers", self._broker_count + 1, what)
        held = {place for address in self._held.get(holder, ()) for place in self._live[address].places}
        limits.check("brokers_per_connection", len(held | {(name, broker.broker_id)}), what)
        # The names are counted only where they may be too many: a broker sends all of its topics with each new one.
        topics, served = broker.topics if takes_topics else None, self._served.get(name, set())
        if topics is not None and (
            self._route_count + len(topics) > limits.routes or len(served) + len(topics) > limits.routes_per_broker
        ):
            news = {topic.topic_name for topic in topics.values()} - served
            limits.check("routes_per_broker", len(served) + len(news), what)
            limits.check("routes", self._route_count + len(news), what)

    def _keep_alive(self, broker: Registration, holder: object, now: int) -> _Live:
        """Note that the address of a broker lives, and on whose connection."""
        before = self._live.get(broker.address)
        version = broker.data_version
        if before is None and broker.topics is not None and len(broker.topics) <= 1:
            # Only what changed, and the others are missing: the whole table will follow, under this version.
            version = DataVersion(state_version=version.state_version if version is not None else None)
        live = _Live(now, version, holder, broker.ha_address, set() if before is None else before.places)
        if before is not None and before.holder is not holder:
            self._let_go(before.holder, broker.address)
        self._live[broker.address] = live
        self._held.setdefault(holder, set()).add(broker.address)
        return live

    def _place(self, broker: Registration, live: _Live, known: BrokerData | None) -> None:
        """Put the address of a broker where its name and id are looked up."""
        name, place = broker.broker_name, (broker.broker_name, broker.broker_id)
        if known is not None and known.cluster != broker.cluster:
            self._leave_cluster(known)
        self._clusters.setdefault(broker.cluster, set()).add(name)
        addresses = dict(known.broker_addrs) if known is not None else {}
        # An address has only one id: a slave that became master loses its old one.
        for old in [old for old in live.places if old[0] == name and old != place]:
            del addresses[old[1]]
            live.places.discard(old)
            self._broker_count -= 1
        replaced = addresses.get(broker.broker_id)
        self._broker_count += replaced is None
        addresses[broker.broker_id] = broker.address
        self._brokers[name] = BrokerData(name, broker.cluster, addresses, enable_acting_master=False)
        live.places.add(place)
        if replaced is not None and replaced != broker.address:
            self._forget_place(place, replaced)

    def _take_topics(self, broker_name: str, topics: Iterable[TopicConfig]) -> None:
        served = self._served.setdefault(broker_name, set())
        before = len(served)
        for topic in topics:
            queues = self._topics.get(topic.topic_name)
            if queues is None:
                if not is_topic_name(topic.topic_name):
                    continue
                queues = self._topics[topic.topic_name] = {}
            known = queues.get(broker_name)
            # A broker sends all of its topics with each new one: nearly all of them are unchanged.
            if known is None or not _says(known, topic):
                served.add(topic.topic_name)
                queues[broker_name] = QueueData(
                    broker_name=broker_name,
                    read_queue_nums=topic.read_queue_nums,
                    write_queue_nums=topic.write_queue_nums,
                    perm=topic.perm,
                    topic_sys_flag=topic.topic_sys_flag,
                )
        self._route_count += len(served) - before
        if not served:
            del self._served[broker_name]

    def _master_of(self, broker: Registration) -> Master | None:
        if broker.broker_id == MASTER_ID:
            return None
        address = self._brokers[broker.broker_name].broker_addrs.get(MASTER_ID)
        live = self._live.get(address) if address else None
        return Master(address, live.ha_address) if address and live else None

    def _forget_address(self, address: str) -> None:
        live = self._live.get(address)
        for place in list(live.places) if live is not None else ():
            self._drop_place(place, address)

    def _drop_place(self, place: _Place, address: str) -> None:
        """Remove a broker; the last one of a name takes the name, its cluster and its topics with it."""
        self._forget_place(place, address)
        self._broker_count -= 1
        broker = self._brokers[place[0]]
        left = {id_: each for id_, each in broker.broker_addrs.items() if id_ != place[1]}
        if left:
            self._brokers[broker.broker_name] = replace(broker, broker_addrs=left)
            return
        del self._brokers[broker.broker_name]
        self._leave_cluster(broker)
        served = self._served.pop(broker.broker_name, set())
        self._route_count -= len(served)
        for topic in served:
            queues = self._topics[topic]
            if len(queues) == 1:
                del self._topics[topic]
            else:
                del queues[broker.broker_name]

    def _forget_place(self, place: _Place, address: str) -> None:
        """Note that an address is not registered there any more; with its last place it is not alive."""
        live = self._live[address]
        live.places.discard(place)
        if not live.places:
            del self._live[address]
            self._let_go(live.holder, address)

    def _let_go(self, holder: object, address: str) -> None:
        held = self._held[holder]
        held.discard(address)
        if not held:
            del self._held[holder]

    def _leave_cluster(self, broker: BrokerData) -> None:
        members = self._clusters[broker.cluster]
        members.discard(broker.broker_name)
        if not members:
            del self._clusters[broker.cluster]

    def _drop_route(self, topic: str, broker_name: str) -> None:
        queues, served = self._topics[topic], self._served[broker_name]
        del queues[broker_name]
        served.discard(topic)
        self._route_count -= 1
        if not queues:
            del self._topics[topic]
        if not served:
            del self._served[broker_name]

    def _change_permission(self, broker_name: str, change: Callable[[int], int]) -> int:
        served = self._served.get(broker_name, ())
        for topic in served:
            queues = self._topics[topic]
            queues[broker_name] = replace(queues[broker_name], perm=change(queues[broker_name].perm))
        return len(served)


def _state_of(version: DataVersion | None) -> int:
    """Return the epoch of the mastership that a version tells; brokers that have none are below all that have one."""
    return version.state_version or 0 if version is not None else 0


def _says(queues: QueueData, topic: TopicConfig) -> bool:
    return (
        queues.read_queue_nums == topic.read_queue_nums
        and queues.write_queue_nums == topic.write_queue_nums
        and queues.perm == topic.perm
        and queues.topic_sys_flag == topic.topic_sys_flag
    )
