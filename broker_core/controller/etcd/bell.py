"""Who waits for a change is woken by it (controller/README.md#reading)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from broker_core.controller.etcd.keyspace import Keys


class Bell:
    """The revision of the newest change of each name that somebody told of."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._rung: dict[str, int] = {}
        self.revision = 0
        """The newest that was told of."""
        self._waiting = asyncio.Condition()

    async def ring(self, keys: Iterable[str], revision: int) -> None:
        """Tell of changed keys as of a revision; what comes late is told with an earlier one."""
        async with self._waiting:
            self.revision = max(self.revision, revision)
            for name in filter(None, map(self._keys.name_of, keys)):
                self._rung[name] = max(self._rung.get(name, 0), revision)
            self._waiting.notify_all()

    async def turn_back(self, revision: int) -> None:
        """Tell that the engine is at an earlier revision than before: whoever waits for a later one is woken."""
        async with self._waiting:
            self.revision = revision
            self._rung = dict.fromkeys(self._rung, revision)
            self._waiting.notify_all()

    async def changes(self, after: int) -> set[str]:
        """Return the names that changed after a revision, once there is one; all when the engine was turned back."""
        async with self._waiting:
            await self._waiting.wait_for(lambda: self.revision < after or self._after(after))
            return self._after(after) or set(self._rung)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once a condition holds, which is looked at at each ring."""
        async with self._waiting:
            await self._waiting.wait_for(condition)

    def _after(self, revision: int) -> set[str]:
        return {name for name, rung in self._rung.items() if rung > revision}
