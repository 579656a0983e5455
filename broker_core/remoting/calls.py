"""Requests sent on one connection that wait for their responses."""

from __future__ import annotations

import asyncio
import itertools
from typing import Final

from broker_core.protocol.command import Command
from broker_core.remoting.errors import ConnectionClosed, RemotingTimeout

_OPAQUE_MASK: Final = 0x7FFFFFFF


class _Call:
    """One request; `deadline` is in the loop's time."""

    __slots__ = ("deadline", "future", "timeout_ms")

    def __init__(self, future: asyncio.Future[Command], deadline: float, timeout_ms: int) -> None:
        self.future = future
        self.deadline = deadline
        self.timeout_ms = timeout_ms


class PendingCalls:
    """Pending calls by request number. One timer serves all of them: most are answered long before their deadline."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.peer = ""  # for error messages
        self._loop = loop
        self._opaques = itertools.count()
        self._calls: dict[int, _Call] = {}
        self._timer: asyncio.TimerHandle | None = None
        # uvloop's handle for a time that has passed does not tell it.
        self._expires_at = 0.0

    def __len__(self) -> int:
        return len(self._calls)

    def next_opaque(self) -> int:
        """Return the next request number; numbers repeat after 2^31 calls."""
        return next(self._opaques) & _OPAQUE_MASK

    async def wait(self, opaque: int, deadline: float, timeout_ms: int) -> Command:
        """Return the response with this number; raises RemotingTimeout after `deadline`, or ConnectionClosed."""
        future: asyncio.Future[Command] = self._loop.create_future()
        self._calls[opaque] = _Call(future, deadline, timeout_ms)
        if self._timer is None or deadline < self._expires_at:
            self._expire_at(deadline)
        try:
            return await future
        finally:
            self._calls.pop(opaque, None)

    def resolve(self, response: Command) -> bool:
        """Pass a response to the call that waits for it; return False if there is none."""
        call = self._calls.get(response.opaque)
        if call is None or call.future.done():
            return False
        call.future.set_result(response)
        return True

    def fail(self, reason: str, *, is_unreadable: bool = False) -> None:
        """Fail every call with ConnectionClosed; `is_unreadable` if bytes came that are no frame."""
        if self._timer is not None:
            self._timer.cancel()
        for call in self._calls.values():
            if not call.future.done():
                call.future.set_exception(ConnectionClosed(self.peer, reason, is_unreadable=is_unreadable))

    def _expire_at(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._expires_at = deadline
        self._timer = self._loop.call_at(deadline, self._expire)

    def _expire(self) -> None:
        self._timer = None
        now = self._loop.time()
        for call in self._calls.values():
            if call.deadline <= now and not call.future.done():
                call.future.set_exception(RemotingTimeout(self.peer, call.timeout_ms))
        waiting = [call.deadline for call in self._calls.values() if call.deadline > now]
        if waiting:
            self._expire_at(min(waiting))
