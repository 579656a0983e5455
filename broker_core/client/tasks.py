"""The background tasks of one client object: started with a name, ended together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from broker_core.logs import get_logger

T = TypeVar("T")


class Tasks:
    """Named tasks that live no longer than their owner: `close` cancels what still runs and waits for it."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._running: set[asyncio.Task[Any]] = set()
        self._log = get_logger(__name__, owner)

    def start(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` in the background; what it raises is logged, not lost."""
        task = asyncio.create_task(work, name=f"{self._owner} {name}")
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def start_awaited(self, name: str, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run `work` in the background for those who await the task: they get what it raises, the log does not."""
        task = asyncio.create_task(work, name=f"{self._owner} {name}")
        self._running.add(task)
        task.add_done_callback(self._fetched)
        return task

    def every(self, name: str, period_ms: int, step: Callable[[], Awaitable[object]]) -> asyncio.Task[Any]:
        """Call `step` again and again with `period_ms` between; one that fails is logged and tried again."""
        return self.start(name, self._repeat(name, period_ms, step))

    async def close(self) -> None:
        """Cancel all tasks and wait until they are gone."""
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
                self._log.exception("%s failed; it is tried again in %d ms", name, period_ms)

    def _fetched(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # mark it as retrieved: those who awaited may be gone

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("task %s ended", task.get_name(), exc_info=error)
