"""Whether those who opened a WebSocket still may have it: asked every other second, for all open ones at once.

A request is judged when it comes. A socket would go on for days on what was true when it was opened, so it ends when
its token was revoked or ran out, when the session ended, and when user, role or scopes are not what they were.
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

ASK_SECONDS: Final = 2.0
_GONE: Final = (sockets.NOT_AUTHENTICATED, "The token was revoked or the session has ended.")
_CHANGED: Final = (sockets.FORBIDDEN, "Your rights have changed; connect again.")

FindAgain = Callable[[Sequence[Principal]], Awaitable[list[Principal | None]]]
Close = Callable[[int, str], None]

_log = logging.getLogger(__name__)


class Standing:
    """The open WebSockets with those who opened them, and the asking."""

    def __init__(self, find_again: FindAgain, *, ask_seconds: float = ASK_SECONDS) -> None:
        self._find_again = find_again
        self._ask_seconds = ask_seconds
        self._open: dict[Close, Principal] = {}
        self._asking: asyncio.Task[None] | None = None

    @contextmanager
    def watched(self, principal: Principal, close: Close) -> Iterator[None]:
        """Have `close` called with a code and a reason once `principal` is not what it was."""
        self._open[close] = principal
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_on(), name="sockets: do they still may")
        try:
            yield
        finally:
            self._open.pop(close, None)

    async def stop(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask_on(self) -> None:
        while True:
            await asyncio.sleep(self._ask_seconds)
            try:
                await self.ask()
            except Exception:  # noqa: BLE001 - the database's
                # Without an answer nobody is put out; a request would be refused only for a while, too.
                _log.exception("sockets: who may have them cannot be asked")

    async def ask(self) -> None:
        """Close the sockets of those who are not what they were."""
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


class Until:
    """ASGI's receive of a WebSocket that our side may end: the application then hears that the client has gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ending: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    def close(self, code: int, reason: str) -> None:
        """End the socket; the first one to say so is heard."""
        if not self._ending.done():
            self._ending.set_result((code, reason))

    async def __call__(self) -> Event:
        """Return the next event."""
        receiving = asyncio.ensure_future(self._receive())
        try:
            ends: list[asyncio.Future[Any]] = [receiving, self._ending]
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if receiving.done():
                return receiving.result()
            return {"type": "websocket.disconnect", "code": self._ending.result()[0]}
        finally:
            receiving.cancel()

    async def say_why(self, send: Send) -> None:
        """Send the close frame if we ended the socket; call it after the reader has stopped."""
        if self._ending.done():
            code, reason = self._ending.result()
            with suppress(OSError, RuntimeError):  # the client has gone meanwhile
                await send({"type": "websocket.close", "code": code, "reason": sockets.close_reason(reason)})
