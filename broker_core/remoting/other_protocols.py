"""Other protocols on a remoting port: they are logged, and answered so that their clients can report the mistake.

The first four bytes identify them: read as the length of a frame, each exceeds the limit of a frame.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

_PORT: Final = "This port speaks RocketMQ's remoting protocol"
_ANSWER_SECONDS: Final = 1.0
"""How long the peer may take to read its answer and close; what it sends in the meantime is discarded."""

_HTTP_METHODS: Final = frozenset((b"GET ", b"HEAD", b"POST", b"PUT ", b"PATC", b"DELE", b"OPTI", b"CONN", b"TRAC"))
_HTTP_ANSWER: Final = b"HTTP"
_HTTP2_PREFACE: Final = b"PRI "
_HANDSHAKE: Final = b"\x16\x03"
_TLS_ALERT: Final = b"\x15\x03"

_HANDSHAKE_FAILURE: Final = bytes((0x15, 3, 1, 0, 2, 2, 40))
"""A TLS record of version 1.0, which every client can read: an alert, fatal, handshake_failure."""

PLAIN_REFUSED: Final = bytes((0x15, 3, 1, 0, 2, 2, 10))
"""The answer to plaintext where only TLS is served: an alert, fatal, unexpected_message. A client that expects a frame
closes: its length would be 352 MB."""

_GOAWAY: Final = 7
_SETTINGS: Final = 4
_PROTOCOL_ERROR: Final = 1


@dataclass(frozen=True, slots=True)
class OtherProtocol:
    """The protocol of a peer, for the log, and the answer before the connection is closed, if any."""

    what: str
    answer: bytes


def recognize(head: bytes) -> OtherProtocol | None:
    """Return the protocol to which the first bytes of a stream belong, or None."""
    first = head[:4]
    if first.startswith(_HANDSHAKE):
        return OtherProtocol("TLS on a plain port", _HANDSHAKE_FAILURE)
    if first == _HTTP2_PREFACE:
        return OtherProtocol("HTTP/2 on a remoting port, perhaps a gRPC client of RocketMQ 5", _http2_answer())
    if first in _HTTP_METHODS:
        return OtherProtocol("HTTP on a remoting port", _http1_answer())
    if first == _HTTP_ANSWER:
        return OtherProtocol("the peer is an HTTP server, not a name server or broker", b"")
    if first.startswith(_TLS_ALERT):
        return OtherProtocol("the peer speaks TLS; this side does not", b"")
    return None


def _http1_answer() -> bytes:
    where = "The HTTP API and the console are at the gateway's port: GANTRY_HTTP_PORT, 8000 by default."
    text = f"{_PORT}, not HTTP. {where}\n".encode()
    head = (
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + text


def _http2_answer() -> bytes:
    advice = "use a remoting client of RocketMQ 4.9 or 5, or the HTTP API at the gateway's port."
    goaway = (0).to_bytes(4, "big") + _PROTOCOL_ERROR.to_bytes(4, "big") + f"{_PORT}, not gRPC: {advice}".encode()
    return _http2_frame(_SETTINGS, b"") + _http2_frame(_GOAWAY, goaway)


def _http2_frame(kind: int, payload: bytes) -> bytes:
    """Return an HTTP/2 frame of the connection itself: stream 0, no flags."""
    return len(payload).to_bytes(3, "big") + bytes((kind, 0)) + (0).to_bytes(4, "big") + payload


class Farewell(asyncio.Protocol):
    """Takes over the connection of a peer with another protocol until the peer has read its answer.

    If the connection closed at once with unread data, the system would discard the answer.
    """

    def __init__(self, transport: asyncio.Transport, owner: asyncio.Protocol, answer: bytes) -> None:
        """`owner` is the previous protocol; its `connection_lost` is called at the end."""
        self._transport = transport
        self._owner = owner
        self._timer = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, transport.abort)
        transport.set_protocol(self)
        transport.write(answer)
        if transport.can_write_eof():
            transport.write_eof()

    def data_received(self, data: bytes) -> None:
        """Discard what the peer sends."""

    def eof_received(self) -> None:
        """The peer has read its answer. Returning None makes the transport close."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the owner."""
        self._timer.cancel()
        self._owner.connection_lost(exc)
