"""What a broker does by itself: short steps at fixed periods, on the loop, with the time as their argument."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from broker_core.logs import get_logger

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Step:
    """Something to be done every `period_ms`; it is given the time in ms."""

    name: str
    period_ms: int
    run: Callable[[int], Awaitable[object] | object]


async def repeat(step: Step, clock: Callable[[], int]) -> None:
    """Run a step for ever; one that fails is logged and runs again next time. Ends when it is cancelled."""
    while True:
        await asyncio.sleep(step.period_ms / 1000)
        try:
            result = step.run(clock())
            if inspect.isawaitable(result):
                await result
        except Exception:  # noqa: BLE001 - the top of a task: one bad round must not end all later ones
            _log.exception("step=%s: failed", step.name)
