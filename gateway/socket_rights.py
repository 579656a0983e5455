"""Checks every two seconds whether the callers of the open WebSockets still have the same rights; ends all at the stop.

A request is checked when it arrives, but a socket may stay open for days. It is closed when its token is revoked or
expires, when its session ends, and when user, role or scopes change.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from gateway import sockets
from gateway.auth import Principal
from gateway.sockets import Event, Receive, Send

CHECK_SECONDS: Final = 2.0
_GONE: Final = (sockets.NOT_AUTHENTICATED, "The token was revoked or the session has ended.")
_DRAINING: Final = (sockets.DRAINING, sockets.DRAINING_REASON)
_CHANGED: Final = (sockets.FORBIDDEN, "Your rights have changed; connect again.")

FindAgain = Callable[[Sequence[Principal]], Awaitable[list[Principal | None]]]
Close = Callable[[int, str], None]

_log = logging.getLogger(__name__)


class SocketRights:
    """The open WebSockets with their principals, and the task that checks them."""

    def __init__(self, find_again: FindAgain, *, check_seconds: float = CHECK_SECONDS) -> None:
        self._find_again = find_again
        self._check_seconds = check_seconds
        self._open: dict[Close, Principal] = {}
        self._checking: asyncio.Task[None] | None = None
        self._is_draining = False

    @contextmanager
    def watched(self, principal: Principal, close: Close) -> Iterator[None]:
        """Call `close` with a code and a reason if `principal` changes, or `drain` is called, before the block ends."""
        self._open[close] = principal
        if self._is_draining:
            close(*_DRAINING)
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_on(), name="sockets: check rights")
        try:
            yield
        finally:
            self._open.pop(close, None)

    def drain(self) -> None:
        """Close all sockets, and each one that still opens, because the process stops."""
        self._is_draining = True
        for close in list(self._open):
            close(*_DRAINING)

    async def stop(self) -> None:
        """Cancel the task."""
        if self._checking is not None:
            self._checking.cancel()
            await asyncio.gather(self._checking, return_exceptions=True)

    async def _check_on(self) -> None:
        while True:
            await asyncio.sleep(self._check_seconds)
            try:
                await self.check()
            except Exception:  # noqa: BLE001 - any error of the database
                # Sockets stay open while their rights are unknown: the database may answer again soon.
                _log.exception("sockets: their rights could not be checked")

    async def check(self) -> None:
        """Close the sockets whose principal has changed or is gone."""
        asked = dict(self._open)
        if not asked:
            return
        once = list({each.credential: each for each in asked.values()}.values())
        found = dict(zip((each.credential for each in once), await self._find_again(once), strict=True))
        for close, principal in asked.items():
            now = found[principal.credential]
            if now != principal:
                self._open.pop(close, None)
                close(*(_GONE if now is None else _CHANGED))


class ClosableReceive:
    """ASGI's receive of a WebSocket that our side may close: the application then gets a disconnect."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ending: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    def close(self, code: int, reason: str) -> None:
        """Close the socket; only the first call counts."""
        if not self._ending.done():
            self._ending.set_result((code, reason))

    async def __call__(self) -> Event:
        """Return the next event of the client, or a disconnect after `close`."""
        receiving = asyncio.ensure_future(self._receive())
        try:
            ends: list[asyncio.Future[Any]] = [receiving, self._ending]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if receiving.done():
                event = receiving.result()
                if event["type"] == "websocket.disconnect" and event.get("code") == sockets.WITHOUT_CODE:
                    self.close(sockets.TOO_BIG, sockets.UNREADABLE_REASON)
                return event
            return {"type": "websocket.disconnect", "code": self._ending.result()[0]}
        finally:
            receiving.cancel()

    async def send_close(self, send: Send) -> None:
        """Send the close frame if we ended the socket; call it after the reader has stopped."""
        if self._ending.done():
            code, reason = self._ending.result()
            with suppress(OSError, RuntimeError):  # the client has disconnected
                await send({"type": "websocket.close", "code": code, "reason": sockets.close_reason(reason)})
