"""Linearizable reads of all that is kept (controller/README.md#reading)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from broker_core.controller.decisions import Unsettled
from broker_core.controller.etcd.bell import Bell
from broker_core.controller.etcd.errors import Declined, EtcdError
from broker_core.controller.etcd.gateway import Calls
from broker_core.controller.etcd.keyspace import Keyspace
from broker_core.controller.etcd.messages import RANGE
from broker_core.controller.etcd.patience import Patience


class Reader:
    """Reads one after the other; those who wait for one share the next."""

    def __init__(self, calls: Calls, space: Keyspace, bell: Bell, patience: Callable[[], Patience]) -> None:
        self._calls = calls
        self._space = space
        self._bell = bell
        self._patience = patience
        self._one = asyncio.Lock()
        self._begun = 0
        self._answered = 0

    async def read(self) -> Keyspace:
        """Return what is kept, not older than this call; raises Unsettled."""
        begun_before = self._begun
        async with self._one:
            if self._answered <= begun_before:
                self._begun += 1
                await self._read()
                self._answered = self._begun
        return self._space

    def distrust(self) -> None:
        """Read everything the next time, not only what changed."""
        self._space.distrust()

    async def _read(self) -> None:
        patience = self._patience()
        # The watch may have told of more than the last read showed.
        before = max(self._space.revision, self._bell.revision)
        while (changed := await self._ask(patience)) is None:
            pass
        if self._space.revision < before:
            await self._bell.turn_back(self._space.revision)
        await self._bell.ring(changed, self._space.revision)

    async def _ask(self, patience: Patience) -> set[str] | None:
        asked = self._space.request()
        try:
            return self._space.take(asked, await self._calls.call(RANGE, asked))
        except Declined as error:
            self._space.distrust()
            raise Unsettled(f"etcd declines: {error}") from error
        except EtcdError as error:
            self._space.distrust()
            await patience.after(error)
            return None
