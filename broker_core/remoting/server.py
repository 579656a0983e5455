"""Listen, serve, drain, close (protocol/README.md#connections)."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Coroutine, Iterator, Sequence
from typing import Final

from broker_core.logs import get_logger
from broker_core.remoting.connection import Connection, ConnectionCallback
from broker_core.remoting.dispatch import Dispatch
from broker_core.remoting.errors import AddressInUse, AddressRefused
from broker_core.remoting.first_byte import FirstByte
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.memory import ConnectionMemory
from broker_core.remoting.open_files import Sockets, connections_within, raise_limit
from broker_core.remoting.rare_warnings import RareWarnings
from broker_core.remoting.tls import ServerTls, TlsMode

_BACKLOG: Final = 1024  # the value of Apache RocketMQ
_SAY_AGAIN: Final = 1.0
_log: Final = get_logger(__name__)


class Server:
    """Listens on one or more ports and passes requests to `dispatch`."""

    def __init__(
        self,
        dispatch: Dispatch,
        *,
        host: str = "127.0.0.1",
        port: int | Sequence[int] = 0,
        tls: ServerTls | None = None,
        limits: ConnectionLimits | None = None,
        memory: ConnectionMemory | None = None,
        sockets: Sockets | None = None,
        before_work: ConnectionCallback | None = None,
    ) -> None:
        """Port 0 lets the system choose. Without `tls` a TLS handshake is answered with an alert.

        `before_work` sees each connection before what it brought is handled, and may close it.

        Servers that share `memory` or `sockets` share their limits. By default a server has its own: a memory of
        `limits.memory_bytes`, and as many sockets as the system allows a process.
        """
        self.host = host
        self._dispatch = dispatch
        self._wanted_ports = [port] if isinstance(port, int) else list(port)
        self._tls = tls if tls is not None and tls.mode is not TlsMode.DISABLED else None
        self._limits = limits or ConnectionLimits()
        self._before_work = before_work
        self._max_connections = self._limits.connections
        self._memory = memory or ConnectionMemory(self._limits.memory_bytes)
        self._allowance = sockets or Sockets(raise_limit())
        self._sockets: list[socket.socket] = []
        self._ports: list[int] = []
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._leaving: set[Connection] = set()  # closed, but handlers are still working on their requests
        self._starting: set[FirstByte] = set()  # with TLS: before the first byte, and during the handshake
        self._shaking: dict[FirstByte, None] = {}  # those of `_starting` in their handshakes, the oldest first
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False
        self.warnings = RareWarnings()
        """What peers did wrong before anything is known of them."""
        self._refused = 0  # connections refused since the last log line
        self._refused_said = -_SAY_AGAIN

    @property
    def ports(self) -> list[int]:
        """The ports listened on, in the order asked for."""
        return list(self._ports)

    @property
    def port(self) -> int:
        """The first of `ports`."""
        return self.ports[0]

    @property
    def connections(self) -> Iterator[Connection]:
        """The open connections."""
        return iter(tuple(self._connections))

    async def start(self) -> None:
        """Listen; raises AddressInUse or AddressRefused, and then listens nowhere."""
        loop = asyncio.get_running_loop()
        self._max_connections = connections_within(self._limits.connections, raise_limit())
        try:
            for port in self._wanted_ports:
                self._sockets.append(bind_socket(self.host, port))
            self._ports = [each.getsockname()[1] for each in self._sockets]
            for listener in self._sockets:
                self._servers.append(await loop.create_server(self._accept, sock=listener, backlog=_BACKLOG))
        except BaseException:
            self._stop_listening()
            raise

    async def close(self, drain_seconds: float = 0.0) -> None:
        """Stop listening and reading, let handlers finish for `drain_seconds`, close every connection."""
        self._is_closing = True
        self._stop_listening()
        for starting in tuple(self._starting):
            starting.abort()
        for connection in self._connections:
            connection.stop_reading()
        await self._drain(drain_seconds)
        for connection in self.connections:
            connection.close("the server stops")
        await self._wait_until_closed()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _drain(self, seconds: float) -> None:
        busy = [each for each in self._connections | self._leaving if each.unanswered]
        waiting = [asyncio.ensure_future(each.drained()) for each in busy]
        if not waiting:
            return
        _, late = await asyncio.wait(waiting, timeout=seconds)
        if late:
            for connection in busy:
                connection.cancel_handlers()
            await asyncio.wait(late, timeout=1.0)

    async def _wait_until_closed(self) -> None:
        waiting = [asyncio.ensure_future(each.closed()) for each in self._connections]
        if not waiting:
            return
        _, late = await asyncio.wait(waiting, timeout=1.0)  # a peer that does not read must not block the close
        for connection in self.connections:
            connection.abort("the server stops")
        if late:
            await asyncio.wait(late, timeout=1.0)

    def _stop_listening(self) -> None:
        for server in self._servers:
            server.close()
        for listener in self._sockets:
            listener.close()

    def _accept(self) -> asyncio.Protocol:
        if self._tls is None:
            return self._connection()
        return FirstByte(self._tls, self._limits, self, self._connection)

    def _connection(self) -> Connection:
        return Connection(
            self._dispatch,
            self._limits,
            stops_reading_when_full=True,
            on_open=self._opened,
            memory=self._memory,
            warnings=self.warnings,
            before_work=self._before_work,
        )

    def _opened(self, connection: Connection) -> None:
        if not self._take_place(connection.peer):
            connection.close("refused")  # nothing was read yet, and nothing has to be written
            return
        self._connections.add(connection)
        connection.on_close(self._forget)

    def admit(self, starting: FirstByte) -> bool:
        """Give a connection that starts a place, which it leaves to the `Connection` that it becomes."""
        if not self._take_place(starting.peer):
            return False
        self._starting.add(starting)
        return True

    def shake(self, starting: FirstByte) -> None:
        """Note that a handshake begins; beyond the limit, the oldest one is closed.

        Those of honest clients take as long as a message there and back, so the oldest are those that somebody leaves
        open, and closing them keeps nobody out.
        """
        self._shaking[starting] = None
        if len(self._shaking) > self._limits.tls_handshakes:
            oldest = next(iter(self._shaking))
            del self._shaking[oldest]
            oldest.make_room()

    def leave(self, starting: FirstByte) -> None:
        """Take back the place of a connection that started."""
        self._shaking.pop(starting, None)
        self._starting.discard(starting)
        self._allowance.give_back()

    def _take_place(self, peer: str) -> bool:
        is_full = len(self._connections) + len(self._starting) >= self._max_connections
        if self._is_closing or is_full or not self._allowance.take():
            self._log_refused(peer)
            return False
        return True

    def _log_refused(self, peer: str) -> None:
        """Log refused connections with the reason, at most once a second."""
        self._refused += 1
        now = asyncio.get_running_loop().time()
        if self._is_closing or now < self._refused_said + _SAY_AGAIN:
            return
        _log.warning(
            "peer=%s: closed, limit connections=%d reached; %d refused",
            peer,
            min(self._max_connections, self._allowance.limit),
            self._refused,
        )
        self._refused, self._refused_said = 0, now

    def _forget(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._allowance.give_back()
        if connection.unanswered:
            self._leaving.add(connection)
            self._spawn(self._keep_until_handled(connection), f"drain {connection.peer}")

    async def _keep_until_handled(self, connection: Connection) -> None:
        """Keep a closed connection until its handlers have ended, because `close` waits for them too."""
        try:
            await connection.drained()
        finally:
            self._leaving.discard(connection)

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket that is bound and does not listen yet; raises AddressInUse or AddressRefused."""
    address = f"{host}:{port}"
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AddressRefused(address, error.strerror or str(error)) from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        listener.bind(where)
    except OSError as error:
        listener.close()
        kind_of_error = AddressInUse if error.errno == errno.EADDRINUSE else AddressRefused
        raise kind_of_error(address, error.strerror or str(error)) from error
    return listener
