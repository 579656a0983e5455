"""Takes runs of usual records out of a log that grows by whole reads (store/README.md#following).

Usual are nearly all: two IPv4 hosts, the first format of topics, a queue that exists. They are read here in one loop;
whatever else comes, and all that is wrong, is left to `following.py`, which does the same for any record.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.record import MAGIC_V1, MIN_RECORD_BYTES
from broker_core.protocol.sys_flag import HOSTS_MASK
from broker_core.store.appended import AppendedRecord
from broker_core.store.commit_log import BLANK_BYTES
from broker_core.store.dispatcher import Pending
from broker_core.store.mapped_file import MappedFile
from broker_core.store.queues import Queues

# Size, magic, queue id, queue offset, log offset, sys flag, store time, store host, size of the body.
_HEAD: Final = Struct(">ii4xi4xqqi16xq8s12xi")
_SHORT: Final = Struct(">h")
_LONGEST_TOPIC: Final = 127  # the length is a signed byte


def take_usual(tail: MappedFile, begin: int, queues: Queues, pending: list[Pending]) -> int:
    """Add the usual records from log offset `begin` in `tail` on to `pending`; return where another or none is."""
    view, start = tail.view, tail.start
    at, end, most = begin - start, tail.wrote, tail.size - BLANK_BYTES
    by_key, add, unpack = queues.by_key, pending.append, _HEAD.unpack_from
    while at + MIN_RECORD_BYTES <= end:
        size, magic, queue_id, queue_offset, log_offset, sys_flag, store_time, host, body = unpack(view, at)
        behind, topic_at = at + size, at + _HEAD.size + body + 1
        if magic != MAGIC_V1 or sys_flag & HOSTS_MASK or log_offset != at + start or behind > end or behind > most:
            break
        if body < 0 or topic_at + 2 > behind or (topic_size := view[topic_at - 1]) > _LONGEST_TOPIC:
            break
        topic_end = topic_at + topic_size
        text_at = topic_end + 2
        if text_at > behind or _SHORT.unpack_from(view, topic_end)[0] != behind - text_at:
            break
        queue = by_key.get((str(view[topic_at:topic_end], "utf-8", "replace"), queue_id))
        if queue is None:
            break
        text = str(view[text_at:behind], "utf-8", "replace")
        offsets = LogOffset(log_offset), size, QueueOffset(queue_offset)
        add(AppendedRecord(queue, *offsets, store_time, host, sys_flag, text, None))
        at = behind
    return at + start
