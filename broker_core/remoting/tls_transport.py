"""TLS between a raw transport and the protocol of an application, for either side.

::

    raw transport ── data_received ─► incoming ─► SSLObject ─► data_received ─► protocol
    raw transport ◄────────── write ─ outgoing ◄─ SSLObject ◄─ write ────────── protocol

asyncio's own layer discards the alert with which OpenSSL explains a failed handshake, and cannot take over a connection
whose first byte was already read. Here the peer is told, and so is the caller: `failed` gets what went wrong.
Backpressure is that of the raw transport, whose calls are passed on.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from broker_core.remoting.other_protocols import Farewell
from broker_core.remoting.tls_errors import HandshakeCut, HandshakeLate, describe

_READ_BYTES: Final = 256 * 1024

Failed = Callable[[Exception], None]


class TlsTransport(asyncio.Transport, asyncio.Protocol):
    """The protocol of a raw transport, and the transport of a protocol that `make` returns after the handshake."""

    def __init__(
        self,
        context: ssl.SSLContext,
        make: Callable[[], asyncio.Protocol],
        failed: Failed,
        *,
        seconds: float,
        server_name: str | None = None,
    ) -> None:
        """Either `make` or `failed` is called, once. `server_name` makes this the client's side."""
        super().__init__()
        self._make = make
        self._failed = failed
        self._seconds = seconds
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._ssl = context.wrap_bio(
            self._incoming, self._outgoing, server_side=server_name is None, server_hostname=server_name
        )
        self._is_client = server_name is not None
        self._raw: asyncio.Transport | None = None
        self._protocol: asyncio.Protocol | None = None
        self._is_closing = False
        self._fault: Exception | None = None
        self._timer: asyncio.TimerHandle | None = None

    # ---- called by the raw transport ---------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the handshake and its timer."""
        self._raw = cast(asyncio.Transport, transport)
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._give_up)
        if self._is_client:
            self._shake()

    def data_received(self, data: bytes) -> None:
        """Continue the handshake, or pass on what `data` contains."""
        self._incoming.write(data)
        if self._protocol is not None or self._shake():
            self._read()

    def eof_received(self) -> None:
        """Pass it on. Returning None makes the raw transport close."""
        if self._protocol is not None and not self._is_closing:
            self._protocol.eof_received()
        self._is_closing = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass it on, with the fault of TLS if that was the reason."""
        self._raw = None
        self._is_closing = True
        if self._protocol is None:
            self._end(self._fault or HandshakeCut("the connection was closed during the TLS handshake"))
        else:
            fault = self._fault
            self._protocol.connection_lost(exc if fault is None else ConnectionAbortedError(describe(fault)))

    def pause_writing(self) -> None:
        """Pass it on."""
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        if self._protocol is not None:
            self._protocol.resume_writing()

    # ---- the handshake -----------------------------------------------------------------------------------------------

    def _shake(self) -> bool:
        """Return whether the handshake has ended well."""
        if self._is_closing:
            return False
        try:
            self._ssl.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return False
        except (ssl.SSLError, ssl.CertificateError) as error:
            self._fail(error)
            return False
        self._flush()
        self._stop_timer()
        self._failed = _ignore
        self._protocol = self._make()
        self._protocol.connection_made(self)
        return True

    def _give_up(self) -> None:
        self._fault = HandshakeLate(f"no TLS handshake within {self._seconds:g} s")
        self.abort()

    def _fail(self, error: Exception) -> None:
        """Send the alert, if there is one, and close."""
        self._fault = error
        self._is_closing = True
        self._stop_timer()
        alert = self._outgoing.read()
        if self._raw is not None:
            Farewell(self._raw, self, alert)
        if self._is_client and self._protocol is None:
            self._end(error)  # a server's place is taken until the connection is closed

    def _end(self, error: Exception) -> None:
        self._stop_timer()
        failed, self._failed = self._failed, _ignore
        failed(error)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    # ---- data --------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Pass on everything that is complete in one piece, so that its answers are written together."""
        parts: list[bytes] = []
        has_ended = False
        fault: ssl.SSLError | None = None
        try:
            while part := self._ssl.read(_READ_BYTES):
                parts.append(part)
            has_ended = True
        except ssl.SSLWantReadError:
            pass  # the rest is on the way
        except ssl.SSLZeroReturnError:
            has_ended = True
        except ssl.SSLError as error:
            fault = error
        self._flush()
        protocol = cast(asyncio.Protocol, self._protocol)
        if parts and not self._is_closing:
            protocol.data_received(parts[0] if len(parts) == 1 else b"".join(parts))
        if self._is_closing:
            return
        if fault is not None:
            self._fail(fault)
        elif has_ended:
            protocol.eof_received()
            self.close()

    def _flush(self) -> None:
        if self._outgoing.pending and self._raw is not None:
            self._raw.write(self._outgoing.read())

    # ---- called by the protocol --------------------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Encrypt and write."""
        if self._is_closing or not data:
            return
        left = memoryview(data)
        try:
            while left:
                left = left[self._ssl.write(left) :]
        except ssl.SSLError as error:  # the peer's alert has ended the session
            self._fail(error)
            return
        self._flush()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Encrypt and write all together: each write would be a record of its own."""
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        """Say goodbye, write what is buffered, and close without waiting for the peer's goodbye."""
        if self._is_closing:
            return
        self._is_closing = True
        if self._raw is None:
            return
        if self._protocol is None:
            self._raw.abort()
            return
        with contextlib.suppress(ssl.SSLError):  # it always wants the goodbye of the peer; its own is written
            self._ssl.unwrap()
        self._flush()
        self._raw.close()

    def abort(self) -> None:
        """Close at once."""
        self._is_closing = True
        if self._raw is not None:
            self._raw.abort()

    def is_closing(self) -> bool:
        """Whether nothing can be written any more."""
        return self._is_closing

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Pass data to another protocol from now on."""
        self._protocol = cast(asyncio.Protocol, protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol that gets the data."""
        return cast(asyncio.Protocol, self._protocol)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what is known of the connection; ``ssl_object`` is that of this layer, and nobody gets the socket."""
        if name == "ssl_object":
            return self._ssl
        if name == "socket":
            return default
        return default if self._raw is None else self._raw.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Read no more for now; what was already read is still passed on."""
        if self._raw is not None:
            self._raw.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        if self._raw is not None:
            self._raw.resume_reading()

    def is_reading(self) -> bool:
        """Whether data may come."""
        return self._raw is not None and self._raw.is_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the limits of encrypted bytes that the peer has not read."""
        if self._raw is not None:
            self._raw.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        """Return how many encrypted bytes the peer has not read."""
        return 0 if self._raw is None else self._raw.get_write_buffer_size()

    def can_write_eof(self) -> bool:
        """TLS has no half-closed connections."""
        return False


def _ignore(_: Exception) -> None:
    """Called in place of `failed` after the handshake has ended."""
