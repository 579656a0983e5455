"""One connection of a client: plain requests to the data plane are answered, one after another; with the first request
of any other kind the whole connection goes on to the server.

::

    bytes ─► head known or plain? ─ no ──► whole, and read in one way only? ─ yes ──► Tunnel, for good
                      │ yes                                          └─ no ──► 400
             body whole within a second? ─ no ──► Tunnel, which gets the request from its first byte
                      │ yes
             usual message? ─ yes ──► DataPlane.begin: no task
                      └────── no ───► DataPlane: a task, ASGI's events
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from gateway.arrival import Client
from gateway.ingress.heads import MOST_BYTES, Head, HeadRefused, may_pass
from gateway.ingress.tunnel import Drain, Tunnel
from gateway.problems import MALFORMED, ProblemError
from gateway.sockets import Event, Scope

if TYPE_CHECKING:
    from gateway.ingress.listener import Ingress

_MOST_AHEAD: Final = 256 * 1024
"""Bytes that are read of further requests while one is answered."""
_SMALL_HEAD: Final = 4096
"""A head up to here is looked at whole with each packet; one above it when its end came or it has doubled."""
_LATE_BODY_SECONDS: Final = 0.5
_LATE_HEAD_SECONDS: Final = 30.0
_STATUS_LINES: Final = {each.value: f"HTTP/1.1 {each.value} {each.phrase}\r\n".encode() for each in HTTPStatus}

Header = tuple[bytes, bytes]


class Connection(asyncio.Protocol):
    """The connection; belongs to the ingress that made it."""

    def __init__(self, ingress: Ingress) -> None:
        self.client: Client = ("", "")
        self.requests = 0
        """How many were begun."""
        self.is_busy = False
        """Whether a request is being answered."""
        self.waits_since: float | None = None
        """When the first part of a request arrived that is not begun yet, on the loop's clock."""
        self._ingress = ingress
        self._chunks: list[bytes] = []
        self._size = 0
        self._needed = 0
        self._is_full = False
        self._is_paused = False
        self._is_last = False
        self._is_ended = False
        self._started: Event = {}
        self._look_at = 0
        self._tail = b""
        self._tunnel: Tunnel | Drain | None = None
        self._gone: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Learn who it is."""
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername") or ("", "")
        self.client = str(name[0]), str(name[1])
        self._ingress.opened(self)

    def data_received(self, data: bytes) -> None:
        """Begin the request that is whole now."""
        if self._tunnel is not None:
            self._tunnel.forward(data)
            return
        if self._size:
            self._chunks.append(data)
            self._size += len(data)
            if self.is_busy or self._is_full:
                self._hold_client()
                return
            if self._size < self._needed or self._waits_for_head(data):
                return
            data = self._taken()
        elif self.is_busy or self._is_full:
            self._keep(data)
            self._hold_client()
            return
        self._read(data)

    def eof_received(self) -> bool:
        """The client sends no more; a true answer keeps the connection open for what is still answered."""
        if self._tunnel is not None:
            self._tunnel.end_when_answered()
            return True
        if not self.is_busy and not self._size:
            return False
        self._is_ended = True
        if self.is_busy:
            self._stop_waiting()
        elif not self._is_full:
            self._pass_on_the_rest()
        return True

    def pause_writing(self) -> None:
        """The client does not read its answers."""
        self._is_full = True
        if self._tunnel is not None:
            self._tunnel.hold()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._is_full = False
        if self._tunnel is not None:
            self._tunnel.go_on()
        elif not self.is_busy:
            self._go_on()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell whoever works for the client."""
        self._ingress.closed(self)
        self._chunks.clear()
        self._size = 0
        if self._tunnel is not None:
            self._tunnel.cut()
        self._stop_waiting()

    @property
    def is_told_goodbye(self) -> bool:
        """Whether the server still ends a WebSocket or a stream of events here."""
        tunnel = self._tunnel
        is_open = isinstance(tunnel, Tunnel) and tunnel.is_endless and not tunnel.is_over
        return is_open and not self._transport.is_closing()

    def close(self) -> None:
        """Close it after what is written."""
        self._transport.close()

    def close_when_answered(self) -> None:
        """Close it now, or after the answer that is under way."""
        self._is_last = True
        if not self.is_busy and self._tunnel is None:
            self._transport.close()

    def hurry(self, now: float) -> None:
        """Let the server have a request whose body is late: it has the limits for that. Close where a head is late."""
        if self.waits_since is None or self.is_busy or self._is_full:
            return
        waited = now - self.waits_since
        if waited >= _LATE_BODY_SECONDS and self._needed:
            self._to_server(self._taken())
        elif waited >= _LATE_HEAD_SECONDS:
            self._transport.close()

    # ---- requests ----------------------------------------------------------------------------------------------------

    def _read(self, data: bytes) -> None:
        """Begin the first request in `data` if it is whole; keep the rest."""
        end = data.find(b"\r\n\r\n", 0, MOST_BYTES) + 4
        head = self._ingress.heads.find(data[:end]) if end >= 4 else None
        if head is None:
            self._read_other(data)
            return
        whole = end + head.length
        if len(data) < whole:
            self._keep(data, whole)
            return
        self.waits_since = None
        if len(data) > whole:
            self._keep(data[whole:])
            self._hold_client()
        self._begin(head, data[end:whole])

    def _read_other(self, data: bytes) -> None:
        """Let the server have a request that is not plain, once its head is whole and can be read in one way only."""
        try:
            if may_pass(data):
                self._to_server(data)
            else:
                self._keep(data)
                self._tail, self._look_at = data[-3:], max(_SMALL_HEAD, 2 * len(data))
        except HeadRefused as refused:
            self._refuse(refused)

    def _waits_for_head(self, data: bytes) -> bool:
        """Return whether a large head has no end yet: to look at it whole with every byte would cost its square."""
        if self._needed or self._size >= self._look_at or self._size < _SMALL_HEAD:
            return False
        end, self._tail = self._tail + data, (self._tail + data)[-3:]
        return b"\r\n\r\n" not in end

    def _refuse(self, refused: HeadRefused) -> None:
        """End the connection: nobody knows where the next request would begin."""
        self.requests += 1
        self.waits_since = None
        closing = [(b"connection", b"close")]
        if refused.detail:
            answer = self._ingress.plane.refuse(ProblemError(MALFORMED, refused.detail, headers=closing))
        else:
            answer = refused.status, [*closing, (b"content-length", b"0")], b""
        self._transport.write(_answer_text(*answer))
        if self._is_ended:
            self._transport.close()
        else:
            self._tunnel = Drain(self._transport)

    def _begin(self, head: Head, body: bytes) -> None:
        self.is_busy = True
        self.requests += 1
        if head.quick is None or not self._ingress.plane.begin(head.quick, body, self._answer):
            self._task = self._ingress.loop.create_task(self._serve(head, body))

    async def _serve(self, head: Head, body: bytes) -> None:
        """Answer by way of ASGI's events."""
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": head.path,
            "raw_path": head.path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": head.headers,
            "client": self.client,
            "server": self._transport.get_extra_info("sockname"),
            "state": {},
        }
        bodies, number = [body], self.requests

        async def receive() -> Event:
            if bodies:
                return {"type": "http.request", "body": bodies.pop(), "more_body": False}
            await self._until_gone()
            return {"type": "http.disconnect"}

        try:
            await self._ingress.plane(head.route, scope, receive, self._send)
        finally:
            if self.is_busy and self.requests == number:  # nothing was answered
                self._transport.close()

    async def _send(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            self._started = event
        else:
            self._answer(self._started["status"], self._started["headers"], event["body"])

    async def _until_gone(self) -> None:
        # Whoever has no more to say may be gone: messages are not leased to somebody who may not read them.
        if self._transport.is_closing() or self._is_ended:
            return
        self._gone = self._ingress.loop.create_future()
        await self._gone

    def _stop_waiting(self) -> None:
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)

    def _answer(self, status: int, headers: Sequence[Header], content: bytes) -> None:
        """Write an answer whose headers say its length, then go on with what the client has sent meanwhile."""
        self.is_busy = False
        if self._transport.is_closing():
            return
        self._transport.write(_answer_text(status, headers, content))
        if self._is_last or (b"connection", b"close") in headers:
            self._transport.close()
        elif self._size and not self._is_full:
            self._go_on()
        elif self._is_ended and not self._size:
            self._transport.close()

    # ---- what is here of further requests ----------------------------------------------------------------------------

    def _keep(self, data: bytes, needed: int = 0) -> None:
        self._chunks.append(data)
        self._size += len(data)
        self._needed = needed
        if self.waits_since is None:
            self.waits_since = self._ingress.loop.time()

    def _taken(self) -> bytes:
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._size = 0
        return data

    def _hold_client(self) -> None:
        if self._size > _MOST_AHEAD and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()

    def _go_on(self) -> None:
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()
        self.waits_since = None  # what is here did not wait for the client
        if self._size:
            self._read(self._taken())
            if self._is_ended and self._size and not self.is_busy and self._tunnel is None:
                self._pass_on_the_rest()

    def _pass_on_the_rest(self) -> None:
        """Let the server have a request that is cut off: it knows what to say."""
        self._to_server(self._taken())
        if isinstance(self._tunnel, Tunnel):
            self._tunnel.end()

    def _to_server(self, data: bytes) -> None:
        ingress = self._ingress
        self.waits_since = None
        self._transport.pause_reading()  # until there is a way on
        self._tunnel = tunnel = Tunnel(self._transport, lambda port: ingress.sees(port, self.client))
        if self._is_full:
            tunnel.hold()
        if self._is_ended:
            tunnel.end_when_answered()
        self._task = ingress.loop.create_task(tunnel.open(*ingress.server, data))


def _answer_text(status: int, headers: Sequence[Header], content: bytes) -> bytes:
    lines = [b"%b: %b\r\n" % header for header in headers]
    return b"%b%bdate: %b\r\n\r\n%b" % (_STATUS_LINES[status], b"".join(lines), _clock.date(), content)


class _Clock:
    """The date of answers (RFC 9110 6.6.1), which changes once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._text = b""

    def date(self) -> bytes:
        now = int(time.time())
        if now != self._second:
            self._second, self._text = now, formatdate(now, usegmt=True).encode()
        return self._text


_clock: Final = _Clock()
