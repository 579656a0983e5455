"""Waiting for a condition, never for time."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable

# Long enough for a loaded machine with one slow core: a test that waits this long is about to fail anyway.
PATIENCE_SECONDS = 180.0
_LOOK_SECONDS = 0.02


async def eventually(
    condition: Callable[[], object] | Callable[[], Awaitable[object]], *, within: float = PATIENCE_SECONDS
) -> None:
    """Wait until `condition` (plain or awaitable) is true; raises TimeoutError naming it after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        held = condition()
        if inspect.isawaitable(held):
            held = await held
        if held:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {within:g} s: {inspect.getsource(condition).strip()}")
        await asyncio.sleep(_LOOK_SECONDS)


def wait_until(condition: Callable[[], object], *, within: float = PATIENCE_SECONDS) -> None:
    """Wait, in a test without a loop, until `condition` is true; raises TimeoutError after `within` seconds."""
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {within:g} s: {inspect.getsource(condition).strip()}")
        time.sleep(_LOOK_SECONDS)
