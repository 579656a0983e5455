"""Who waits for a switch by hand (broker/replication/README.md#a-master)."""

from __future__ import annotations

import asyncio


class HandingOver:
    """The requests that are answered when another replica has the whole log."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def ready(self) -> None:
        """Let all of them be answered."""
        for each in self._waiting:
            if not each.done():
                each.set_result(None)

    async def wait(self, to: int, timeout_ms: int) -> str | None:
        """Wait until replica `to` has the whole log; return why it has not, None if it has."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ready)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await ready
        except TimeoutError:
            return f"replica {to} did not get the whole log in {timeout_ms} ms"
        finally:
            self._waiting.remove(ready)
        return None
