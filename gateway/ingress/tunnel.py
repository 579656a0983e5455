"""The way on to the server for connections that the ingress does not answer: their bytes, both ways, unchanged.

And the way to nowhere for those of which nothing more is read.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast

_SILENT_SECONDS: Final = 2.0
"""A server ends a connection as soon as the client's side has ended, whatever it was about to answer. So it hears of
that end when it has answered nothing for so long; where an answer has no end, at once: its reader is gone."""
_DRAIN_SECONDS: Final = 2.0
_HEAD_BYTES: Final = 2048
_PART_BYTES: Final = 65_536

_log: Final = logging.getLogger(__name__)


class Tunnel(asyncio.Protocol):
    """The connection to the server that carries the bytes of one client."""

    def __init__(self, near: asyncio.Transport, on_open: Callable[[int], None]) -> None:
        """`near` is the client's transport; `on_open` is called with the port from which the server sees it."""
        self._near = near
        self._on_open = on_open
        self._far: asyncio.Transport | None = None
        self._is_cut = False
        self._is_held = False
        self._is_ended = False
        self._answered_at = 0.0
        self.is_endless = False
        """Whether the last answer has no end of its own: a WebSocket, or events."""
        self._drain: Drain | None = None
        self._twin: socket.socket | None = None
        """Of the socket of a WebSocket: a write that fails ends the transport before it has read a close frame."""
        self._loop = asyncio.get_running_loop()

    async def open(self, host: str, port: int, first: bytes) -> None:
        """Connect, pass on what was read already and let the client go on; close the client if that is impossible."""
        try:
            await self._loop.create_connection(lambda: self, host, port)
        except OSError as error:
            _log.warning("ingress: the server does not accept a connection: %s", error)
            self._near.close()
            return
        self.forward(first)
        if self._is_ended:
            self.end()
        if not self._near.is_closing():
            self._near.resume_reading()

    # ---- from the client ---------------------------------------------------------------------------------------------

    def forward(self, data: bytes) -> None:
        """Pass on what the client sent."""
        if self._far is not None:
            self._far.write(data)

    def end(self) -> None:
        """Pass on that the client sends no more."""
        self._is_ended = True
        if self._far is not None and not self._far.is_closing():
            self._far.write_eof()

    def end_when_answered(self) -> None:
        """Pass on that the client sends no more, when the server has answered what it is about to answer."""
        if self._drain is not None:
            self._drain.end_when_answered()
        if self.is_endless:
            self.end()
            return
        self._answered_at = self._loop.time()
        self._end_if_silent()

    def _end_if_silent(self) -> None:
        left = self._answered_at + _SILENT_SECONDS - self._loop.time()
        if left <= 0 and not self._is_held:
            self.end()
        elif not self._is_cut and not self._near.is_closing():
            self._loop.call_later(max(left, _SILENT_SECONDS / 10), self._end_if_silent)

    def hold(self) -> None:
        """Read no more from the server: the client does not keep up."""
        self._is_held = True
        if self._far is not None:
            self._far.pause_reading()

    def go_on(self) -> None:
        """Read from the server again."""
        self._is_held = False
        if self._far is not None and not self._far.is_closing():
            self._far.resume_reading()

    def cut(self) -> None:
        """Close: the client is gone."""
        self._is_cut = True
        if self._far is not None:
            self._far.close()

    # ---- from the server ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Tell from which port the server sees the client."""
        self._far = cast(asyncio.Transport, transport)
        self._on_open(self._far.get_extra_info("sockname")[1])
        if self._is_held:
            self._far.pause_reading()
        if self._is_cut:
            self._far.close()

    def data_received(self, data: bytes) -> None:
        """Pass on what the server answered."""
        self._answered_at = self._loop.time()
        if data.startswith(b"HTTP/1.1 "):
            head = data[:_HEAD_BYTES]
            is_upgrade = head.startswith(b"HTTP/1.1 101")
            self.is_endless = is_upgrade or b"\r\ncontent-type: text/event-stream" in head
            if is_upgrade and self._far is not None and self._twin is None:
                self._twin = socket.socket(fileno=os.dup(self._far.get_extra_info("socket").fileno()))
        self._near.write(data)

    def eof_received(self) -> None:
        """The server is done; without a true answer the transport closes, and with it the client's."""

    def pause_writing(self) -> None:
        """The server does not keep up: read no more from the client."""
        if not self._near.is_closing():
            self._near.pause_reading()

    def resume_writing(self) -> None:
        """The server has caught up."""
        if not self._near.is_closing():
            self._near.resume_reading()

    @property
    def is_over(self) -> bool:
        """Whether the server's side has ended."""
        return self._is_cut

    def connection_lost(self, error: Exception | None) -> None:
        """Close the client's connection too, once it has all answers, of which it may read while it still sends."""
        self._far = None
        self._is_cut = True
        if self._twin is not None:
            if not self._near.is_closing():
                self._near.write(_last_words(self._twin))
            self._twin.close()
        # Whether the server just ended or broke off: the client may be sending, and would lose the answer by a reset.
        if self._is_ended or self._near.is_closing():
            self._near.close()
        else:
            self._drain = Drain(self._near)
            self._near.resume_reading()


def _last_words(twin: socket.socket) -> bytes:
    """Return what came before the end and was not read."""
    parts: list[bytes] = []
    with suppress(OSError):
        while part := twin.recv(_PART_BYTES, socket.MSG_DONTWAIT):
            parts.append(part)
    return b"".join(parts)


class Drain:
    """Takes what a client still sends to no avail: its answer could be lost if the connection closed (RFC 9112 9.6)."""

    def __init__(self, near: asyncio.Transport) -> None:
        """`near` is the client's transport, to which nothing more is written."""
        self._near = near
        near.write_eof()
        self._end = asyncio.get_running_loop().call_later(_DRAIN_SECONDS, near.close)

    def forward(self, data: bytes) -> None:
        """Forget it."""

    def end_when_answered(self) -> None:
        """Close: the client sends no more."""
        self._near.close()

    def hold(self) -> None:
        """Do nothing: there is nothing more to write."""

    def go_on(self) -> None:
        """Do nothing."""

    def cut(self) -> None:
        """The client is gone."""
        self._end.cancel()
