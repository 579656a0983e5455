"""The background tasks of one client object: named, and ended together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from broker_core.logs import get_logger

T = TypeVar("T")


class Tasks:
    """Named tasks with the lifetime of their owner: `close` cancels those still running and waits for them."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._running: set[asyncio.Task[Any]] = set()
        self._log = get_logger(__name__, owner)

    def start(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` in the background; its errors are logged."""
        task = asyncio.create_task(work, name=f"{self._owner} {name}")
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def start_awaited(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` in the background for callers that await the task: its errors are theirs, and are not logged."""
        task = asyncio.create_task(work, name=f"{self._owner} {name}")
        self._running.add(task)
        task.add_done_callback(self._fetched)
        return task

    def every(self, name: str, period_ms: int, step: Callable[[], Awaitable[object]]) -> asyncio.Task[Any]:
        """Call `step` repeatedly, `period_ms` apart; failures are logged, and the next call follows as usual."""
        return self.start(name, self._repeat(name, period_ms, step))

    async def close(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        running = [task for task in self._running if task is not asyncio.current_task()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _repeat(self, name: str, period_ms: int, step: Callable[[], Awaitable[object]]) -> None:
        while True:
            await asyncio.sleep(period_ms / 1000)
            try:
                await step()
            except Exception:  # noqa: BLE001 - the top of a task
                self._log.exception("%s failed; retrying in %d ms", name, period_ms)

    def _fetched(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # mark the exception as retrieved: its waiters may be gone

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("task %s ended", task.get_name(), exc_info=error)
