"""An incoming request: its body must arrive in time, so that a stalled client does not keep resources."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from gateway.limits import ArrivalLimits
from gateway.problems import REQUEST_TIMEOUT, ProblemError
from gateway.sockets import Event, Receive, Scope, Send

Client = tuple[str, str]
"""Address and port of the other end of a connection."""


class Arrival:
    """ASGI's receive of one HTTP request; raises REQUEST_TIMEOUT if the body pauses or takes too long.

    After the whole body the next event is the disconnect of the client; there is no time limit for that.
    """

    __slots__ = (
        "_deadline",
        "_is_late",
        "_left",
        "_limits",
        "_loop",
        "_receive",
        "_scope",
        "_task",
        "client",
        "is_whole",
        "late_at",
        "since",
    )

    def __init__(self, scope: Scope, receive: Receive, limits: ArrivalLimits) -> None:
        self._scope = scope
        self._receive = receive
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._is_late = False
        self._left: int | None = None
        self.client = client_of(scope)
        self.is_whole = False
        self.since = self._loop.time()
        self._deadline = self.since + limits.body_seconds
        self._task: asyncio.Task[Any] | None = None
        self.late_at = math.inf
        """Time on the loop's clock after which the awaited part is late; `OpenConnections` then calls `expire`."""

    async def __call__(self) -> Event:
        """Return the next event of the server."""
        if self.is_whole:
            return await self._receive()
        # A timer for each part of each body would cost more than the rest here, so `OpenConnections` polls `late_at`.
        self._task = asyncio.current_task()
        self.late_at = min(self._loop.time() + self._limits.pause_seconds, self._deadline)
        try:
            event = await self._receive()
        except asyncio.CancelledError:
            if not self._is_late or self._task is None or self._task.uncancel() > 0:
                raise
            raise self._refusal() from None
        finally:
            self.late_at = math.inf
        self.is_whole = not event.get("more_body", False) or self._has_all(event)
        return event

    def stream(self) -> None:
        """Let the body take any time; it may still not pause for longer than others."""
        self._deadline = math.inf

    def closing(self, send: Send) -> Send:
        """Return `send`, whose answer says that the connection ends if it is given before the whole body was read.

        The server closes such a connection without always saying so (RFC 9112 9.6): the next request would be lost.
        """

        async def told(event: Event) -> None:
            if event["type"] == "http.response.start" and self._is_cut(event["status"]):
                headers = [*event["headers"], (b"connection", b"close")]
                event = {**event, "headers": headers}
            await send(event)

        return told

    def expire(self) -> None:
        """Stop waiting for the body, if something waits for it."""
        if self.late_at < math.inf and self._task is not None:
            self._is_late = True
            self._task.cancel()

    def _is_cut(self, status: int) -> bool:
        """Return whether the rest of the body will not be read, in a version of HTTP in which requests queue up."""
        goes_on = self._deadline == math.inf and status < HTTPStatus.BAD_REQUEST
        return not (self.is_whole or goes_on or self._scope["http_version"] == "2") and _has_body(self._scope)

    def _has_all(self, event: Mapping[str, Any]) -> bool:
        """Return whether the announced length has arrived, although the server has not marked the end."""
        if self._left is None:
            self._left = _announced(self._scope)
        self._left -= len(event.get("body", b""))
        return self._left == 0

    def _refusal(self) -> ProblemError:
        limits = self._limits
        return ProblemError(
            REQUEST_TIMEOUT,
            f"The body is late: it may pause for {limits.pause_seconds:g} s and take {limits.body_seconds:g} s in all.",
        )


def client_of(scope: Scope) -> Client:
    """Return the peer of a connection; empty strings if the server does not report it."""
    host, port = scope.get("client") or ("", "")
    return host, str(port)


_UNKNOWN: Final = -1


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value[:20]) if value.isdigit() else _UNKNOWN
    return _UNKNOWN


def _has_body(scope: Scope) -> bool:
    """Return whether a body was announced."""
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
