"""Whether the broker at an address is the one that was seen there: each new connection is examined before it is used.

An address is all that a route or the memory says of a broker. When its broker has died, another instance may listen
there, even under the same name, and would be shown and changed in its place. A broker of Gantry tells an identity of
its data folder; one of Apache RocketMQ tells none, and is not examined.

Where controllers choose the master, each replica has a data folder of its own, so after a switch the address of the
name is that of another folder. Then a controller tells whether it is a replica of the same name.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.errors import AccessDenied, MalformedAnswer, OtherBroker, Unreachable, refusal
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.bodies.replicas import EpochEntryCache
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.controller import GetBrokerEpochCacheRequest
from broker_core.protocol.headers.routes import GetBrokerClusterInfoRequest
from broker_core.remoting.connection import Connection
from broker_core.remoting.errors import RemotingError

_ASK_MS: Final = 3_000
# A name server lists a broker that has just died for a moment longer.
SETTLE_SECONDS: Final = 2.0
# After so long without a question nothing says that the stranger was there all the time.
_LAPSE_SECONDS: Final = 10.0

SeenAt = Mapping[str, Mapping[str, str]]
"""The identities that were seen at each address, and the broker name that each belongs to."""
FindStoreIds = Callable[[str], Awaitable[SeenAt]]
"""Returns what was seen in a cluster; raises IdentitiesUnknown."""


class IdentitiesUnknown(GantryError):
    """What was seen in a cluster cannot be read now."""

    def __init__(self, cluster: str) -> None:
        super().__init__(f"the brokers that were seen in cluster {cluster!r} cannot be read")


@dataclass(slots=True)
class _Stranger:
    store_id: str | None
    since: float
    last: float


class Identities:
    """Examines the connections of one cluster's session."""

    def __init__(self, cluster: str, find: FindStoreIds, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._cluster = cluster
        self._find = find
        self._clock = clock
        self._session: Session | None = None
        self._seen: SeenAt | None = None
        self._strangers: dict[str, _Stranger] = {}

    def examine_for(self, session: Session) -> None:
        """Set the session whose connections these are: its name servers have the last word."""
        self._session = session

    async def accept(self, addr: str, connection: Connection) -> None:
        """Raise OtherBroker if a data folder was seen at the address and another one is there now, or none is told.

        A changed one is accepted where a controller knows it as a replica of the name that was seen, or where a name
        server still lists a broker there after a while: the folder was replaced.
        """
        expected = await self._expected(addr)
        if not expected:
            return
        told = await self._told(addr, connection)
        if told in expected:
            self._strangers.pop(addr, None)
            return
        if await self._is_replica(addr, connection, expected.values()):
            return
        if not self._has_settled(addr, told) or not await self._is_listed(addr):
            raise OtherBroker(addr)

    async def _expected(self, addr: str) -> dict[str, str]:
        try:
            self._seen = await self._find(self._cluster)
        except IdentitiesUnknown as error:
            if self._seen is None:
                raise Unreachable(addr, str(error)) from error
        found: dict[str, str] = {}
        for known, names in self._seen.items():
            if self._reached_at(known) == addr:
                found.update(names)
        return found

    def _has_settled(self, addr: str, told: str | None) -> bool:
        now = self._clock()
        stranger = self._strangers.get(addr)
        if stranger is None or stranger.store_id != told or now - stranger.last > _LAPSE_SECONDS:
            stranger = self._strangers[addr] = _Stranger(told, now, now)
        stranger.last = now
        return now - stranger.since >= SETTLE_SECONDS

    async def _is_listed(self, addr: str) -> bool:
        assert self._session is not None
        try:
            answer = await self._session.ask_name_server(GetBrokerClusterInfoRequest())
            table = coder.decode(ClusterInfo, answer.body).broker_addr_table
        except (GantryError, ProtocolError):  # then nobody says that it belongs here
            return False
        return any(self._reached_at(each) == addr for broker in table.values() for each in broker.broker_addrs.values())

    def _reached_at(self, addr: str) -> str:
        assert self._session is not None
        return self._session.config.address_map.get(addr, addr)

    async def _is_replica(self, addr: str, connection: Connection, names: Iterable[str]) -> bool:
        """Return whether it says that it is a replica of one of these names, and a controller knows it at the address.

        Without a controller, and with one that knows less than the broker did, nothing is known of it.
        """
        assert self._session is not None
        answer = await self._ask(addr, connection, GetBrokerEpochCacheRequest())
        if answer.code != ResponseCode.SUCCESS:
            return False
        try:
            told = coder.decode(EpochEntryCache, answer.body)
            if told.broker_name not in names:
                return False
            known = await Admin(self._session).replication.state(told.broker_name)
        except (GantryError, ProtocolError):  # then nobody says that it belongs here
            return False
        replica = known.state.replicas.get(told.broker_id)
        is_known = replica is not None and self._reached_at(replica.address) == addr
        return is_known and known.state.cluster == told.cluster_name and not known.is_set_back

    async def _told(self, addr: str, connection: Connection) -> str | None:
        """Return the identity that the broker tells; None if it tells none."""
        answer = await self._ask(addr, connection, GetBrokerRuntimeInfoRequest())
        if answer.code != ResponseCode.SUCCESS:
            refused = refusal(answer.code, answer.remark, addr)
            if isinstance(refused, AccessDenied):
                raise refused
            return None
        try:
            return BrokerRuntime(coder.decode(KVTable, answer.body).table).store_id
        except ProtocolError as error:
            raise MalformedAnswer(addr, str(error)) from error

    async def _ask(self, addr: str, connection: Connection, header: object) -> Command:
        assert self._session is not None
        request, credentials = Command.request(header), self._session.config.credentials
        if credentials is not None:
            credentials.sign(request)
        try:
            return await connection.invoke(request, _ASK_MS)
        except RemotingError as error:
            raise Unreachable(addr, str(error)) from error
