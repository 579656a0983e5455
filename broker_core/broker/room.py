"""The start of a broker on a full disk: it waits for room (docs/operations.md#retention-and-a-full-disk)."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable
from typing import Final

from broker_core.broker.server import Broker
from broker_core.logs import get_logger
from broker_core.store.errors import StoreFull

_FIRST_PAUSE_SECONDS: Final = 0.2
_MOST_PAUSE_SECONDS: Final = 5.0
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)

_log = get_logger(__name__)


async def open_with_room(opens: Callable[[], Awaitable[Broker]], name: str, stop: asyncio.Event) -> Broker | None:
    """Return the open broker as soon as the disk has room for what a start writes; None if `stop` is set before.

    Raises what `opens` raises for another reason. A limit of this process for the size of files is one: it stays.
    """
    pause, told = _FIRST_PAUSE_SECONDS, ""
    while not stop.is_set():
        try:
            broker = await opens()
        except (StoreFull, OSError) as error:
            if not is_full_disk(error):
                raise
            if not told:
                _log.error("broker=%s: it waits for room on its disk, and serves nothing before: %s", name, error)
            told = str(error)
        else:
            if told:
                _log.warning("broker=%s: its disk has room again; before there was %s", name, told)
            return broker
        await _set_within(stop, pause)
        pause = min(2 * pause, _MOST_PAUSE_SECONDS)
    return None


def is_full_disk(error: StoreFull | OSError) -> bool:
    """Tell whether an error says that a disk has no room, which somebody may give it."""
    cause = error.__cause__ if isinstance(error, StoreFull) else error
    return not isinstance(cause, OSError) or cause.errno in _FULL


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    waiting = asyncio.ensure_future(event.wait())
    await asyncio.wait((waiting,), timeout=seconds)
    waiting.cancel()
