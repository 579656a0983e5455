"""Requests that only the master serves, sent on to it by a slave (broker/replication/README.md#forwarding).

A slave answers with what the master answers. Nothing is sent on twice: what was forwarded here is not forwarded again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from broker_core.broker.access.forwarded import ACCOUNT, CLIENT, is_forwarded
from broker_core.broker.access.permits import Permits
from broker_core.broker.errors import NotAnswered, NotMaster
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.replication.peers import Peers
from broker_core.broker.role import Role, RoleKind, Roles
from broker_core.clock import boot_seconds
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.command import Command
from broker_core.protocol.signature import ACCESS_KEY, SECURITY_TOKEN, SIGNATURE
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Handler
from broker_core.remoting.errors import Overloaded, RemotingError

FORWARDED: Final = frozenset(
    {
        RequestCode.SEND_MESSAGE,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.SEND_BATCH_MESSAGE,
        RequestCode.CONSUMER_SEND_MSG_BACK,
        RequestCode.LOCK_BATCH_MQ,
        RequestCode.UNLOCK_BATCH_MQ,
    }
)

TIMEOUT_MS: Final = 2_500
"""From when a request came to the master's answer: clients give up after three seconds, and would not learn why."""

_SIGNED: Final = frozenset({ACCESS_KEY, SIGNATURE, SECURITY_TOKEN})


class Forwarding:
    """Sends requests of clients on to the master, as long as controllers decide who that is."""

    def __init__(
        self,
        roles: Roles,
        peers: Peers,
        permits: Permits,
        *,
        limits: BrokerLimits,
        is_on: bool,
        clock: Callable[[], float] = boot_seconds,
    ) -> None:
        """`clock` counts seconds, also those of a machine's sleep."""
        self._roles = roles
        self._peers = peers
        self._permits = permits
        self._limits = limits
        self._is_on = is_on
        self._clock = clock
        self._master: str | None = None
        self._under_way = 0
        roles.watch(self._follow)

    def _follow(self, role: Role) -> None:
        """Wait no longer for a master that is none any more."""
        before = self._master
        self._master = role.master if role.kind is RoleKind.SLAVE and role.epoch is not None else None
        if before is not None and before != self._master:
            self._peers.leave(before)

    def takes(self, request: Command) -> bool:
        """Return whether a request goes to the master now."""
        return self._is_on and self._master is not None and request.code in FORWARDED and not is_forwarded(request)

    def around(self, handler: Handler) -> Handler:
        """Return a handler that forwards while this is a slave, and else does the same."""

        def answer(request: Command, connection: Connection) -> Command | Awaitable[Command | None] | None:
            if not self.takes(request):
                return handler(request, connection)
            return self._forward(request, connection, self._clock() + TIMEOUT_MS / 1000)

        return answer

    async def _forward(self, request: Command, connection: Connection, ends: float) -> Command | None:
        """Return the master's answer; raises NotMaster if it did not get the request, NotAnswered, LimitReached."""
        master = self._master
        if master is None:
            raise NotMaster("service not available now: this broker has just lost its master")
        if self._under_way >= self._limits.forwarded_requests:
            raise self._limits.refuse("forwarded_requests", f"{self._under_way} wait for {master}")
        self._under_way += 1
        try:
            to_master = await self._reach(master)
            if request.is_one_way:
                return self._send(to_master, self._marked(request, connection))
            self._check_waits(connection, ends)
            return await self._ask(to_master, self._marked(request, connection), ends)
        finally:
            self._under_way -= 1

    async def _reach(self, master: str) -> Connection:
        try:
            return await self._peers.connection(master, TIMEOUT_MS)
        except RemotingError as error:
            raise _out_of_reach(error) from error

    @staticmethod
    def _send(to_master: Connection, request: Command) -> None:
        try:
            to_master.send(request)
        except RemotingError as error:
            raise _out_of_reach(error) from error

    def _check_waits(self, connection: Connection, ends: float) -> None:
        """Raise NotMaster for a sender who waits no more: he may have sent the same to the master since."""
        if connection.is_closing or self._clock() >= ends:
            raise NotMaster("service not available now: the master was reached when nobody waited for it any more")

    async def _ask(self, to_master: Connection, request: Command, ends: float) -> Command:
        try:
            return await to_master.invoke(request, max(1, int((ends - self._clock()) * 1000)))
        except Overloaded as error:
            raise self._limits.refuse("forwarded_requests", str(error)) from error
        except RemotingError as error:
            raise NotAnswered(f"[NOT_CONFIRMED] forwarded to the master, which did not answer: {error}") from error

    def _marked(self, request: Command, connection: Connection) -> Command:
        """Return the request for the master: signed by this replica, with what must be known of the client."""
        fields = {name: value for name, value in request.ext_fields.items() if name not in _SIGNED}
        fields[CLIENT] = connection.peer
        account = self._permits.account_of(request, connection)
        if account:
            fields[ACCOUNT] = account
        return self._peers.signed(
            Command(
                request.code,
                fields,
                request.body,
                flag=request.flag,
                language=request.language,
                version=request.version,
                serializer=request.serializer,
            )
        )


def _out_of_reach(error: RemotingError) -> NotMaster:
    return NotMaster(f"service not available now: this broker is a slave, and its master: {error}")
