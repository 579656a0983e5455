"""One started client per cluster and process, on the one event loop of the process; threads reach it through `ask`.

A connection belongs to the loop that opened it. So a process has one `Connections`: the gateway passes in the loop it
serves on (`use`); any other process starts a loop in a separate thread at the first question. Code on the loop awaits
`Connections`; code in threads (views, tasks, commands) calls `ask`.

Knows no Django: the look-up of a cluster is passed in (`look_up_by`).
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from broker_core.client.admin import Admin
from broker_core.client.blocking import CallTimedOut, LoopThread
from broker_core.client.config import ClientConfig
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies.routes import TopicRouteData
from broker_core.protocol.message import Message
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls, ClientTlsFiles
from console.clusters.identities import FindStoreIds, Identities

_log = logging.getLogger(__name__)

T = TypeVar("T")

# How long the address of a cluster is cached: a change in the console takes effect soon.
LOOK_UP_SECONDS: Final = 5.0
# How long a thread waits for a cluster; each step of the question has a shorter limit.
ASK_SECONDS: Final = 10.0
# The loop applies the time limit; a thread waits this much longer in case the loop is stuck.
_GRACE_SECONDS: Final = 2.0
GATEWAY_GROUP: Final = "GANTRY_GATEWAY"
"""The producer group in which the gateway sends for those who send over HTTP."""
# Callers choose the groups: above this number the least recently used consumer is closed.
MAX_LEASE_CONSUMERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The address of a cluster: ``host:port`` of each of its name servers."""

    name: str
    name_servers: tuple[str, ...]
    address_map: tuple[tuple[str, str], ...] = ()
    """Pairs of an announced address and the one to connect to."""
    credentials: Credentials | None = None
    """The account with which requests are signed."""
    tls: ClientTls | ClientTlsFiles | None = None
    """How to connect with TLS; None: in plaintext."""


RecallRoute = Callable[[str, str], Awaitable[TopicRouteData | None]]
"""Returns where a topic of a cluster was when it was seen last."""
FindCluster = Callable[[str], Awaitable[ClusterAddress | None]]


class ClusterNotFound(GantryError):
    """The console knows no cluster of this name."""

    def __init__(self, cluster: str) -> None:
        super().__init__(f"no cluster is named {cluster!r}")
        self.cluster = cluster


class ClusterSilent(GantryError):
    """The cluster did not answer a question of the console in time; nothing is known about the outcome."""

    def __init__(self, cluster: str, seconds: float) -> None:
        super().__init__(f"cluster {cluster!r} did not answer within {seconds:g} s")
        self.cluster = cluster
        self.seconds = seconds


class ClusterUnknown(GantryError):
    """The content of the cluster is unknown: none of its brokers ever answered, or all are forgotten."""

    def __init__(self, cluster: str, reason: str) -> None:
        super().__init__(f"nothing is known of cluster {cluster!r}: {reason}")
        self.cluster = cluster


class NoBrokerListed(GantryError):
    """No name server lists any of the brokers that a change applies to."""


@dataclass(slots=True)
class _Open:
    """The open clients of one cluster."""

    address: ClusterAddress
    looked_up_at: float
    session: Session
    producer: Producer | None = None
    lease_consumers: dict[str, LeaseConsumer] = field(default_factory=dict)


