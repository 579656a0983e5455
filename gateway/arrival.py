"""A request on its way in: its body must come within a time, so that a client that stalls holds nothing for long."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any, Final

from gateway.limits import Arrivals
from gateway.problems import REQUEST_TIMEOUT, ProblemError
from gateway.sockets import Event, Receive, Scope

Client = tuple[str, str]
"""Address and port of the other end of a connection."""


class Arrival:
    """ASGI's receive of one HTTP request; raises REQUEST_TIMEOUT while the body pauses or takes too long.

    Once the body is whole, what comes is the server's word that the client has gone, and may take for ever.
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

    def __init__(self, scope: Scope, receive: Receive, limits: Arrivals) -> None:
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
        """When what is awaited is late, on the loop's clock; whoever follows the requests calls `expire` then."""

    async def __call__(self) -> Event:
        """Return the next event of the server."""
        if self.is_whole:
            return await self._receive()
        # A timer for each part of each body would cost more than all the rest here; so somebody looks now and then.
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

    def expire(self) -> None:
        """Give up waiting for the body, if it is waited for."""
        if self.late_at < math.inf and self._task is not None:
            self._is_late = True
            self._task.cancel()

    def _has_all(self, event: Mapping[str, Any]) -> bool:
        """Return whether as much has come as was announced, though the server has not said that this is the end."""
        if self._left is None:
            self._left = _announced(self._scope)
        self._left -= len(event.get("body", b""))
        return self._left == 0

    def _refusal(self) -> ProblemError:
        limits = self._limits
        return ProblemError(
            REQUEST_TIMEOUT,
            f"The body is late: it may pause for {limits.pause_seconds:g} s and take {limits.body_seconds:g} s in all.",
            headers=[(b"connection", b"close")],
        )


def client_of(scope: Scope) -> Client:
    """Return the other end of a connection, as the server tells it."""
    host, port = scope.get("client") or ("", "")
    return host, str(port)


_UNKNOWN: Final = -1


def _announced(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value[:20]) if value.isdigit() else _UNKNOWN
    return _UNKNOWN
