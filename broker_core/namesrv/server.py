"""The whole name server: table, settings, handlers and the listener."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Mapping
from typing import Final

from broker_core.clock import now_ms
from broker_core.namesrv.changes import ChangeRefused, changes_from
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.handlers import Handlers
from broker_core.namesrv.options import Options
from broker_core.namesrv.routes import RouteTable
from broker_core.namesrv.settings import Settings
from broker_core.namesrv.turns import Turns
from broker_core.protocol import Command, RequestCode, ResponseCode
from broker_core.remoting import Connection, ConnectionLimits, Dispatch, Handler, Server
from broker_core.remoting.connection import Result
from broker_core.remoting.open_files import Sockets

_log = logging.getLogger(__name__)


_OF_BROKERS: Final = frozenset(
    {
        RequestCode.GET_ROUTEINFO_BY_TOPIC,
        RequestCode.GET_BROKER_CLUSTER_INFO,
        RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
        RequestCode.GET_TOPICS_BY_CLUSTER,
    }
)
_OF_ALL_NAMES: Final = frozenset({RequestCode.CONTROLLER_GET_METADATA_INFO, RequestCode.CONTROLLER_GET_SYNC_STATE_DATA})
"""What a controller is asked for that takes long if it knows many broker names."""


class NameServer:
    """A running name server. `start` and `close` once each, on one loop."""

    def __init__(
        self,
        config: NameServerConfig,
        *,
        sockets: Sockets | None = None,
        ready: asyncio.Event | None = None,
        guests: Mapping[RequestCode, Handler] | None = None,
    ) -> None:
        """Read the settings file and certificates; raises SettingsDamaged, TlsRefused.

        Servers of one process share `sockets`.
        Until `ready` is set, requests for routes and topics wait: the broker of this process has not registered yet,
        and every topic would be told to be unknown. `guests` are handlers of a controller in this process.
        """
        self.options = Options(config, port=lambda: self.port)
        self.config = self.options.config
        self.routes = RouteTable(config.routes)
        self._settings = Settings(config.settings_file, config.settings)
        handlers = Handlers(self.routes, self._settings, self.options, now_ms)
        dispatch = Dispatch({ChangeRefused: ResponseCode.NO_PERMISSION})
        if config.change_networks is not None:
            dispatch.before(changes_from(config.change_networks))
        self._turns = Turns()
        for code, answer in handlers.table().items():
            when_ready = _once(ready, answer) if ready and code in _OF_BROKERS else answer
            dispatch.register(code, self._turns.limited(when_ready))
        for code, guest in (guests or {}).items():
            dispatch.register(code, self._turns.limited(guest) if code in _OF_ALL_NAMES else guest)
        limits = ConnectionLimits(connections=config.connections, header_bytes=config.header_bytes)
        tls = config.tls.server()
        self._server = Server(dispatch, host=config.host, port=config.port, tls=tls, limits=limits, sockets=sockets)
        self._scanning: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """Return the port it listens on."""
        return self._server.port

    async def start(self) -> None:
        """Listen; raises AddressInUse or AddressRefused."""
        await self._server.start()
        self._scanning = asyncio.create_task(self._scan(), name="name server: expire silent brokers")

    async def close(self) -> None:
        """Stop listening and close all connections."""
        if self._scanning is not None:
            self._scanning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._scanning
        await self._server.close()
        await self._turns.close()
        await self._settings.close()
        await self.options.close()

    def expire(self, now: int) -> None:
        """Remove the brokers that have been silent for too long at `now` (ms), and close their connections."""
        for holder in self.routes.expire(before=now - self.config.broker_expiry_ms):
            if isinstance(holder, Connection):
                _log.warning(
                    "connection=%s: no registration for %d ms, closed", holder.peer, self.config.broker_expiry_ms
                )
                holder.close()

    async def _scan(self) -> None:
        while True:
            await asyncio.sleep(self.config.scan_interval_ms / 1000)
            self.expire(now_ms())


def _once(ready: asyncio.Event, answer: Handler) -> Handler:
    """Return a handler that waits until the event is set."""

    async def wait(request: Command, connection: Connection) -> Command | None:
        await ready.wait()
        result = answer(request, connection)
        return await result if isinstance(result, Awaitable) else result

    def handle(request: Command, connection: Connection) -> Result:
        return answer(request, connection) if ready.is_set() else wait(request, connection)

    return handle
