"""What the demo does while the broker or the gateway is away: it waits, says so once, and goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from broker_core.errors import GantryError
from gateway.cli.api import Refused, Unreachable
from gateway.demo.setting_up import Say

GIVE_UP_S: Final = 300.0
"""So long nothing may answer."""
_AGAIN_S: Final = 1.0
_FINAL: Final = frozenset({400, 401, 403, 422})
"""Statuses of refusals that no waiting changes."""


class Patience:
    """Repeats the rounds of several workers; belongs to one loop."""

    def __init__(self, say: Say, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._since: dict[str, float] = {}
        """By worker: when its first failed round in a row ended."""

    async def repeat(self, worker: str, work: Callable[[], Awaitable[bool]]) -> None:
        """Work until it returns False; raise what failed for `GIVE_UP_S`, or what no waiting can mend."""
        while True:
            try:
                if not await work():
                    return
            except (Refused, Unreachable, GantryError) as error:
                self._note(worker, error)
                await asyncio.sleep(_AGAIN_S)
            else:
                self._recover(worker)

    def _note(self, worker: str, error: Exception) -> None:
        if is_final(error):
            raise error
        now = self._clock()
        if not self._since:
            self._say(f"The demo waits, and goes on by itself: {error}")
        if now - self._since.setdefault(worker, now) >= GIVE_UP_S:
            raise error

    def _recover(self, worker: str) -> None:
        if self._since.pop(worker, None) is not None and not self._since:
            self._say("The demo goes on.")


def is_final(error: Exception) -> bool:
    """Return whether it is of no use to try again."""
    return isinstance(error, Refused) and error.status in _FINAL
