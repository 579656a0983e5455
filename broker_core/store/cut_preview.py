"""Describes what `python -m broker_core.store cut` would remove (store/README.md#cutting)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from broker_core.store.dump import when
from broker_core.store.reader import StoreReader


@dataclass(slots=True)
class Tail:
    """The end of a log from `begin` to `end`: how many records, their store times (ms), and messages of each queue."""

    begin: int
    end: int
    records: int = 0
    first_time: int = 0
    last_time: int = 0
    queues: dict[tuple[str, int], int] = field(default_factory=dict)


def find_tail(reader: StoreReader, log_offset: int) -> Tail:
    """Return what a cut at a log offset removes: the record that it is inside of goes, too.

    Raises ValueError for an offset that is not in the log.
    """
    log_begin, size = reader.log_begin, reader.segment_size
    if log_offset < log_begin:
        raise ValueError(f"the log begins at {log_begin}: it cannot be cut at {log_offset}")
    walk = reader.walk(max(log_begin, log_offset - log_offset % size))
    tail = Tail(log_offset, log_offset)
    for head, view in walk:
        if head.log_offset + head.size <= log_offset:
            continue
        if not tail.records:
            tail.begin, tail.first_time = min(head.log_offset, log_offset), head.store_timestamp
        tail.records += 1
        tail.last_time = head.store_timestamp
        key = str(view[head.topic_begin : head.topic_end], "utf-8", "replace"), head.queue_id
        tail.queues[key] = tail.queues.get(key, 0) + 1
    tail.end = max(walk.end, tail.begin)
    if not tail.records and walk.end < log_offset:
        raise ValueError(f"the log ends at {walk.end}: nothing is behind {log_offset}")
    return tail


def describe(tail: Tail, log_offset: int) -> Iterator[str]:
    """Say what would be gone."""
    if tail.begin < log_offset:
        yield f"log offset {log_offset} is inside a record: the log would end before it, at {tail.begin}"
    yield f"cut at       {tail.begin}: {tail.end - tail.begin} bytes to {tail.end}, {tail.records} records"
    if tail.records:
        yield f"stored       {when(tail.first_time)} to {when(tail.last_time)}"
    yield f"{len(tail.queues)} queues:"
    width = max((len(topic) for topic, _ in tail.queues), default=5)
    for (topic, queue_id), messages in sorted(tail.queues.items()):
        yield f"  {topic:{width}}  {queue_id:5}  {messages:10} messages"
