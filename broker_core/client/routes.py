"""The queues of each topic and their brokers: the route cache and its refresh (client/README.md#routes)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from broker_core.client.tasks import Tasks
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import BrokerData, TopicRouteData
from broker_core.protocol.codes import PERM_READ, PERM_WRITE

MASTER_ID: Final = 0
_FORGET_AFTER_REFRESHES: Final = 20

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Route:
    """The queues of one topic and the brokers that hold them, from a name server."""

    topic: str
    data: TopicRouteData
    brokers: Mapping[str, Mapping[int, str]]
    """Broker name → broker id → ``host:port``; id 0 is the master."""
    write_queues: tuple[MessageQueue, ...] = ()
    """Queues for sending: those with write permission whose broker has a master."""
    read_queues: tuple[MessageQueue, ...] = ()

    @classmethod
    def of(cls, topic: str, data: TopicRouteData) -> Route:
        """Return the route that `data` describes for `topic`."""
        brokers = {broker.broker_name: dict(broker.broker_addrs) for broker in data.broker_datas}
        write = _ordered_queues(topic, data.order_topic_conf) or _write_queues(topic, data, brokers)
        return cls(topic, data, brokers, write, _read_queues(topic, data))

    @property
    def masters(self) -> dict[str, str]:
        """Broker name → address of its master; brokers without one are left out."""
        return {name: addrs[MASTER_ID] for name, addrs in self.brokers.items() if MASTER_ID in addrs}

    @property
    def leaderless(self) -> list[str]:
        """The names of its brokers that have no master at the moment, whose messages nobody else can tell."""
        return sorted({queue.broker_name for queue in self.data.queue_datas}.difference(self.masters))

    @property
    def without_master(self) -> str | None:
        """The name of a broker that would be sent to if it had a master at the moment; None if there is none."""
        for queue in self.data.queue_datas:
            addrs = self.brokers.get(queue.broker_name)
            if queue.perm & PERM_WRITE and addrs is not None and MASTER_ID not in addrs:
                return queue.broker_name
        return None

    def with_broker(self, broker: BrokerData) -> Route:
        """Return this route with newer addresses of one of its brokers."""
        brokers = [broker if each.broker_name == broker.broker_name else each for each in self.data.broker_datas]
        return Route.of(self.topic, replace(self.data, broker_datas=brokers))


def _ordered_queues(topic: str, conf: str | None) -> tuple[MessageQueue, ...]:
    """Return the fixed queues of an ordered topic: ``broker-a:8;broker-b:8``."""
    queues: list[MessageQueue] = []
    for part in filter(None, (conf or "").split(";")):
        name, _, count = part.rpartition(":")
        queues += (MessageQueue(topic, name, index) for index in range(int(count)))
    return tuple(queues)


def _write_queues(
    topic: str, data: TopicRouteData, brokers: Mapping[str, Mapping[int, str]]
) -> tuple[MessageQueue, ...]:
    return tuple(
        MessageQueue(topic, queue.broker_name, index)
        for queue in sorted(data.queue_datas, key=lambda queue: queue.broker_name)
        if queue.perm & PERM_WRITE and MASTER_ID in brokers.get(queue.broker_name, {})
        for index in range(queue.write_queue_nums)
    )


def _read_queues(topic: str, data: TopicRouteData) -> tuple[MessageQueue, ...]:
    return tuple(
        MessageQueue(topic, queue.broker_name, index)
        for queue in sorted(data.queue_datas, key=lambda queue: queue.broker_name)
        if queue.perm & PERM_READ
        for index in range(queue.read_queue_nums)
    )


Ask = Callable[[str], Awaitable[TopicRouteData]]
"""Queries a name server for one topic; raises TopicNotFound, or another ClientError if no name server answers."""

ListBrokers = Callable[[], Awaitable[Collection[BrokerData]]]
"""Asks a name server for the brokers of the cluster."""


Recall = Callable[[str], Awaitable[TopicRouteData | None]]
"""Returns where a topic was when somebody else saw it last; None if nobody knows."""


@dataclass(slots=True)
class _Known:
    route: Route
    unused_refreshes: int = 0


@dataclass(slots=True)
class Routes:
    """Routes by topic. A known route stays until a newer one arrives: name servers may be unreachable for a while."""

    ask: Ask
    tasks: Tasks
    on_new_brokers: Callable[[], None] = lambda: None
    on_route: Callable[[Route], None] = lambda _: None
    """Called with every route that a name server tells, also one that is known."""
    on_moved: Callable[[str], None] = lambda _: None
    """Called with the address of a master that has a successor, and is not known any more itself."""
    recall: Recall | None = None
    """Asked for a route that was never needed here, while no name server answers."""
    replicated: set[str] = field(default_factory=set)
    """The names that were seen with more than one broker."""
    _known: dict[str, _Known] = field(default_factory=dict)
    _asking: dict[str, asyncio.Task[Route]] = field(default_factory=dict)
    _brokers: dict[str, dict[int, str]] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def find(self, topic: str) -> Route | None:
        """Return the cached route."""
        known = self._known.get(topic)
        if known is None:
            return None
        known.unused_refreshes = 0
        return known.route

    async def get(self, topic: str) -> Route:
        """Return the route, from a name server if it is not cached; raise TopicNotFound."""
        return self.find(topic) or await self.refresh(topic)

    async def refresh(self, topic: str) -> Route:
        """Query a name server now. Concurrent callers for the same topic share one request."""
        asking = self._asking.get(topic)
        if asking is None:
            asking = self.tasks.start_awaited(f"route {topic}", self._fetch(topic))
            self._asking[topic] = asking
            asking.add_done_callback(lambda _: self._asking.pop(topic, None))
        return await asyncio.shield(asking)

    async def remembered(self, topic: str) -> Route | None:
        """Return the cached route, else the one that somebody else knew last, for when no name server answers."""
        known = self.find(topic)
        if known is not None or self.recall is None:
            return known
        told = await self.recall(topic)
        return None if told is None else self.install(topic, told)

    async def refresh_all(self) -> None:
        """Refresh every topic in use; those that fail keep their old route. Topics not used for long are dropped."""
        for topic, known in list(self._known.items()):
            known.unused_refreshes += 1
            if known.unused_refreshes > _FORGET_AFTER_REFRESHES:
                del self._known[topic]
                continue
            try:
                await self.refresh(topic)
            except GantryError as error:
                _log.warning("topic=%s: route not refreshed: %s", topic, error)

    def install(self, topic: str, data: TopicRouteData) -> Route:
        """Set the route of `topic` to `data`."""
        are_new = sum(self.learn(broker) for broker in data.broker_datas) > 0
        known = self._known.get(topic)
        if known is None or known.route.data != data:
            known = self._known[topic] = _Known(Route.of(topic, data))
        route = known.route
        self.on_route(route)
        if are_new:
            self.on_new_brokers()
        return route

    def learn(self, broker: BrokerData) -> bool:
        """Record a broker's addresses; return whether they changed."""
        self.note_names(broker)
        addrs = dict(broker.broker_addrs)
        name = broker.broker_name
        before = self._brokers.get(name)
        if before == addrs:
            return False
        self._brokers[name] = addrs
        if len(addrs) > 1:
            self.replicated.add(name)
        if before is not None:
            self._spread(broker)
            former = before.get(MASTER_ID)
            if former is not None and MASTER_ID in addrs and former not in addrs.values():
                self.on_moved(former)
        return True

    def hear(self, broker: BrokerData) -> None:
        """Record the addresses of a broker that is in use; of any other only who is there, until a route names it."""
        if broker.broker_name not in self._brokers:
            self.note_names(broker)
        elif self.learn(broker):
            self.on_new_brokers()

    def _spread(self, broker: BrokerData) -> None:
        """Tell the routes of other topics of a broker's new addresses."""
        for known in self._known.values():
            if broker.broker_name in known.route.brokers:
                known.route = known.route.with_broker(broker)

    def topic_at(self, broker_name: str) -> str | None:
        """Return a topic whose route names a broker."""
        return next((topic for topic, known in self._known.items() if broker_name in known.route.brokers), None)

    def note_names(self, broker: BrokerData) -> None:
        """Record who is at a broker's addresses, for the texts of errors: nothing is sent there because of it."""
        for addr in broker.broker_addrs.values():
            self._names[addr] = broker.broker_name

    def name_at(self, addr: str) -> str | None:
        """Return the name of the broker that was seen last at an address."""
        return self._names.get(addr)

    def forget(self, topic: str) -> None:
        """Drop the cached route, after a broker reported that it does not have the topic."""
        self._known.pop(topic, None)

    def master(self, broker_name: str) -> str | None:
        """Return the address of the broker's master, from the latest route with that broker."""
        return self._brokers.get(broker_name, {}).get(MASTER_ID)

    def slaves(self, broker_name: str) -> list[tuple[int, str]]:
        """Return id and address of each slave of the broker, by id, from the latest route with that broker."""
        addrs = self._brokers.get(broker_name, {})
        return [(broker_id, addr) for broker_id, addr in sorted(addrs.items()) if broker_id != MASTER_ID]

    def readable(self, broker_name: str, broker_id: int = MASTER_ID) -> str | None:
        """Return the address to read from: the requested id, else the next slave, else any."""
        addrs = self._brokers.get(broker_name, {})
        if broker_id in addrs:
            return addrs[broker_id]
        if broker_id != MASTER_ID and broker_id + 1 in addrs:
            return addrs[broker_id + 1]
        return next(iter(addrs.values()), None)

    def addresses(self, *, masters_only: bool) -> list[str]:
        """Return the addresses of all brokers that any cached route names."""
        named = {name for known in self._known.values() for name in known.route.brokers}
        return [
            addr
            for name in sorted(named)
            for broker_id, addr in self._brokers.get(name, {}).items()
            if broker_id == MASTER_ID or not masters_only
        ]

    async def _fetch(self, topic: str) -> Route:
        return self.install(topic, await self.ask(topic))
