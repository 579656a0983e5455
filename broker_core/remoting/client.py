"""Calls to any address, over one connection each, opened at its first use (protocol/README.md#connections)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from broker_core.logs import get_logger
from broker_core.protocol.command import Command
from broker_core.remoting.client_tls import TlsOfClient, context_of
from broker_core.remoting.connection import Connection
from broker_core.remoting.dispatch import Dispatch
from broker_core.remoting.errors import ConnectionClosed, ConnectRefused, RemotingTimeout
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.tls import TlsRefused
from broker_core.remoting.tls_errors import HandshakeLate, describe
from broker_core.remoting.tls_transport import TlsTransport

_log: Final = get_logger(__name__)


Accept = Callable[[str, Connection], Awaitable[None]]
"""Examines a new connection to an address before anything else is sent over it; raises what its callers shall get."""


class RemotingClient:
    """Sends requests and returns responses; belongs to the loop it is first used on.

    Callers that need the same new connection share one attempt. A lost connection is opened again by the next call;
    calls that were waiting on it fail with ConnectionClosed.
    """

    def __init__(
        self,
        *,
        on_request: Dispatch | None = None,
        tls: TlsOfClient | None = None,
        limits: ConnectionLimits | None = None,
        accept: Accept | None = None,
    ) -> None:
        """`on_request` serves requests that brokers send to this client; without it they are dropped."""
        self._on_request = on_request
        self._tls = tls
        self._limits = limits or ConnectionLimits()
        self._accept = accept
        self._connections: dict[str, Connection] = {}
        self._attempts: dict[str, asyncio.Task[Connection]] = {}
        self._is_closed = False

    async def invoke(self, address: str, request: Command, timeout_ms: int) -> Command:
        """Return the response to a request, whatever its code.

        Raises ConnectRefused, RemotingTimeout, ConnectionClosed or Overloaded. `timeout_ms` starts now and includes
        opening the connection.
        """
        connection = self._connections.get(address)
        if connection is not None and not connection.is_closing:
            return await connection.invoke(request, timeout_ms)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_ms / 1000
        connection = await self._connect(address, timeout_ms)
        return await connection.invoke(request, max(1, int((deadline - loop.time()) * 1000)))

    async def one_way(self, address: str, request: Command) -> None:
        """Send a request that gets no answer; raises ConnectRefused, RemotingTimeout or ConnectionClosed."""
        connection = await self.connection(address)
        connection.send(request)

    async def connection(self, address: str, timeout_ms: int | None = None) -> Connection:
        """Return the open connection to an address, opened if necessary; raises ConnectRefused or RemotingTimeout."""
        connection = self._connections.get(address)
        if connection is not None and not connection.is_closing:
            return connection
        return await self._connect(address, timeout_ms or self._limits.connect_timeout_ms)

    def find_connection(self, address: str) -> Connection | None:
        """Return the connection to an address if one is open."""
        connection = self._connections.get(address)
        return None if connection is None or connection.is_closing else connection

    def forget_all(self) -> None:
        """Drop all connections without closing them: for the child of a fork."""
        self._connections.clear()
        self._attempts.clear()

    async def close(self) -> None:
        """Close every connection; waiting calls fail with ConnectionClosed."""
        self._is_closed = True
        attempts = list(self._attempts.values())
        for attempt in attempts:
            attempt.cancel()
        open_ones = list(self._connections.values())
        for connection in open_ones:
            connection.cancel_handlers()
            connection.close("the client is closed")
        waiting = [asyncio.ensure_future(each.closed()) for each in open_ones]
        if waiting:
            await asyncio.wait(waiting, timeout=1.0)  # a peer that does not read must not block the close
        if attempts:
            await asyncio.wait(attempts)
        for connection in open_ones:
            connection.abort("the client is closed")

    async def _connect(self, address: str, timeout_ms: int) -> Connection:
        if self._is_closed:
            raise ConnectionClosed(address, "the client is closed")
        attempt = self._attempts.get(address)
        if attempt is None:
            attempt = asyncio.get_running_loop().create_task(self._open(address), name=f"connect {address}")
            self._attempts[address] = attempt
            attempt.add_done_callback(partial(self._attempt_ended, address))
        # The attempt is shared: a caller that gives up or is cancelled must not end it for the others.
        done, _ = await asyncio.wait([attempt], timeout=timeout_ms / 1000)
        if not done:
            raise RemotingTimeout(address, timeout_ms, "connection")
        if attempt.cancelled():
            raise ConnectionClosed(address, "the client is closed")
        return attempt.result()

    def _attempt_ended(self, address: str, attempt: asyncio.Task[Connection]) -> None:
        self._attempts.pop(address, None)
        if not attempt.cancelled() and attempt.exception() is not None:
            _log.debug("address=%s: %s", address, attempt.exception())

    async def _open(self, address: str) -> Connection:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise ConnectRefused(address, "an address is host:port")
        host = host.strip("[]")
        try:
            async with asyncio.timeout(self._limits.connect_timeout_ms / 1000):
                connection = await (
                    self._plain(host, int(port)) if self._tls is None else self._secured(host, int(port), self._tls)
                )
        except TimeoutError:
            what = "connection" if self._tls is None else "connection with TLS"
            reason = f"no {what} within {self._limits.connect_timeout_ms} ms"
            raise ConnectRefused(address, reason) from None
        except (OSError, ValueError, OverflowError) as error:  # the last one for a port beyond 65535
            raise ConnectRefused(address, str(error)) from error
        if self._accept is not None:
            await self._examine(address, connection, self._accept)
        self._connections[address] = connection
        connection.on_close(lambda closed: self._forget(address, closed))
        return connection

    def _connection(self) -> Connection:
        return Connection(self._on_request, self._limits, stops_reading_when_full=False)

    async def _plain(self, host: str, port: int) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(self._connection, host, port)
        return connection

    async def _secured(self, host: str, port: int, tls: TlsOfClient) -> Connection:
        """Connect with TLS; what fails is an OSError with a text for the user."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Connection] = loop.create_future()
        seconds = self._limits.connect_timeout_ms / 1000
        try:
            context = await context_of(tls, seconds)
        except TlsRefused as error:
            raise OSError(f"TLS: {error}") from error

        def make() -> Connection:
            connection = self._connection()
            if not ended.done():
                ended.set_result(connection)
            return connection

        def failed(error: Exception) -> None:
            if not ended.done():
                # Both limits are one: which of them is reached first is no matter to who connects.
                is_late = isinstance(error, HandshakeLate)
                ended.set_exception(TimeoutError() if is_late else ConnectionError(f"TLS: {describe(error)}"))

        transport, _ = await loop.create_connection(
            lambda: TlsTransport(context, make, failed, seconds=seconds, server_name=host), host, port
        )
        try:
            return await ended
        except asyncio.CancelledError:
            transport.abort()
            raise

    async def _examine(self, address: str, connection: Connection, accept: Accept) -> None:
        try:
            await accept(address, connection)
        except BaseException:
            connection.close("it was not accepted")
            raise

    def _forget(self, address: str, connection: Connection) -> None:
        _log.debug("address=%s: closed, %s", address, connection.close_reason)
        if self._connections.get(address) is connection:
            del self._connections[address]