class Connections:
    """Started clients, opened at first use, kept until the cluster's address changes or `close`."""

    def __init__(
        self,
        find_cluster: FindCluster,
        find_store_ids: FindStoreIds | None = None,
        recall_route: RecallRoute | None = None,
    ) -> None:
        """Without `find_store_ids` no connection is examined: whoever answers at an address is its broker.

        `recall_route` lets this process send to a topic that it never sent to while no name server answers.
        """
        self._find_cluster = find_cluster
        self._find_store_ids = find_store_ids
        self._recall_route = recall_route
        self._open: dict[str, _Open] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._following: asyncio.Task[None] | None = None

    async def session(self, cluster: str) -> Session:
        """Return the started session; raise ClusterNotFound."""
        return (await self._opened(cluster)).session

    async def admin(self, cluster: str) -> Admin:
        """Return the administration of the cluster; raise ClusterNotFound."""
        return Admin(await self.session(cluster))

    async def producer(self, cluster: str) -> Producer:
        """Return the started producer; raise ClusterNotFound."""
        found = await self._opened(cluster)
        if found.producer is None:
            async with self._lock(cluster):
                if found.producer is None:
                    producer = Producer(found.session, GATEWAY_GROUP)
                    await producer.start()
                    found.producer = producer
        return found.producer

    def find_producer(self, cluster: str) -> Producer | None:
        """Return the producer if it is open and the cluster's address was looked up recently."""
        found = self._open.get(cluster)
        if found is None or time.monotonic() - found.looked_up_at >= LOOK_UP_SECONDS:
            return None
        return found.producer

    async def lease_consumer(self, cluster: str, group: str) -> LeaseConsumer:
        """Return the consumer by lease of the group; raise ClusterNotFound."""
        found = await self._opened(cluster)
        consumer = found.lease_consumers.pop(group, None) or LeaseConsumer(found.session, group)
        found.lease_consumers[group] = consumer
        if len(found.lease_consumers) > MAX_LEASE_CONSUMERS:
            del found.lease_consumers[next(iter(found.lease_consumers))]
        return consumer

    def look_up_again(self, cluster: str) -> None:
        """Let the next use look the address up, which was changed; any thread may call it."""
        found = self._open.get(cluster)
        if found is not None:
            found.looked_up_at = -math.inf

    async def leave(self, cluster: str) -> None:
        """Close the clients of the cluster; the next use opens them again."""
        async with self._lock(cluster):
            found = self._open.pop(cluster, None)
            if found is not None:
                await _close(found)

    async def close(self) -> None:
        """Close all clients."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
            self._following = None
        while self._open:
            _, found = self._open.popitem()
            await _close(found)

    async def _opened(self, cluster: str) -> _Open:
        found = self._open.get(cluster)
        if found is not None and time.monotonic() - found.looked_up_at < LOOK_UP_SECONDS:
            return found
        async with self._lock(cluster):
            return await self._refreshed(cluster)

    async def _refreshed(self, cluster: str) -> _Open:
        found = self._open.get(cluster)
        now = time.monotonic()
        if found is not None and now - found.looked_up_at < LOOK_UP_SECONDS:
            return found
        address = await self._find_cluster(cluster)
        if found is not None and found.address == address:
            found.looked_up_at = now
            return found
        if found is not None:
            del self._open[cluster]
            await _close(found)
        if address is None:
            self._locks.pop(cluster, None)
            raise ClusterNotFound(cluster)
        session = self._session_at(address)
        await session.start()
        opened = self._open[cluster] = _Open(address, now, session)
        if self._following is None:
            self._following = asyncio.create_task(self._follow_addresses(), name="addresses of clusters")
        return opened

    def _session_at(self, address: ClusterAddress) -> Session:
        config = ClientConfig(
            name_servers=address.name_servers,
            address_map=dict(address.address_map),
            credentials=address.credentials,
            tls=address.tls,
        )
        recall = None if self._recall_route is None else partial(self._recall_route, address.name)
        if self._find_store_ids is None:
            return Session(config, recall=recall)
        identities = Identities(address.name, self._find_store_ids)
        session = Session(config, accept=identities.accept, recall=recall)
        identities.examine_for(session)
        return session

    async def _follow_addresses(self) -> None:
        """Look up each open cluster periodically, used or not, and close one that was deleted or moved."""
        while True:
            await asyncio.sleep(LOOK_UP_SECONDS)
            for cluster in list(self._open):
                try:
                    await self._opened(cluster)
                except ClusterNotFound:
                    _log.info("cluster=%s: connections closed, since it was removed from the console", cluster)
                except Exception as error:  # noqa: BLE001 - the top of a task; the look-up is passed in
                    _log.warning("cluster=%s: not looked up (%s)", cluster, error)

    def _lock(self, cluster: str) -> asyncio.Lock:
        return self._locks.setdefault(cluster, asyncio.Lock())


async def _close(found: _Open) -> None:
    if found.producer is not None:
        await found.producer.close()
    await found.session.close()


class _Process:
    """The state of this process: the look-up, the loop with its connections, and the process that owns them."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.find_cluster: FindCluster | None = None
        self.find_store_ids: FindStoreIds | None = None
        self.loop_thread: LoopThread | None = None
        self.connections: Connections | None = None

    def ensure_loop(self) -> LoopThread:
        """Return the access to the loop; start a loop in a thread if none is in use. The caller holds `guard`."""
        if self.loop_thread is None:
            self.loop_thread = LoopThread("console loop")
        return self.loop_thread

    def forget(self) -> None:
        """Reset the state in a forked child: loop and connections belong to the parent, and the lock may be held."""
        self.guard = threading.Lock()
        self.loop_thread = self.connections = None


