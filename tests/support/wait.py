"""Waiting for a condition, never for time."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

# Long enough for a loaded machine with one slow core: a test that waits this long is about to fail anyway.
PATIENCE_SECONDS = 180.0
# Soon at first, and later less often: who waits for seconds would slow down what it waits for, and looks late by a
# twentieth of the time at most.
_LOOK_SECONDS = (0.02, 0.1)
_LATE = 0.05


async def eventually(
    condition: Callable[[], object] | Callable[[], Awaitable[object]], *, within: float = PATIENCE_SECONDS
) -> None:
    """Wait until `condition` (plain or awaitable) is true; raises TimeoutError naming it after `within` seconds."""
    began = time.monotonic()
    while True:
        held = condition()
        if inspect.isawaitable(held):
            held = await held
        if held:
            return
        await asyncio.sleep(_pause(began, within, condition))


def wait_until(condition: Callable[[], object], *, within: float = PATIENCE_SECONDS) -> None:
    """Wait, in a test without a loop, until `condition` is true; raises TimeoutError after `within` seconds."""
    began = time.monotonic()
    while not condition():
        time.sleep(_pause(began, within, condition))


def _pause(began: float, within: float, condition: Callable[[], object]) -> float:
    """Return how long to wait before the next look; raises TimeoutError when it has taken too long."""
    waited = time.monotonic() - began
    if waited > within:
        raise TimeoutError(f"not within {within:g} s: {inspect.getsource(condition).strip()}")
    shortest, longest = _LOOK_SECONDS
    return min(longest, max(shortest, waited * _LATE))
