"""Group commit: sends that wait until the disk has them, and the one flush that serves all of them (store-format.md 7).

::

    put ──► wait(end, answer) ──┐
    put ──► wait(end, answer) ──┤   one flush in another thread     flushed up to X
    put ──► wait(end, answer) ──┴──────────────────────────────────► answer(True) for every end ≤ X

While one flush runs, the sends that arrive gather for the next, so the disk is never asked for less than everything
there is. Under asynchronous flush nobody waits and the same flush runs twice a second.

A flush that fails is never tried again as if nothing had happened: the system may have thrown the pages away. All who
wait, and all who come later, are told that their message is not known to be on the disk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Protocol

from broker_core.broker.limits import Limits
from broker_core.errors import GantryError
from broker_core.logs import get_logger

_log = get_logger(__name__)

Answer = Callable[[bool], None]
"""Called once: True when the message is on the disk, False when that is not known in time."""


class Flushes(Protocol):
    """What is needed of a store."""

    @property
    def flushed_log_offset(self) -> int:
        """Everything before it is on the disk."""

    def flush(self) -> object:
        """Bring what was appended to the disk; called in another thread."""


@dataclass(slots=True)
class _Waiter:
    end: int
    deadline: int
    answer: Answer


class GroupCommit:
    """The flushes of one store, and who waits for them. Belongs to one event loop."""

    def __init__(self, store: Flushes, executor: Executor, *, limits: Limits, timeout_ms: int) -> None:
        self._store = store
        self._executor = executor
        self._limits = limits
        self._timeout_ms = timeout_ms
        self._waiting: deque[_Waiter] = deque()  # ends rise from left to right, and so do deadlines
        self._wanted = asyncio.Event()
        self._failure: GantryError | OSError | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def failure(self) -> GantryError | OSError | None:
        """Why the disk takes no more, if it does not."""
        return self._failure

    def check_room(self) -> None:
        """Raise LimitReached when no further send may wait; asked before the message is stored."""
        if len(self._waiting) >= self._limits.unflushed_waiters:
            raise self._limits.refuse("unflushed_waiters", "the disk is slower than the senders")

    def wait(self, end: int, answer: Answer, *, now: int) -> None:
        """Have `answer` called when everything before log offset `end` is on the disk, or after the timeout."""
        if self._failure is not None:
            answer(False)
            return
        self._waiting.append(_Waiter(end, now + self._timeout_ms, answer))
        self._wanted.set()

    def expire(self, now: int) -> None:
        """Answer those whose time is over: their messages are stored, but not known to be on the disk."""
        while self._waiting and self._waiting[0].deadline <= now:
            self._waiting.popleft().answer(False)

    async def run(self, idle_ms: int) -> None:
        """Flush whenever somebody waits, and every `idle_ms` otherwise; ends when it is cancelled."""
        while True:
            if not self._waiting:
                self._wanted.clear()
                try:
                    async with asyncio.timeout(idle_ms / 1000):
                        await self._wanted.wait()
                except TimeoutError:
                    pass
            await self.flush()

    async def flush(self) -> None:
        """Flush once and answer everybody whom that serves."""
        if self._failure is None:
            try:
                await asyncio.get_running_loop().run_in_executor(self._executor, self._store.flush)
            except (GantryError, OSError) as error:
                _log.error("flush=failed: %s; messages are no longer known to be on the disk", error)
                self._failure = error
        flushed = self._store.flushed_log_offset
        while self._waiting and (self._waiting[0].end <= flushed or self._failure is not None):
            waiter = self._waiting.popleft()
            waiter.answer(waiter.end <= flushed)
