"""Shared by producers, consumers and administration of one cluster: connections, routes, heartbeats."""

from __future__ import annotations

import time
from collections.abc import Collection
from types import TracebackType
from typing import Final, Self

from broker_core.client.absent_brokers import AbsentBrokers
from broker_core.client.answers import ask_all
from broker_core.client.broker_calls import BrokerCalls
from broker_core.client.config import ClientConfig
from broker_core.client.errors import (
    ClientClosed,
    ClientError,
    NoRoute,
    TimedOut,
    TopicNotFound,
    TopicsUnknown,
    Unreachable,
    refusal,
)
from broker_core.client.masters import Masters, is_of_former
from broker_core.client.members import ClientMembers
from broker_core.client.name_servers import NameServers
from broker_core.client.retry import fair_ms
from broker_core.client.routes import MASTER_ID, Recall, Routes
from broker_core.client.tasks import Tasks
from broker_core.logs import get_logger
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.bodies.routes import BrokerData, TopicRouteData
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers.clients import HeartBeatRequest, UnregisterClientRequest
from broker_core.protocol.headers.routes import GetBrokerClusterInfoRequest, GetRouteInfoRequest
from broker_core.protocol.topics import is_dead_letter_topic, is_retry_topic
from broker_core.remoting.client import Accept, RemotingClient
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Dispatch
from broker_core.remoting.errors import Overloaded, RemotingError, RemotingTimeout

_LATE_IN_A_ROW: Final = 3
_UNANSWERED: Final = f"{_LATE_IN_A_ROW} calls in a row were not answered"
_LEAVE_TIMEOUT_MS: Final = 1_000
SILENT_MS: Final = 1_000
"""After so long without a byte a master that owes answers may have a successor."""

_log = get_logger(__name__)


