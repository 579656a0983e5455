"""The start of a connection to a server that speaks TLS: the first byte tells whether its client does, too.

Until then, and during the handshake, the connection has its place among those of the server but is no `Connection` yet.
Afterwards the transport delivers to the `Connection` directly: a plain one costs nothing more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol, cast

from broker_core.logs import get_logger
from broker_core.remoting.connection import socket_name
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.other_protocols import PLAIN_REFUSED, Farewell, recognize
from broker_core.remoting.rare_warnings import RareWarnings
from broker_core.remoting.tls import ServerTls, TlsMode
from broker_core.remoting.tls_errors import HandshakeLate, describe
from broker_core.remoting.tls_transport import TlsTransport

FIRST_BYTE: Final = 0x16
"""Of a TLS handshake; the length of a frame that begins with it would be 369 MB."""

_log: Final = get_logger(__name__)


class Places(Protocol):
    """The server, for a connection that starts."""

    def admit(self, starting: FirstByte) -> bool:
        """Give it a place; False if there is none, and then it closes."""

    def shake(self, starting: FirstByte) -> None:
        """Note that its handshake begins; beyond the limit, the oldest one is closed."""

    @property
    def warnings(self) -> RareWarnings:
        """Where failures are logged: strangers can cause as many as they like."""

    def leave(self, starting: FirstByte) -> None:
        """Take its place back."""


class FirstByte(asyncio.Protocol):
    """Waits for the first byte of one connection, and shakes hands if it is that of TLS."""

    def __init__(
        self, tls: ServerTls, limits: ConnectionLimits, places: Places, make: Callable[[], asyncio.Protocol]
    ) -> None:
        """`make` returns the connection that takes over, in the place of this one."""
        self.peer = ""
        self.local = ""
        self._tls = tls
        self._limits = limits
        self._places = places
        self._make = make
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._beginning: asyncio.Task[None] | None = None
        self._close_reason = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place and wait, as long as a connection may be idle."""
        self._transport = cast(asyncio.Transport, transport)
        self.peer = socket_name(transport.get_extra_info("peername"))
        self.local = socket_name(transport.get_extra_info("sockname"))
        if not self._places.admit(self):
            transport.close()
            self._transport = None
        elif self._limits.idle_seconds:
            self._timer = asyncio.get_running_loop().call_later(self._limits.idle_seconds, self._idle)

    def data_received(self, data: bytes) -> None:
        """Hand the connection over: to TLS, to a plain connection, or to nobody."""
        transport = self._transport
        if transport is None:
            return
        self._stop_timer()
        if data[0] == FIRST_BYTE:
            transport.pause_reading()
            self._places.shake(self)
            self._beginning = asyncio.get_running_loop().create_task(self._shake(transport, data), name="TLS handshake")
        elif self._tls.mode is TlsMode.ENFORCING:
            self._refuse(transport, data)
        else:
            connection = self._take_over()
            transport.set_protocol(connection)
            connection.connection_made(transport)
            connection.data_received(data)

    def connection_lost(self, _: Exception | None) -> None:
        """Leave, unless another protocol has taken over."""
        self._stop_timer()
        if self._beginning is not None:
            self._beginning.cancel()
        if self._transport is not None:
            self._transport = None
            self._places.leave(self)

    def make_room(self) -> None:
        """Close because too many others are in their handshakes."""
        self._close_reason = f"limit tls_handshakes={self._limits.tls_handshakes} reached, and it was the oldest"
        self.abort()

    def abort(self) -> None:
        """Close at once, also during the handshake."""
        if self._transport is not None:
            self._transport.abort()

    def _take_over(self) -> asyncio.Protocol:
        self._transport = None
        self._places.leave(self)
        return self._make()

    async def _shake(self, transport: asyncio.Transport, data: bytes) -> None:
        context = await self._tls.context()
        if transport.is_closing():
            return
        tls = TlsTransport(context, self._take_over, self._failed, seconds=self._limits.tls_handshake_seconds)
        transport.set_protocol(tls)
        tls.connection_made(transport)
        transport.resume_reading()
        tls.data_received(data)

    def _failed(self, error: Exception) -> None:
        if self._close_reason:
            reason = self._close_reason
        elif isinstance(error, HandshakeLate):
            reason = f"limit tls_handshake_seconds={self._limits.tls_handshake_seconds:g} reached"
        else:
            reason = f"TLS handshake: {describe(error)}"
        self._places.warnings.warn(_log, "peer=%s: closed, %s", self.peer, reason)
        self._transport = None
        self._places.leave(self)

    def _refuse(self, transport: asyncio.Transport, data: bytes) -> None:
        other = recognize(data)
        what = f", {other.what}" if other is not None else ""
        self._places.warnings.warn(
            _log, "peer=%s: closed, plaintext although tls.server.mode is enforcing%s", self.peer, what
        )
        Farewell(transport, self, PLAIN_REFUSED)

    def _idle(self) -> None:
        _log.info("peer=%s: closed, limit idle_seconds=%g reached", self.peer, self._limits.idle_seconds)
        self.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
