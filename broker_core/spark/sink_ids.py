"""Unique ids that rows have again when they are sent again, however they are cut into batches.

The id of a row is a digest of its place and of all rows there up to it. So one that is stored says the same of all
before it, and rows with other content have other ids: a wrong guess stores a message twice, and leaves none out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties


class RowIds:
    """The ids of the rows that one task sends to one queue, or to the queues of one topic in turn."""

    def __init__(self, *place: object) -> None:
        """`place` tells these rows from all others: the origin, the topic, the queue."""
        self._digest = hashlib.blake2b("\0".join(map(str, place)).encode(), digest_size=16)
        self._is_behind = True
        """Whether an earlier attempt got further than this one is."""

    def of(self, messages: Sequence[Message]) -> list[str]:
        """Return the ids of the next rows."""
        return [self._next(message) for message in messages]

    def _next(self, message: Message) -> str:
        text = format_properties(message.properties).encode()
        self._digest.update(b"%d %d %d " % (len(message.body), len(text), message.flag))
        self._digest.update(message.body)
        self._digest.update(text)
        return self._digest.hexdigest().upper()

    def stored(self, ids: Sequence[str], is_stored: Callable[[str], bool]) -> int:
        """Return how many of the rows with these ids an earlier attempt stored; they are the first ones.

        It asks once for a batch that is there as a whole, and once for each after the last one that was stored.
        """
        low, high = 0, len(ids)
        look_at = high - 1 if self._is_behind else 0
        while low < high:
            if is_stored(ids[look_at]):
                low = look_at + 1
            else:
                high = look_at
            look_at = (low + high) // 2
        self._is_behind = low == len(ids)
        return low
