"""Peers that answer what a test tells them: real servers on real sockets, for faults that a good broker does not have.

::

    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders", queues=2)
        cluster["broker-a"].on(RequestCode.SEND_MESSAGE_V2, refuse(ResponseCode.SERVICE_NOT_AVAILABLE))
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.bodies.routes import BrokerData, QueueData, TopicRouteData
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Dispatch, Handler
from broker_core.remoting.server import Server


@dataclass
class Peer:
    """One server; `requests` holds everything it was asked, in order."""

    name: str
    dispatch: Dispatch = field(default_factory=Dispatch)
    requests: list[Command] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    server: Server | None = None

    def __post_init__(self) -> None:
        self.dispatch.before(self._note)

    @property
    def addr(self) -> str:
        """Its ``host:port``."""
        assert self.server is not None, "not started"
        return f"127.0.0.1:{self.server.port}"

    def on(self, code: int, handler: Handler) -> None:
        """Answer requests with `code` by `handler` from now on."""
        self.dispatch.register(code, handler)

    def asked(self, code: int) -> list[Command]:
        """Return the requests with `code`."""
        return [request for request in self.requests if request.code == code]

    async def start(self) -> None:
        """Listen on a port that the system chooses."""
        self.server = Server(self.dispatch)
        await self.server.start()

    async def stop(self) -> None:
        """Close the port and every connection at once."""
        if self.server is not None:
            await self.server.close(0)

    def _note(self, request: Command, connection: Connection) -> None:
        self.requests.append(request)
        if connection not in self.connections:
            self.connections.append(connection)


class Cluster:
    """A name server and brokers of the given names, all scripted."""

    def __init__(self, *broker_names: str) -> None:
        self.name_server = Peer("name server")
        self.brokers = {name: Peer(name) for name in broker_names}
        self.routes: dict[str, TopicRouteData] = {}
        self._announced: dict[str, str] = {}
        self._listed: dict[str, BrokerData] = {}
        self.without_master: set[str] = set()
        """Brokers that the name server lists with a slave alone, in routes made from now on too."""
        self.name_server.on(RequestCode.GET_ROUTEINFO_BY_TOPIC, self._route)
        self.name_server.on(RequestCode.GET_BROKER_CLUSTER_INFO, self._cluster_info)
        for peer in self.brokers.values():
            peer.on(RequestCode.HEART_BEAT, succeed())
            peer.on(RequestCode.UNREGISTER_CLIENT, succeed())

    def __getitem__(self, broker_name: str) -> Peer:
        return self.brokers[broker_name]

    def announce(self, broker_name: str, addr: str) -> None:
        """Give clients this address of a broker, whether it is reachable or not."""
        self._announced[broker_name] = addr

    def add_topic(self, topic: str, *, queues: int = 4, perm: int = 6, on: tuple[str, ...] = ()) -> None:
        """Give every broker that is listed, or those named, queues of `topic`."""
        names = on or tuple(self._listed or self.brokers)
        self.routes[topic] = TopicRouteData(
            broker_datas=[self._broker_data(name) for name in names],
            queue_datas=[QueueData(name, queues, queues, perm) for name in names],
        )

    def list_as(self, broker_name: str, *peers: str | None) -> None:
        """List one broker name, whose master is the first of these peers and whose slaves are the others.

        With None for a peer nobody has its id. Topics that are added from now on are on this name.
        """
        addrs = {number: self.brokers[peer].addr for number, peer in enumerate(peers) if peer is not None}
        self._listed = {broker_name: BrokerData(broker_name, "test", addrs)}

    def _broker_data(self, name: str) -> BrokerData:
        if name in self._listed:
            return self._listed[name]
        addr = self._announced.get(name, self.brokers[name].addr)
        return BrokerData(name, "test", {1 if name in self.without_master else 0: addr})

    def _route(self, request: Command, _: Connection) -> Command:
        topic = request.header(GetRouteInfoRequest).topic
        if topic not in self.routes:
            return Command.response(ResponseCode.TOPIC_NOT_EXIST, remark=f"No topic route info for {topic}")
        return Command.response(ResponseCode.SUCCESS, body=coder.encode_strict(self.routes[topic]))

    def _cluster_info(self, _request: Command, _: Connection) -> Command:
        table = self._listed or {name: self._broker_data(name) for name in self.brokers}
        info = ClusterInfo(broker_addr_table=table, cluster_addr_table={"test": list(table)})
        return Command.response(ResponseCode.SUCCESS, body=coder.encode(info))


@asynccontextmanager
async def scripted_cluster(*broker_names: str) -> AsyncIterator[Cluster]:
    """Start a scripted cluster and stop it at the end."""
    cluster = Cluster(*broker_names or ("broker-a",))
    peers = [cluster.name_server, *cluster.brokers.values()]
    try:
        for peer in peers:
            await peer.start()
        yield cluster
    finally:
        await asyncio.gather(*(peer.stop() for peer in peers))


def succeed(make: Callable[[Command], Command] | None = None) -> Handler:
    """Answer with success, or with what `make` returns for the request."""

    def handler(request: Command, _: Connection) -> Command:
        return Command.response(ResponseCode.SUCCESS) if make is None else make(request)

    return handler


def refuse(code: int, remark: str = "as the test says") -> Handler:
    """Answer with an error code."""

    def handler(_request: Command, _: Connection) -> Command:
        return Command.response(code, remark=remark)

    return handler


def say_nothing() -> Handler:
    """Never answer."""

    def handler(_request: Command, _: Connection) -> None:
        return None

    return handler


def hang_up() -> Handler:
    """Close the connection instead of answering."""

    def handler(_request: Command, connection: Connection) -> None:
        connection.abort("as the test says")

    return handler


def in_turn(*handlers: Handler) -> Handler:
    """Use one handler after the other, and the last one from then on."""
    left = list(handlers)

    def handler(request: Command, connection: Connection) -> Command | None:
        chosen = left.pop(0) if len(left) > 1 else left[0]
        answer = chosen(request, connection)
        assert answer is None or isinstance(answer, Command), "plain handlers only"
        return answer

    return handler
