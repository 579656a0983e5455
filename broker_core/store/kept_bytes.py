"""The bytes that the messages of a queue take in the log, summed from its units and remembered block by block.

A queue may have hundreds of millions of units: each is read once, and later only the new ones, and those of the block
that retention has reached.
"""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.layout import UNIT_BYTES
from broker_core.store.units import FILLER_SIZE

BLOCK_UNITS: Final = 16_384
MOST_UNITS: Final = 65_536
"""How many units one question reads; a few ms. What is left is read by the next questions."""

_WORDS: Final = UNIT_BYTES // 4
_SIZE_WORD: Final = 2


class _Block(NamedTuple):
    """The sum over a range of queue offsets inside one block."""

    begin: int
    end: int
    kept: int


@dataclass(slots=True)
class _Sums:
    """What was summed of one queue."""

    queue: ConsumeQueue
    blocks: dict[int, _Block] = field(default_factory=dict)


class KeptBytes:
    """Sums of queues by topic and queue id."""

    def __init__(self) -> None:
        """Start with nothing summed."""
        self._sums: dict[tuple[str, int], _Sums] = {}

    def of(self, queue: ConsumeQueue) -> int | None:
        """Return the bytes of the readable messages of a queue; None while not all of its units were read."""
        key = queue.topic, queue.queue_id
        sums = self._sums.get(key)
        if sums is None or sums.queue is not queue:  # deleted and created again
            sums = self._sums[key] = _Sums(queue)
        return _total(queue, sums.blocks)

    def forget(self, topic: str, queue_id: int) -> None:
        """Drop what is known of a queue that is not there any more."""
        self._sums.pop((topic, queue_id), None)


def _total(queue: ConsumeQueue, blocks: dict[int, _Block]) -> int | None:
    low, high, left = queue.min_offset, queue.max_offset, MOST_UNITS
    first = low // BLOCK_UNITS
    for gone in [number for number in blocks if number < first]:
        del blocks[gone]
    total = 0
    for number in range(first, -(-high // BLOCK_UNITS)):
        begin, end = max(low, number * BLOCK_UNITS), min(high, (number + 1) * BLOCK_UNITS)
        block = blocks.get(number)
        if block is None or block.begin != begin or block.end > end:
            block = _Block(begin, begin, 0)
        if block.end < end:
            if left <= 0:
                return None
            left -= end - block.end
            block = blocks[number] = _Block(begin, end, block.kept + _sum(queue, block.end, end))
        total += block.kept
    return total


def _sum(queue: ConsumeQueue, begin: int, end: int) -> int:
    """Return the sum of the sizes in these units; fillers and units that are gone count nothing."""
    total = 0
    while begin < end and (units := queue.units_from(begin)[: (end - begin) * UNIT_BYTES]):
        words = array("I", bytes(units))
        if sys.byteorder == "little":
            words.byteswap()
        sizes = words[_SIZE_WORD::_WORDS]
        total += sum(sizes) - sizes.count(FILLER_SIZE) * FILLER_SIZE
        begin += len(sizes)
    return total