class Session:
    """One client of one cluster, with one connection per address.

    A session belongs to the event loop it was started on.
    """

    def __init__(self, config: ClientConfig, *, accept: Accept | None = None, recall: Recall | None = None) -> None:
        """`accept` examines each new connection to a broker before it is used; what it raises, calls raise.

        `recall` tells the last known route of a topic to sends that need it first while no name server answers.
        """
        self.config = config
        self._accept = accept
        self.tasks = Tasks(f"client {config.client_id}")
        self.members = ClientMembers(config.client_id)
        dispatch = Dispatch()
        BrokerCalls(self.members, config.credentials).register(dispatch)
        self._remoting = RemotingClient(on_request=dispatch, tls=config.tls, accept=self._examine)
        self.name_servers = NameServers(config.name_servers, self.invoke)
        self.routes = Routes(self._ask_route, self.tasks, on_new_brokers=self.greet)
        self.routes.recall = recall
        self.routes.on_moved = self._leave_former
        self.masters = Masters(self.routes, self.tasks, self._list_brokers)
        self.absent = AbsentBrokers(self.routes, self.tasks, self._list_brokers)
        self._running = False
        self._why_not = "the session is not started"
        self._late: dict[str, int] = {}
        self._greeted: set[str] = set()

    @property
    def client_id(self) -> str:
        """The name under which brokers know this client."""
        return self.config.client_id

    async def start(self) -> Self:
        """Start refreshing routes and sending heartbeats; nothing is requested yet, so this never waits."""
        self._running = True
        self.tasks.every("refresh routes", self.config.route_refresh_ms, self.routes.refresh_all)
        self.tasks.every("heartbeat", self.config.heartbeat_ms, self.heartbeat)
        self.tasks.every("silent masters", SILENT_MS, self._look_for_masters)
        return self

    async def close(self) -> None:
        """Stop background work and close connections. Close producers and consumers first."""
        self._running = False
        self._why_not = "the session is closed"
        await self.tasks.close()
        await self._remoting.close()

    def abandon(self) -> None:
        """Refuse every call from now on and drop the connections: after a fork they belong to the parent."""
        self._running = False
        self._why_not = "the session belongs to the parent process; create a new one after a fork"
        self._remoting.forget_all()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def invoke(
        self,
        addr: str,
        header: object,
        body: bytes = b"",
        *,
        timeout_ms: int | None = None,
        connect_ms: int | None = None,
        code: int | None = None,
    ) -> Command:
        """Send one request and return its answer, of any code; raise Unreachable or TimedOut.

        The time to connect is included, and may have a shorter limit of its own.
        """
        timeout = left_ms = self.config.timeout_ms if timeout_ms is None else timeout_ms
        connection, begin = self._remoting.find_connection(self._reached_at(addr)), time.monotonic()
        if connection is None:
            connection = await self._connect(addr, timeout if connect_ms is None else connect_ms)
            left_ms = max(1, timeout - int((time.monotonic() - begin) * 1000))
        try:
            answer = await connection.invoke(self._request(header, body, code), left_ms)
        except RemotingTimeout as error:
            self._note_late(addr)
            self.masters.note_away(addr)
            raise self.named(TimedOut(addr, timeout), addr) from error
        except RemotingError as error:
            self.masters.note_away(addr)
            if connection.close_reason == _UNANSWERED:  # closed here: the peer was silent, and closed nothing
                waited_ms = round(time.monotonic() - begin, 1) * 1_000
                raise self.named(TimedOut(addr, max(100, int(waited_ms))), addr) from error
            lost = Unreachable(addr, str(error), was_sent=not isinstance(error, Overloaded))
            raise self.named(lost, addr) from error
        if self._late:
            self._late.pop(addr, None)
        if answer.code == ResponseCode.SERVICE_NOT_AVAILABLE:
            self.masters.note_away(addr)
        return answer

    async def ask_master(
        self, broker_name: str, topic: str, header: object, body: bytes = b"", *, is_repeatable: bool = True
    ) -> tuple[str, Command]:
        """Ask the master of a broker, and its successor if that one fails or is none; return who answered, and what.

        All together may take `timeout_ms` of the session. What may have been done is asked again only if it is
        repeatable. Raises NoRoute if there is no master, Unreachable or TimedOut.
        """

        def is_last() -> bool:
            return not self.masters.may_move(broker_name) or time.monotonic() + fair_s >= deadline

        deadline = time.monotonic() + self.config.timeout_ms / 1000
        fair_s = fair_ms(self.config.timeout_ms) / 1000
        while True:
            outcome: tuple[str, Command] | ClientError
            try:
                addr = await self.master_of(broker_name)
                if addr is None:
                    raise NoRoute(topic, f"no master of broker {broker_name!r} is known")
                left_ms = max(1, int((deadline - time.monotonic()) * 1000))
                answer = await self.invoke(addr, header, body, timeout_ms=left_ms)
                outcome = addr, answer
                if not is_of_former(answer) or is_last():
                    return outcome
            except (Unreachable, NoRoute) as error:
                if is_last() or (isinstance(error, Unreachable) and error.was_sent and not is_repeatable):
                    raise
                outcome = error
            await self.masters.renew(broker_name)
            if is_last():
                if isinstance(outcome, ClientError):
                    raise outcome
                return outcome

    async def call(
        self,
        addr: str,
        header: object,
        body: bytes = b"",
        *,
        timeout_ms: int | None = None,
        topic: str | None = None,
    ) -> Command:
        """Send one request and return its successful answer; raise the error of a refusal (client/errors.py)."""
        answer = await self.invoke(addr, header, body, timeout_ms=timeout_ms)
        if answer.code != ResponseCode.SUCCESS:
            raise self.named(refusal(answer.code, answer.remark, addr, topic=topic), addr)
        return answer

    def named(self, error: ClientError, addr: str) -> ClientError:
        """Return the error of a peer with what is known of that address: the broker's name, or a name server."""
        error.at_name_server = addr in self.name_servers.addresses
        error.broker_name = self.routes.name_at(addr)
        return error

    async def one_way(self, addr: str, header: object, body: bytes = b"", *, code: int | None = None) -> None:
        """Send one request without an answer; raise Unreachable if it cannot be sent."""
        connection = self._remoting.find_connection(self._reached_at(addr)) or await self._connect(
            addr, self.config.timeout_ms
        )
        try:
            connection.send(self._request(header, body, code, one_way=True))
        except RemotingError as error:
            raise self.named(Unreachable(addr, str(error)), addr) from error

    async def master_of(self, broker_name: str) -> str | None:
        """Return the address of a broker's master; if no route has it, a name server is asked for the whole cluster."""
        addr = self.routes.master(broker_name)
        if addr is None:
            for broker in await self._list_brokers():
                self.routes.learn(broker)
            addr = self.routes.master(broker_name)
        return addr

    async def ask_name_server(self, header: object, *, topic: str | None = None) -> Command:
        """Send a request to any name server and return its successful answer; raise like `call`."""
        addr, answer = await self.name_servers.ask(header)
        if answer.code != ResponseCode.SUCCESS:
            error = refusal(answer.code, answer.remark, addr, topic=topic)
            error.of_name_server = True
            raise error
        return answer

    async def heartbeat(self) -> None:
        """Send this client's groups to every broker while it consumes, or only to masters while it just produces."""
        if not self.members:
            return
        body = coder.encode(self.members.heartbeat())
        addresses = self.routes.addresses(masters_only=not self.members.consumers)
        if self.members.checkers:
            # A half message of an earlier member may be with a broker to which this client has sent nothing.
            addresses += await self._masters()
        self._greeted = set(addresses)
        answers = await ask_all(addresses, lambda addr: self.call(addr, HeartBeatRequest(), body))
        for addr, error in answers.failed.items():
            _log.warning("%s: heartbeat to %s failed: %s", self.client_id, addr, error)

    async def _masters(self) -> list[str]:
        """Return the masters of the cluster as far as a name server tells them."""
        try:
            brokers = await self._list_brokers()
        except (ClientError, MalformedBody) as error:
            _log.warning("%s: a heartbeat goes to known brokers only: %s", self.client_id, error)
            return []
        return [addr for broker in brokers if (addr := broker.broker_addrs.get(MASTER_ID)) is not None]

    async def _list_brokers(self) -> Collection[BrokerData]:
        answer = await self.ask_name_server(GetBrokerClusterInfoRequest())
        return coder.decode(ClusterInfo, answer.body).broker_addr_table.values()

    async def leave(self, *, producer_group: str | None = None, consumer_group: str | None = None) -> None:
        """Unregister this client's group from every broker that may know it; unreachable brokers notice later."""
        header = UnregisterClientRequest(self.client_id, producer_group, consumer_group)
        addresses = self._greeted.union(self.routes.addresses(masters_only=False))
        await ask_all(addresses, lambda addr: self.call(addr, header, timeout_ms=_LEAVE_TIMEOUT_MS))

    def _request(self, header: object, body: bytes, code: int | None, *, one_way: bool = False) -> Command:
        request = Command.request(header, body, one_way=one_way, code=code)
        credentials = self.config.credentials
        return request if credentials is None else credentials.sign(request)

    async def _connect(self, addr: str, timeout_ms: int) -> Connection:
        if not self._running:
            raise ClientClosed(self._why_not)
        try:
            return await self._remoting.connection(self._reached_at(addr), timeout_ms)
        except RemotingError as error:
            self.masters.note_away(addr)
            raise self.named(Unreachable(addr, str(error)), addr) from error
        except ClientError as error:
            self.named(error, addr)
            raise

    async def _examine(self, addr: str, connection: Connection) -> None:
        if self._accept is not None and addr not in map(self._reached_at, self.name_servers.addresses):
            await self._accept(addr, connection)

    def _reached_at(self, addr: str) -> str:
        return self.config.address_map.get(addr, addr)

    def _note_late(self, addr: str) -> None:
        """Close a connection on which no answers arrive any more: its peer may have disappeared."""
        self._late[addr] = self._late.get(addr, 0) + 1
        connection = self._remoting.find_connection(self._reached_at(addr))
        if self._late[addr] >= _LATE_IN_A_ROW and connection is not None:
            del self._late[addr]
            connection.close(_UNANSWERED)

    async def _look_for_masters(self) -> None:
        """Ask for the routes of brokers whose master is away, or owes answers and is silent."""
        for name in tuple(self.routes.replicated):
            if self._may_be_lost(self.routes.master(name)):
                await self.masters.renew(name)

    def _may_be_lost(self, master: str | None) -> bool:
        if master is None:
            return True
        connection = self._remoting.find_connection(self._reached_at(master))
        return connection is not None and connection.pending_calls > 0 and connection.silent_ms >= SILENT_MS

    def _leave_former(self, addr: str) -> None:
        """Close the connection to a former master: one that hangs would never answer what it still owes."""
        connection = self._remoting.find_connection(self._reached_at(addr))
        if connection is not None:
            connection.close("another broker is the master")

    def greet(self) -> None:
        """Send a heartbeat soon: new groups and new brokers should not wait for the timer."""
        if self._running and self.members:
            self.tasks.start("greet new brokers", self.heartbeat())

    async def _ask_route(self, topic: str) -> TopicRouteData:
        try:
            answer = await self.ask_name_server(GetRouteInfoRequest(topic=topic), topic=topic)
        except TopicNotFound:
            # What a group has of its own need not exist: a member starts without it, and asks nothing more.
            if not is_retry_topic(topic):
                await self._check_topics_are_known(topic)
            raise
        return coder.decode(TopicRouteData, answer.body)

    async def _check_topics_are_known(self, topic: str) -> None:
        """Raise TopicsUnknown if the name server cannot know this one: it was just started, and masters tell topics."""
        brokers = await self._list_brokers()
        has_master = any(MASTER_ID in each.broker_addrs for each in brokers)
        if not brokers or not (has_master or is_dead_letter_topic(topic)):
            raise TopicsUnknown(*sorted(each.broker_name for each in brokers), topic=topic)
