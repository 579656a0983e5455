"""Drops the end of an open store's log with all that is derived of it (store/README.md#cutting).

::

    checkpoint lowered → log cut and zeroed → units, keys → what waits for the dispatcher → on the disk

A crash in between leaves a log that is longer or shorter than its queues, which opening it repairs; the checkpoint is
first, so that this never trusts what is gone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from broker_core.store.checkpoint import Checkpoint
from broker_core.store.commit_log import CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.dispatcher import Dispatcher, Pending
from broker_core.store.index import Index
from broker_core.store.queue_search import last_before
from broker_core.store.queues import Queues


@dataclass(frozen=True, slots=True)
class CutPoint:
    """Where a log ends when it is cut, and the store time (ms) of its last record then; 0 without one."""

    end: int
    store_time: int


def find_cut_point(log: CommitLog, queues: Queues, pending: Sequence[Pending], log_offset: int) -> CutPoint:
    """Return where to cut a log that must end at `log_offset` or before it: behind a whole record, or a segment."""
    newest = _newest_before(queues, pending, log_offset)
    end = begin = log.begin if newest is None else max(newest, log.begin)
    store_time = 0
    for head, _ in log.walk(begin, check_crc=False, resume=partial(queues.next_named, log)):
        if head.log_offset + head.size > log_offset:
            break
        end, store_time = head.log_offset + head.size, head.store_timestamp
    if log_offset % log.files.file_size == 0:
        end = log_offset
    return CutPoint(end, store_time)


def _newest_before(queues: Iterable[ConsumeQueue], pending: Sequence[Pending], log_offset: int) -> int | None:
    """Return where the newest record begins before `log_offset` that waits for the dispatcher, or has a unit."""
    if waiting := bisect_left(pending, log_offset, key=attrgetter("log_offset")):
        return pending[waiting - 1].log_offset
    longer = [queue for queue in queues if queue.max_physical > log_offset]
    # Of the others one is enough: to read the units of each would map a file of each.
    others = (queue for queue in queues if 0 <= queue.max_physical <= log_offset)
    newest = max(others, key=attrgetter("max_physical"), default=None)
    found = (last_before(queue, log_offset) for queue in (*longer, *([newest] if newest is not None else [])))
    return max((place for place in found if place is not None), default=None)


def lowered(checkpoint: Checkpoint, point: CutPoint, index: Index) -> Checkpoint:
    """Return a checkpoint that covers nothing behind a cut."""
    finished, begin = index.finished_before(point.end)
    return Checkpoint(
        min(checkpoint.log, point.store_time),
        min(checkpoint.queues, point.store_time),
        min(checkpoint.index, finished),
        None if checkpoint.covered is None else min(checkpoint.covered, point.end, begin),
        min(checkpoint.confirmed, point.end),
    )


def cut_derived(log: CommitLog, queues: Queues, index: Index, dispatcher: Dispatcher, point: CutPoint) -> None:
    """Drop the units and keys of all records behind the end of a log that was cut."""
    queues.cut(log.end, log.begin)
    index.cut(log.end)
    if dispatcher.position > log.end:
        dispatcher.position, dispatcher.store_time = log.end, point.store_time


def undispatched(log: CommitLog, queues: Queues, dispatcher: Dispatcher) -> list[Pending]:
    """Return what there is to dispatch of the records that are not dispatched yet."""
    walk = log.walk(dispatcher.position, check_crc=False, resume=partial(queues.next_named, log))
    return [pending for head, view in walk if (pending := dispatcher.find_pending(head, view)) is not None]
