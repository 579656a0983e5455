"""How long one operation goes on asking members (controller/README.md#members-and-time-outs)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from broker_core.controller.decisions import Unsettled
from broker_core.controller.etcd.errors import Declined, EtcdError
from broker_core.controller.etcd.gateway import Calls
from broker_core.controller.etcd.messages import Json

SECONDS: Final = 3.0
_PAUSE_SECONDS: Final = 0.05


class Patience:
    """The time of one operation, from its beginning."""

    def __init__(
        self,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._ends = clock() + seconds

    async def after(self, error: EtcdError) -> None:
        """Return when it is time to try again; raises Unsettled, with the last error, if there is none left."""
        if self._clock() >= self._ends:
            raise Unsettled(f"etcd did not answer in time; {error}") from error
        # A time-out took long enough; a member that refuses does so at once, and would be asked without end.
        await self._sleep(_PAUSE_SECONDS)


async def read_by(calls: Calls, path: str, asked: Json, patience: Patience) -> Json:
    """Ask what may be asked twice until a member answers; raises Unsettled."""
    while True:
        try:
            return await calls.call(path, asked)
        except Declined as error:
            raise Unsettled(f"etcd declines: {error}") from error
        except EtcdError as error:
            await patience.after(error)
