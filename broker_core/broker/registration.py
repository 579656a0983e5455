"""Registering this broker and its topics with every name server (broker/README.md#registration).

The broker registers at the start, every 30 s, and at once when topics change. A name server that has all topics gets
only the changed ones, after a check that it still has the others; one that restarted or dropped this broker gets all of
them. One to which the connection is lost is tried again every second, since a name server that restarted knows no
topic until this broker has told it; only the change between reachable and unreachable is logged.

The id is that of the role at the moment. The answers tell a slave where its master is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from zlib import crc32

from broker_core.broker.config import MASTER_ID, Identity
from broker_core.broker.replication.standing import Standing
from broker_core.broker.role import Role, RoleKind, Roles
from broker_core.broker.topics import READ_WRITE, Topics
from broker_core.logs import get_logger
from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable, RegisterBrokerBody, TopicRouteData
from broker_core.protocol.bodies.topics import DataVersion, TopicConfigSerializeWrapper
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers.routes import (
    GetRouteInfoRequest,
    QueryDataVersionRequest,
    QueryDataVersionResponse,
    RegisterBrokerRequest,
    RegisterBrokerResponse,
    UnregisterBrokerRequest,
)
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError

_CRC_MASK: Final = 0x7FFFFFFF
_UNREGISTER_TIMEOUT_MS: Final = 3_000
_LOOK_TIMEOUT_MS: Final = 1_000
_RETURN_SECONDS: Final = 1.0
"""How long after a failure a name server without a connection is tried again."""
_DEFEND_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 1.0
"""How long an answer waits for the name servers to learn of a new topic; clients time out after three seconds."""

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MasterPlace:
    """Where a slave finds its master: the main port, and that of the replication stream."""

    address: str
    ha_address: str


class Registration:
    """This broker's entry at all its name servers; while the role is fenced it has none."""

    def __init__(
        self,
        identity: Identity,
        address: str,
        topics: Topics,
        name_servers: Sequence[str],
        remoting: RemotingClient,
        *,
        roles: Roles,
        standing: Standing,
        on_master: Callable[[MasterPlace], None] | None = None,
        permission: int = READ_WRITE,
        timeout_ms: int,
        clock: Callable[[], int],
    ) -> None:
        """`on_master` is called when `master` has changed."""
        self._identity = identity
        self._address = address
        self._topics = topics
        self._name_servers = name_servers
        self._remoting = remoting
        self.permission = permission  # of the broker: without both bits it overrides every topic's
        self._timeout_ms = timeout_ms
        self._clock = clock
        # The version of our topics that each name server accepted last.
        self._told: dict[str, DataVersion] = {}
        self._wanted = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []
        self._unreachable: set[str] = set()
        self._has_left = False
        # Two registrations at one name server at once would not know what the other one tells it.
        self._turns = {server: asyncio.Lock() for server in name_servers}
        self._standing = standing
        self._roles = roles
        self._role = roles.now
        # Under which role each name server was told of this broker last, whatever became of it.
        self._told_as: dict[str, Role] = {}
        self.master: MasterPlace | None = None
        """Where the master is, as the name servers told this slave last."""
        self._on_master = on_master
        roles.watch(self._follow_role)
        standing.watch(self.want)

    def want(self) -> None:
        """Request a registration soon: a topic was created, changed or deleted."""
        self._wanted.set()

    def want_all(self) -> None:
        """Request a registration soon that tells all topics, whatever the name servers have."""
        self._told.clear()
        self._wanted.set()

    async def wait(self) -> None:
        """Return when a registration that starts from now on has ended, or after a second."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self._wanted.set()
        await asyncio.wait((waiting,), timeout=_PATIENCE_SECONDS)

    async def run(self, period_ms: int) -> None:
        """Register every `period_ms`, on request, and where a connection was lost, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._run(period_ms), name="registration: periodic")
            tasks.create_task(self._return(), name="registration: lost name servers")
            tasks.create_task(self._defend(), name="registration: place of the master")

    async def _return(self) -> None:
        while True:
            await asyncio.sleep(_RETURN_SECONDS)
            lost = [server for server in self._name_servers if self._remoting.find_connection(server) is None]
            answers = await asyncio.gather(*(self._register_with(server) for server in lost))
            if self.master is None:
                self._believe(answers)

    async def _defend(self) -> None:
        while True:
            await asyncio.sleep(_DEFEND_SECONDS)
            await self.defend()

    async def defend(self) -> None:
        """Register again where another process has the id of this master, whose role controllers decided.

        A name server of 4.9 keeps the last one that comes, which may be a former master that was stopped and woke up.
        """
        role = self._roles.now
        if role.is_master and role.epoch is not None and not self._has_left:
            await asyncio.gather(*(self._defend_at(server) for server in self._name_servers))

    async def _defend_at(self, server: str) -> None:
        holder = await self._master_at(server)
        if holder is not None and holder != self._address and self._roles.now.is_master:
            _log.warning("nameserver=%s: it tells %s as the master, not this one", server, holder or "nobody")
            self._told.pop(server, None)
            await self._register_with(server)

    async def _master_at(self, server: str) -> str | None:
        """Return whom the route of the broker's own topic has as master, empty for nobody; None if it is not told."""
        request = Command.request(GetRouteInfoRequest(self._identity.name))
        try:
            answer = await self._remoting.invoke(server, request, _LOOK_TIMEOUT_MS)
            if answer.code != ResponseCode.SUCCESS:
                return None
            brokers = bodies.decode(TopicRouteData, answer.body).broker_datas
        except (RemotingError, MalformedBody):  # a registration says it
            return None
        own = next((each for each in brokers if each.broker_name == self._identity.name), None)
        return None if own is None else own.broker_addrs.get(MASTER_ID, "")

    async def _run(self, period_ms: int) -> None:
        while True:
            try:
                async with asyncio.timeout(period_ms / 1000):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            # Code that created a topic in this turn of the loop waits for it in the next: one registration covers all.
            await asyncio.sleep(0)
            self._wanted.clear()
            waiting, self._waiting = self._waiting, []
            await self.register()
            for each in waiting:
                each.set_result(None)

    async def register(self) -> int:
        """Send every name server what it does not have yet; return how many accepted it."""
        answers = await asyncio.gather(*(self._register_with(server) for server in self._name_servers))
        self._believe(answers)
        return sum(answer is not None for answer in answers)

    async def _register_with(self, server: str) -> Command | None:
        """Register with one name server: with the changed topics if it still has the others, else with all of them."""
        async with self._turns[server]:
            role = self._roles.now
            if self._has_left or (role.is_master and not self._standing.is_sure()):
                return None
            if role.kind is RoleKind.FENCED:
                await self._leave_fenced(server)
                return None
            self._told_as[server] = role
            return await self._tell(server, role)

    def _follow_role(self, role: Role) -> None:
        """Register anew under another id or epoch."""
        before, self._role = self._role, role
        if (role.kind, *_place(role)) != (before.kind, *_place(before)):
            self.want_all()

    async def _leave_fenced(self, server: str) -> None:
        """Unregister a fenced slave; a master's id may be another one's by now, and 4.9 would remove that."""
        before = self._told_as.pop(server, None)
        if before is not None and not before.is_master:
            await self._leave(server, before)

    async def _tell(self, server: str, role: Role) -> Command | None:
        known = self._told.pop(server, None)
        if known is not None and not await self._has(server, known, role):
            known = None
        wrapper = self._topics.wrapper() if known is None else self._topics.changed_since(known)
        if self.permission & READ_WRITE != READ_WRITE:
            wrapper = self._narrowed(wrapper)
        body = bodies.encode(RegisterBrokerBody(replace(wrapper, data_version=_stated(wrapper.data_version, role))))
        host, _, port = self._address.rpartition(":")
        header = RegisterBrokerRequest(
            self._identity.name,
            self._address,
            self._identity.cluster,
            role.broker_id,
            ha_server_addr=f"{host}:{int(port) + 1}",
            body_crc32=crc32(body) & _CRC_MASK,
        )
        answer = await self._ask(server, Command.request(header, body), self._timeout_ms)
        if answer is not None and _place(role) == _place(self._roles.now):
            self._told[server] = wrapper.data_version
        return answer

    async def _has(self, server: str, version: DataVersion, role: Role) -> bool:
        """Return whether a name server has a version of our topics; the query also counts as a heartbeat."""
        identity = self._identity
        header = QueryDataVersionRequest(identity.name, self._address, identity.cluster, role.broker_id)
        request = Command.request(header, bodies.encode(_stated(version, role)))
        answer = await self._ask(server, request, _LOOK_TIMEOUT_MS)
        return answer is not None and not answer.header(QueryDataVersionResponse).changed

    async def unregister(self) -> None:
        """Unregister from all name servers for good, so that clients leave before the sockets close."""
        self._has_left = True
        self._told.clear()
        told = self._told_as.items()
        await asyncio.gather(*(self._leave(server, role) for server, role in told if not self._is_over(role)))

    def _is_over(self, told: Role) -> bool:
        """Return whether a name server knows of a mastership that ended: 4.9 would remove the successor's address."""
        return told.is_master and told.epoch is not None and _place(told) != _place(self._roles.now)

    async def _leave(self, server: str, role: Role) -> None:
        identity = self._identity
        header = UnregisterBrokerRequest(identity.name, self._address, identity.cluster, role.broker_id)
        await self._ask(server, Command.request(header), _UNREGISTER_TIMEOUT_MS)

    async def _ask(self, server: str, request: Command, timeout_ms: int) -> Command | None:
        try:
            answer = await self._remoting.invoke(server, request, timeout_ms)
        except RemotingError as error:
            self._note_failure(server, str(error))
            return None
        if answer.code != ResponseCode.SUCCESS:
            self._note_failure(server, f"code {answer.code}: {answer.remark}")
            return None
        if server in self._unreachable:
            self._unreachable.discard(server)
            _log.info("nameserver=%s: reachable again", server)
        return answer

    def _note_failure(self, server: str, reason: str) -> None:
        if server not in self._unreachable:
            self._unreachable.add(server)
            _log.warning("nameserver=%s: this broker could not be registered: %s", server, reason)

    def _narrowed(self, wrapper: TopicConfigSerializeWrapper) -> TopicConfigSerializeWrapper:
        """Return the topics with the broker's permission in place of their own."""
        topics = wrapper.topic_config_table.items()
        return TopicConfigSerializeWrapper(
            wrapper.data_version, {name: replace(topic, perm=self.permission) for name, topic in topics}
        )

    def _believe(self, answers: Sequence[Command | None]) -> None:
        """Take what the first name server that answered says, as RocketMQ does."""
        answer = next((answer for answer in answers if answer is not None), None)
        if answer is None:
            return
        if self._roles.now.is_master:
            self._apply_order(answer)
        else:
            self._note_master(answer.header(RegisterBrokerResponse))

    def _note_master(self, told: RegisterBrokerResponse) -> None:
        """Keep where the master is; one that a name server does not know at the moment stays where it was."""
        if not told.master_addr or not told.ha_server_addr:
            return
        master = MasterPlace(told.master_addr, told.ha_server_addr)
        if master != self.master:
            self.master = master
            if self._on_master is not None:
                self._on_master(master)

    def _apply_order(self, answer: Command) -> None:
        """Update which topics are ordered; a name server without that table is ignored."""
        if not answer.body:
            return
        try:
            table = bodies.decode(KVTable, answer.body).table
        except MalformedBody as error:
            _log.warning("nameserver: the table of ordered topics cannot be read: %s", error)
            return
        self._topics.apply_order(table.keys(), now=self._clock())


def _place(role: Role) -> tuple[int, int | None]:
    """Return the id and the epoch under which a broker is registered."""
    return role.broker_id, role.epoch


def _stated(version: DataVersion, role: Role) -> DataVersion:
    """Return a version that also tells the epoch: name servers keep the place of the newest master by it."""
    return version if role.epoch is None else replace(version, state_version=role.epoch)
