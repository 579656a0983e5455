"""The open transactions in memory, and how far the two internal queues are done with."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from broker_core.protocol.half_records import Half
from broker_core.protocol.message import QueueOffset

REMEMBERED: Final = 100_000
"""So many half records are remembered with the decision on them after they are done."""

_PLACES: Final = 16


class Decision(StrEnum):
    """How a transaction ended."""

    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"
    GIVEN_UP = "given up"


class OpenTransactions:
    """What is open, by each of its records; an op record is pending until all that is older is done too."""

    def __init__(self) -> None:
        self._open: dict[QueueOffset, Half] = {}  # by its newest record
        self._first: dict[QueueOffset, QueueOffset] = {}  # of older records: the newest one
        self._older: dict[QueueOffset, list[QueueOffset]] = {}  # by the newest record
        self._lowest: list[QueueOffset] = []
        self._ops: deque[tuple[QueueOffset, QueueOffset]] = deque()
        self._decided: OrderedDict[QueueOffset, Decision] = OrderedDict()
        self._half_end = QueueOffset(0)
        self._op_end = QueueOffset(0)

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Half]:
        return iter(list(self._open.values()))

    @property
    def pending_ops(self) -> int:
        """How many op records are pending."""
        return len(self._ops)

    def find(self, queue_offset: QueueOffset) -> Half | None:
        """Return the open transaction with this record, which may be an older one of it."""
        return self._open.get(self._first.get(queue_offset, queue_offset))

    def is_current(self, half: Half) -> bool:
        """Return whether a transaction is open and has no newer record."""
        return self._open.get(half.queue_offset) is half

    def decision_on(self, queue_offset: QueueOffset) -> Decision | None:
        """Return how the transaction with this record ended, None if that is not remembered."""
        return self._decided.get(queue_offset)

    def lowest(self) -> Half | None:
        """Return the open transaction whose newest record is the oldest."""
        while self._lowest and self._lowest[0] not in self._open:
            heapq.heappop(self._lowest)
        return self._open[self._lowest[0]] if self._lowest else None

    # -- changes

    def start_at(self, half_offset: QueueOffset, op_offset: QueueOffset) -> None:
        """Count everything before these offsets as done."""
        self._half_end, self._op_end = half_offset, op_offset

    def add(self, half: Half) -> None:
        """Add a transaction, or one that was removed by `replace` with its newer record."""
        self._open[half.queue_offset] = half
        if half.first != half.queue_offset and half.queue_offset not in self._older:
            self._first[half.first] = half.queue_offset
            self._older[half.queue_offset] = [half.first]
        heapq.heappush(self._lowest, half.queue_offset)
        self._half_end = max(self._half_end, QueueOffset(half.queue_offset + 1))

    def replace(self, old: Half, new: Half) -> None:
        """Put a newer record in the place of the one that is known."""
        del self._open[old.queue_offset]
        places = [*self._older.pop(old.queue_offset, ()), old.queue_offset]
        if len(places) > _PLACES:  # the first is the one that its producer knows
            self._first.pop(places.pop(1), None)
        self._older[new.queue_offset] = places
        for place in places:
            self._first[place] = new.queue_offset
        self.add(new)

    def close(self, half: Half, decision: Decision | None) -> None:
        """Remove a transaction that ended, and remember how, if that is known."""
        del self._open[half.queue_offset]
        for place in (*self._older.pop(half.queue_offset, ()), half.queue_offset):
            self._first.pop(place, None)
            if decision is not None:
                self.remember(place, decision)

    def remember(self, queue_offset: QueueOffset, decision: Decision) -> None:
        """Remember how the transaction with this record ended."""
        self._decided[queue_offset] = decision
        if len(self._decided) > REMEMBERED:
            self._decided.popitem(last=False)

    def passed(self, half_end: QueueOffset) -> None:
        """Note that the half queue reaches to this offset."""
        self._half_end = max(self._half_end, half_end)

    def op_stored(self, op_offset: QueueOffset, highest: QueueOffset) -> None:
        """Note an op record at `op_offset`; `highest` is the last half record that it is about."""
        self._ops.append((op_offset, highest))
        self._op_end = max(self._op_end, QueueOffset(op_offset + 1))

    # -- progress

    def progress(self) -> tuple[QueueOffset, QueueOffset]:
        """Return up to where all half records are done, and up to where no op record is needed any more."""
        lowest = self.lowest()
        half_offset = self._half_end if lowest is None else lowest.queue_offset
        while self._ops and self._ops[0][1] < half_offset:
            self._ops.popleft()
        return half_offset, self._ops[0][0] if self._ops else self._op_end