_process = _Process()
os.register_at_fork(after_in_child=_process.forget)


def look_up_by(find_cluster: FindCluster, find_store_ids: FindStoreIds | None = None) -> None:
    """Set how this process looks up clusters, and what was seen in them; call it once, at start."""
    _process.find_cluster = find_cluster
    _process.find_store_ids = find_store_ids


def use(connections: Connections | None, loop: asyncio.AbstractEventLoop | None = None) -> None:
    """Let threads ask through `connections`, which live on `loop`; with None, forget them."""
    with _process.guard:
        _process.connections = connections
        _process.loop_thread = None if loop is None else LoopThread.on(loop)


def loop_thread() -> LoopThread:
    """Return the access of threads to the loop of this process."""
    with _process.guard:
        return _process.ensure_loop()


def ask(cluster: str, question: Callable[[Admin], Awaitable[T]], *, seconds: float = ASK_SECONDS) -> T:
    """Run `question` with the cluster's administration on the loop of the process, and wait for its answer here.

    Call it from a thread, never on the loop itself. Raises ClusterNotFound, ClusterSilent after `seconds`, and whatever
    the question raises.
    """

    async def answer(connections: Connections) -> T:
        return await question(await connections.admin(cluster))

    return _answered(cluster, answer, seconds)


def look_up_again(cluster: str) -> None:
    """Let this process use a cluster's new address at once; the others notice it within LOOK_UP_SECONDS."""
    with _process.guard:
        connections = _process.connections
    if connections is not None:
        connections.look_up_again(cluster)


async def admin_on_loop(cluster: str) -> Admin:
    """Return the cluster's administration to code that runs on the loop of the process; raise ClusterNotFound."""
    connections, _ = _connections_and_loop()
    return await connections.admin(cluster)


def send(cluster: str, message: Message) -> SendResult:
    """Send a message through the cluster's producer of this process; call it from a thread.

    Raises ClusterNotFound, ClusterSilent, after which the message may be stored all the same, and what
    `Producer.send` raises.
    """

    async def answer(connections: Connections) -> SendResult:
        return await (await connections.producer(cluster)).send(message)

    return _answered(cluster, answer, ASK_SECONDS)


def _answered(cluster: str, question: Callable[[Connections], Awaitable[T]], seconds: float) -> T:
    connections, loop_thread = _connections_and_loop()

    async def answer() -> T:
        async with asyncio.timeout(seconds):
            return await question(connections)

    try:
        return loop_thread.run(answer(), timeout_s=seconds + _GRACE_SECONDS)
    except (TimeoutError, CallTimedOut):
        raise ClusterSilent(cluster, seconds) from None


def _connections_and_loop() -> tuple[Connections, LoopThread]:
    with _process.guard:
        if _process.connections is None:
            if _process.find_cluster is None:
                raise RuntimeError("no look-up of clusters is set: call look_up_by() first")
            _process.connections = Connections(_process.find_cluster, _process.find_store_ids)
        return _process.connections, _process.ensure_loop()
