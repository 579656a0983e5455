"""The queues before a copy of a log, made while clients are served (store/README.md#queues-before-a-copy)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.store import MessageStore
from broker_core.store.mapped_file import sync_file_system


def _nobody_asks() -> None:
    return None


async def make_queues(store: MessageStore, ends: QueueEnds, *, on_part: Callable[[], None] = _nobody_asks) -> None:
    """Do what takes long of `begin_behind`, in parts; `on_part` is called after each. Raises what that raises."""
    for _ in store.making_queues(ends):
        on_part()
        await asyncio.sleep(0)
    # What a thread has brought to the disk, the loop need not wait for.
    try:
        await asyncio.to_thread(sync_file_system, store.config.folder)
    except OSError as error:
        raise store.note_refused(error) from error  # a second sync would succeed without what is lost
    on_part()
