"""Records as delivered by pops: a message that was delivered before carries its delivery count and first pop time."""

from __future__ import annotations

from struct import Struct
from typing import Final

from broker_core.protocol import properties as names
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, NAME_END, PAIR_END
from broker_core.protocol.record import QUEUE_OFFSET_AT, read_head

_INT: Final = Struct(">i")
_SHORT: Final = Struct(">h")
_LONG: Final = Struct(">q")
_RECONSUME_BEFORE_BODY: Final = 4 + 8 + 4
"""Position of the delivery count in a record, in bytes before the body."""


def offset_of(record: bytes | memoryview) -> int:
    """Return the queue offset in a record."""
    (offset,) = _LONG.unpack_from(record, QUEUE_OFFSET_AT)
    return int(offset)


def as_delivered(record: bytes | memoryview, deliveries: int, first_pop_time: int) -> bytes:
    """Return a copy of a record that was delivered `deliveries` times, first at `first_pop_time` (ms, 0: unknown).

    The time is a property after those of the message, so it overrides one of the same name; it is left out where the
    properties already have the maximum length. No checksum covers the changed bytes.
    """
    head = read_head(record)
    copy = bytearray(record[: head.size])
    _INT.pack_into(copy, head.body_begin - _RECONSUME_BEFORE_BODY, head.reconsume_times + deliveries)
    if first_pop_time <= 0:
        return bytes(copy)
    text = f"{names.FIRST_POP_TIME}{NAME_END}{first_pop_time}".encode()
    if head.properties_end > head.properties_begin and copy[-1:] != PAIR_END.encode():
        text = PAIR_END.encode() + text
    length = head.properties_end - head.properties_begin + len(text)
    if length > MAX_PROPERTIES_BYTES:
        return bytes(copy)
    _INT.pack_into(copy, 0, head.size + len(text))
    _SHORT.pack_into(copy, head.topic_end, length)
    return bytes(copy + text)
