"""Listen, serve, drain, close (protocol/README.md#connections)."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Coroutine, Iterator, Sequence
from typing import Final

from broker_core.logs import get_logger
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Dispatch
from broker_core.remoting.errors import AddressInUse, AddressRefused
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.memory import ConnectionMemory
from broker_core.remoting.open_files import Sockets, connections_within, raise_limit
from broker_core.remoting.tls import FIRST_BYTE, TlsMode

_BACKLOG: Final = 1024  # the value of Apache RocketMQ
_ACCEPT_PAUSE: Final = 1.0  # seconds
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
        tls: ssl.SSLContext | None = None,
        tls_mode: TlsMode = TlsMode.PERMISSIVE,
        limits: ConnectionLimits | None = None,
        memory: ConnectionMemory | None = None,
        sockets: Sockets | None = None,
    ) -> None:
        """Port 0 lets the system choose. `tls_mode` is used only with a `tls` context.

        Servers that share `memory` or `sockets` share their limits. By default a server has its own: a memory of
        `limits.memory_bytes`, and as many sockets as the system allows a process.
        """
        self.host = host
        self._dispatch = dispatch
        self._wanted_ports = [port] if isinstance(port, int) else list(port)
        self._tls = tls if tls_mode is not TlsMode.DISABLED else None
        self._tls_mode = tls_mode
        self._limits = limits or ConnectionLimits()
        self._max_connections = self._limits.connections
        self._memory = memory or ConnectionMemory(self._limits.memory_bytes)
        self._allowance = sockets or Sockets(raise_limit())
        self._sockets: list[socket.socket] = []
        self._ports: list[int] = []
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._leaving: set[Connection] = set()  # closed, but handlers are still working on their requests
        self._listening: set[asyncio.Task[None]] = set()  # permissive mode: listeners, and awaited first bytes
        self._tasks: set[asyncio.Task[None]] = set()  # these and all others
        self._is_closing = False
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
                self._sockets.append(_bind(self.host, port))
            self._ports = [each.getsockname()[1] for each in self._sockets]
            for listener in self._sockets:
                if self._tls is not None and self._tls_mode is TlsMode.PERMISSIVE:
                    listener.listen(_BACKLOG)
                    self._listen(self._accept(listener), f"accept {listener.getsockname()}")
                else:
                    server = await loop.create_server(self._connection, sock=listener, ssl=self._tls, backlog=_BACKLOG)
                    self._servers.append(server)
        except BaseException:
            self._stop_listening()
            raise

    async def close(self, drain_seconds: float = 0.0) -> None:
        """Stop listening and reading, let handlers finish for `drain_seconds`, close every connection."""
        self._is_closing = True
        self._stop_listening()
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
        for task in self._listening:
            task.cancel()
        for server in self._servers:
            server.close()
        for listener in self._sockets:
            listener.close()

    def _connection(self) -> Connection:
        return Connection(
            self._dispatch, self._limits, stops_reading_when_full=True, on_open=self._opened, memory=self._memory
        )

    def _opened(self, connection: Connection) -> None:
        if self._is_closing or len(self._connections) >= self._max_connections or not self._allowance.take():
            connection.close("refused")  # nothing was read yet, and nothing has to be written
            self._log_refused(connection.peer)
            return
        self._connections.add(connection)
        connection.on_close(self._forget)

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

    # ---- permissive TLS: the first byte decides ----------------------------------------------------------------------

    def _listen(self, work: Coroutine[None, None, None], name: str) -> None:
        task = self._spawn(work, name)
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, peer = await loop.sock_accept(listener)
            except OSError as error:  # no file left for another connection; existing connections must be able to end
                _log.error("port=%d: cannot accept: %s", listener.getsockname()[1], error)
                await asyncio.sleep(_ACCEPT_PAUSE)
                continue
            if len(self._connections) + len(self._listening) > self._max_connections:
                accepted.close()
                self._log_refused(str(peer))
                continue
            self._listen(self._sniff(accepted), f"first byte of {peer}")

    async def _sniff(self, accepted: socket.socket) -> None:
        """Look at the first byte without consuming it, then pass the socket on with or without TLS."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._limits.idle_seconds or None):
                await _readable(accepted)
            first = accepted.recv(1, socket.MSG_PEEK)
            if first:
                accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                tls = self._tls if first[0] == FIRST_BYTE else None
                await loop.connect_accepted_socket(self._connection, accepted, ssl=tls)
                return
        except OSError as error:  # ssl.SSLError and TimeoutError are OSErrors too
            _log.info("a connection closed before its first request: %s", error)
        except asyncio.CancelledError:
            accepted.close()
            raise
        accepted.close()


async def _readable(accepted: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(accepted, _set, ready)
    try:
        await ready
    finally:
        loop.remove_reader(accepted)


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _bind(host: str, port: int) -> socket.socket:
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
