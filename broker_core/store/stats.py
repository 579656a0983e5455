"""Sizes and counts of a store at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.store.commit_log import CommitLog
from broker_core.store.dispatcher import Dispatcher
from broker_core.store.index import Index
from broker_core.store.queues import Queues


@dataclass(frozen=True, slots=True)
class StoreStats:
    """The figures of a store; offsets are log offsets, sizes are bytes."""

    log_begin: int
    log_end: int
    log_bytes: int
    log_segments: int
    flushed: int
    unflushed_bytes: int
    dispatched: int
    undispatched_bytes: int
    queues: int
    queue_bytes: int
    index_files: int
    index_entries: int
    # Store time of the oldest message (ms); None in an empty store.
    oldest_store_time: int | None


def measure(log: CommitLog, queues: Queues, index: Index, dispatcher: Dispatcher, *, flushed: int) -> StoreStats:
    """Return the figures of these parts."""
    return StoreStats(
        log_begin=log.begin,
        log_end=log.end,
        log_bytes=log.end - log.begin,
        log_segments=len(log.files),
        flushed=flushed,
        unflushed_bytes=log.end - flushed,
        dispatched=dispatcher.position,
        undispatched_bytes=log.end - dispatcher.position,
        queues=len(queues.by_key),
        queue_bytes=sum(queue.size_bytes for queue in queues),
        index_files=len(index.files),
        index_entries=sum(file.count - 1 for file in index.files),
        oldest_store_time=log.store_time(log.begin),
    )
