"""Messages of an answer: what takes long to unpack does not hold up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

from broker_core.protocol.message import StoredMessage
from broker_core.protocol.record import compressed_bytes, decode_many

T = TypeVar("T")

# zlib makes up to a thousand times as much of it, for which a slow core takes a tenth of a second.
_MOST_ON_THE_LOOP: Final = 16 * 1024


async def decoded(records: bytes) -> list[StoredMessage]:
    """Return the messages of consecutive records; raise MalformedRecord."""
    return await unpacking(records, lambda: decode_many(records))


async def unpacking(records: bytes, decode: Callable[[], T]) -> T:
    """Return what `decode` makes of the records: here, or in a thread if much of them is compressed."""
    if compressed_bytes(records) <= _MOST_ON_THE_LOOP:
        return decode()
    return await asyncio.to_thread(decode)
