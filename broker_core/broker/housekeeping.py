"""Periodic jobs of a broker: short steps on the loop, with the time as their argument."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.intake import Intake
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.store import MessageStore

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """A function to call every `period_ms` with the time in ms."""

    name: str
    period_ms: int
    run: Callable[[int], Awaitable[object] | object]


async def repeat(step: Step, clock: Callable[[], int]) -> None:
    """Run a step repeatedly until cancelled; a failed step is logged and runs again next time."""
    while True:
        await asyncio.sleep(step.period_ms / 1000)
        try:
            result = step.run(clock())
            if inspect.isawaitable(result):
                await result
        except Exception:  # noqa: BLE001 - the top of a task: one bad round must not end all later ones
            _log.exception("step=%s: failed", step.name)


async def in_parts(steps: Iterable[None]) -> None:
    """Do long work of the store while clients are served."""
    for _ in steps:
        await asyncio.sleep(0)


class Housekeeping:
    """The steps that maintain the store; `executor` waits for its disk."""

    def __init__(self, *, store: MessageStore, intake: Intake, arrivals: Arrivals, executor: Executor) -> None:
        self._store = store
        self._intake = intake
        self._arrivals = arrivals
        self._executor = executor

    def drop_expired(self, now: int) -> None:
        """Drop old segments, and refuse messages while the disk is too full."""
        dropped = self._store.drop_expired(now)
        if dropped.segments:
            _log.info("store: dropped %d old segments, %d bytes", dropped.segments, dropped.log_bytes)
        if dropped.has_room != (self._intake.refusal is None):
            _log.warning(
                "store: messages are %s", f"refused, {dropped.refusal}" if dropped.refusal else "accepted again"
            )
        self._intake.refusal = dropped.refusal
        # What failed while the disk was full may be possible now.
        self._arrivals.expect()

    def log_damage(self, _now: int) -> None:
        """Log the damaged messages that reads skipped since the last step."""
        for damaged in self._store.damage.take_new():
            _log.error("%s", damaged)

    async def checkpoint(self, _now: int) -> None:
        """Record in the store's checkpoint how much of its files is on the disk."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._store.checkpoint)
        except (GantryError, OSError) as error:
            _log.error("store: no checkpoint: %s", error)
