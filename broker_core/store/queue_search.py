"""Places in a consume queue that are found by the log: the newest record that it names, the next one, the oldest kept.

A queue may have a million units of one segment of the log, so places are bisected wherever units are in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.protocol.record import read_head
from broker_core.store.commit_log import CommitLog
from broker_core.store.soundness import find_damage
from broker_core.store.units import FILLER_SIZE, leading_fillers

if TYPE_CHECKING:
    from broker_core.store.consume_queue import ConsumeQueue


def newest_in(log: CommitLog, queue: ConsumeQueue) -> int:
    """Return the log offset after the newest record that the queue names and `log` has; -1 for none.

    Units of records that have left the log, and fillers, count as correct.
    """
    for log_offset, size in queue.backwards():
        if size == FILLER_SIZE:
            return queue.max_physical
        if 0 <= log_offset < log.begin or _is_named(log, queue, log_offset, size):
            return log_offset + size
    return -1


def _is_named(log: CommitLog, queue: ConsumeQueue, log_offset: int, size: int) -> bool:
    record = log.find_record(log_offset)
    if record is None or len(record) != size:
        return False
    head = read_head(record)
    topic = record[head.topic_begin : head.topic_end]
    return not queue.record_topic or (head.queue_id == queue.queue_id and topic == queue.record_topic[1:])


def next_named(log: CommitLog, queue: ConsumeQueue, log_offset: int) -> int | None:
    """Return where the first complete record after `log_offset` begins that the queue names."""
    low, high = queue.min_offset, queue.max_offset
    while low < high:
        middle = (low + high) // 2
        unit = queue.find_unit(middle)
        if unit is None or unit.log_offset <= log_offset:
            low = middle + 1
        else:
            high = middle
    for number in range(low, queue.max_offset):
        unit = queue.find_unit(number)
        record = log.read(unit.log_offset, unit.size) if unit and unit.log_offset > log_offset else None
        if unit and record and not find_damage(record, unit.log_offset, queue.record_topic, queue.queue_id, number):
            return unit.log_offset
    return None


def last_before(queue: ConsumeQueue, log_offset: int) -> int | None:
    """Return where the last record begins that the queue names before `log_offset`, if there is one."""
    for number in range(first_from(queue, log_offset) - 1, queue.min_offset - 1, -1):
        unit = queue.find_unit(number)
        if unit is not None and unit.size != FILLER_SIZE and unit.log_offset < log_offset:
            return unit.log_offset
    return None


def log_offset_behind(queue: ConsumeQueue, queue_offset: int) -> int:
    """Return where the record before `queue_offset` ends in the log; 0 if the queue has none before it."""
    for number in range(queue_offset - 1, queue.min_offset - 1, -1):
        unit = queue.find_unit(number)
        if unit is not None and unit.size != FILLER_SIZE:
            return unit.log_offset + unit.size
    return 0


def first_from(queue: ConsumeQueue, log_offset: int) -> int:
    """Return the queue offset of the first readable message at `log_offset` or behind it, or past the last one."""
    low, high = queue.min_offset, queue.max_offset
    # Of a queue that was rebuilt a whole file of fillers may come first.
    while fillers := leading_fillers(queue.units_from(low)):
        low += fillers
    while low < high:
        middle = at = (low + high) // 2
        # Fillers have no place in the log, and damaged units a wrong one: what follows them decides.
        place = _place_of(queue, at)
        while place is None and at < high:
            at += 1
            place = _place_of(queue, at)
        if place is None or place >= log_offset:
            high = middle
        else:
            low = at + 1
    return low


def _place_of(queue: ConsumeQueue, number: int) -> int | None:
    """Return the log offset of a unit that agrees with those beside it, None for any other."""
    before, unit, after = (queue.find_unit(each) for each in (number - 1, number, number + 1))
    if unit is None or unit.size == FILLER_SIZE or unit.log_offset < 0:
        return None
    follows = before is None or before.size == FILLER_SIZE or before.log_offset + before.size <= unit.log_offset
    leads = after is None or after.size == FILLER_SIZE or unit.log_offset + unit.size <= after.log_offset
    return unit.log_offset if follows and leads else None
