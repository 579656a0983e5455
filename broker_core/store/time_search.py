"""Finds the queue offset for a time, in three ways.

`nearest` answers clients as Apache RocketMQ 4.9 does: the message stored nearest to the time, so a time after all
messages gives the last message, not the offset after it (store/README.md#search-by-time). Those of 5.x are exact:
`lower_bound` is the first message stored at the time or later, `upper_bound` the last one stored until then. RocketMQ
chooses the file by its modification time, which a copy loses; here the store time of its last message is used.

Both require that store times never decrease within a queue, which is true unless the clock is set back.
"""

from __future__ import annotations

from broker_core.protocol.message import QueueOffset
from broker_core.store.commit_log import CommitLog
from broker_core.store.consume_queue import ConsumeQueue


def nearest(log: CommitLog, queue: ConsumeQueue, timestamp: int) -> QueueOffset:
    """Return the offset of the message stored nearest to `timestamp` (ms), the earlier one of two equally near."""
    after = lower_bound(log, queue, timestamp)
    if after == queue.min_offset:
        return after
    before = QueueOffset(after - 1)
    if after == queue.max_offset:
        return before
    time_before, time_after = store_time(log, queue, before), store_time(log, queue, after)
    if time_after == timestamp or time_before is None or time_after is None:
        return after
    return before if timestamp - time_before <= time_after - timestamp else after


def lower_bound(log: CommitLog, queue: ConsumeQueue, timestamp: int) -> QueueOffset:
    """Return the offset of the first message stored at `timestamp` (ms) or later; the maximum if there is none."""
    low, high = queue.min_offset, queue.max_offset
    while low < high:
        middle = (low + high) // 2
        stored = store_time(log, queue, middle)
        # A message whose record is gone is older than all existing ones.
        if stored is None or stored < timestamp:
            low = middle + 1
        else:
            high = middle
    return QueueOffset(low)


def upper_bound(log: CommitLog, queue: ConsumeQueue, timestamp: int) -> QueueOffset:
    """Return the offset of the last message stored at `timestamp` (ms) or before; the minimum if there is none."""
    return QueueOffset(max(lower_bound(log, queue, timestamp + 1) - 1, queue.min_offset))


def last_before(log: CommitLog, queue: ConsumeQueue, timestamp: int) -> int | None:
    """Return where in the log the last message is that was stored before `timestamp` (ms), if it has one."""
    before = lower_bound(log, queue, timestamp) - 1
    unit = queue.find_unit(before) if before >= queue.min_offset else None
    return unit.log_offset if unit is not None and log.store_time(unit.log_offset) is not None else None


def store_time(log: CommitLog, queue: ConsumeQueue, queue_offset: int) -> int | None:
    """Return when the message at `queue_offset` was stored (ms), if it exists."""
    unit = queue.find_unit(queue_offset)
    return log.store_time(unit.log_offset) if unit else None
