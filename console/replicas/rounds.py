"""A question that is asked every so often beside the rounds of the sampler, which it must not delay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Final

EVERY_MS: Final = 2_000
KEEP_SECONDS: Final = 8
"""Four rounds: who is master may change in each, so what an ended sampler saw is no answer for longer."""


class Rounds:
    """Asks one at a time; moments are ms since 1970."""

    def __init__(self, name: str, every_ms: int) -> None:
        self._name = name
        self._every_ms = every_ms
        self._due = 0
        self._asking: asyncio.Task[None] | None = None

    def begin(self, now: int, ask: Callable[[], Coroutine[None, None, None]]) -> None:
        """Begin a round at `now` if one is due and none is running; `ask` handles its failures itself."""
        if now >= self._due and (self._asking is None or self._asking.done()):
            self._due = now + self._every_ms
            self._asking = asyncio.create_task(ask(), name=self._name)

    def rest_until(self, moment: int) -> None:
        """Begin no round before `moment`."""
        self._due = moment

    async def close(self) -> None:
        """Cancel a running round."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)
