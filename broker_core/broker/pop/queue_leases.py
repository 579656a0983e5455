"""One queue of one group: its progress, the messages on lease and those that are due again.

Two positions divide the queue into three parts::

    0        committed                    next                max
    ├────────────┼──────────────────────────┼───────────────────┤
    │ done       │ done, leased, due again  │ never delivered   │
                   5   6   7   8   9
                   L   ·   D   ·   L          L on lease, D due again, · acknowledged or filtered out
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from broker_core.broker.pop.changes import Opened

SLACK: Final = 256
"""A heap is rebuilt when it has twice as many entries as are in use, plus this many."""


@dataclass(slots=True)
class Lease:
    """One delivery: identified by the time of its pop, ends at `visible_at`. Messages of one pop may share it."""

    pop_time: int
    visible_at: int
    deliveries: int
    first_pop_time: int
    """Time of the first delivery, ms; 0 if unknown."""


class QueueLeases:
    """Positions and leases of one queue of one group; only `leases.py` changes them."""

    __slots__ = ("_due", "_held", "_lowest", "_reasons", "group", "next_offset", "number", "queue_id", "topic")

    def __init__(self, opened: Opened) -> None:
        self.number = opened.queue
        self.group = opened.group
        self.topic = opened.topic
        self.queue_id = opened.queue_id
        self.next_offset = opened.start
        self._held: dict[int, Lease] = {}
        self._lowest: list[int] = []  # a heap of held offsets; those that are done are removed when they reach the top
        self._reasons: dict[int, str] = {}  # of held offsets
        self._due: list[int] = []  # a heap of offsets whose lease ended; likewise

    @property
    def held_count(self) -> int:
        """How many messages were delivered and are not done."""
        return len(self._held)

    @property
    def committed(self) -> int:
        """The lowest offset that is not done: the group's consumer offset."""
        lowest, held = self._lowest, self._held
        if not held:
            lowest.clear()
        while lowest and lowest[0] not in held:
            heappop(lowest)
        return lowest[0] if lowest else self.next_offset

    @property
    def due_count(self) -> int:
        """How many messages are due again."""
        return len(self._due)

    def find(self, offset: int) -> Lease | None:
        """Return the latest lease of a message that is not done."""
        return self._held.get(offset)

    def leases(self) -> Iterator[tuple[int, Lease]]:
        """Return offset and latest lease of every message that was delivered and is not done."""
        return iter(self._held.items())

    def is_done(self, offset: int) -> bool:
        """Return whether a message was acknowledged or filtered out."""
        return offset < self.next_offset and offset not in self._held

    def has_live_lease(self, now: int) -> bool:
        """Return whether a message is on lease at `now`; an ordered group waits for it."""
        return any(lease.visible_at > now for lease in self._held.values())

    def note_reason(self, offset: int, reason: str) -> None:
        """Keep why a held message failed; one without a reason keeps that of an earlier delivery."""
        if offset in self._held and (reason or offset not in self._reasons):
            self._reasons[offset] = reason

    def reason_of(self, offset: int) -> str | None:
        """Return the last reason that a consumer gave for a message; empty if it gave none, None if it said nothing."""
        return self._reasons.get(offset)

    def take_due(self, now: int) -> int | None:
        """Take the lowest offset that is due at `now`; the caller must lease it, finish it or give it back."""
        while self._due:
            offset = heappop(self._due)
            while self._due and self._due[0] == offset:  # it became due twice: both entries count as one
                heappop(self._due)
            lease = self._held.get(offset)
            if lease is not None and lease.visible_at <= now:
                return offset
        return None

    def find_due(self, now: int) -> None:
        """Rebuild the set of due offsets: some were taken, and leasing them failed."""
        self._due = sorted(offset for offset, lease in self._held.items() if lease.visible_at <= now)

    def give_back(self, offset: int) -> None:
        """Make a message due again that was taken but did not match."""
        heappush(self._due, offset)

    def end_lease(self, offset: int, visible_at: int) -> bool:
        """Make a message due again if its latest lease ends at `visible_at`; return whether it did."""
        lease = self._held.get(offset)
        if lease is None or lease.visible_at != visible_at:
            return False
        heappush(self._due, offset)
        return True

    def hold(self, offset: int, lease: Lease) -> bool:
        """Put a message on lease; return whether it was not held before."""
        is_new = offset not in self._held
        self._held[offset] = lease
        if is_new:
            heappush(self._lowest, offset)
            self._tidy()
        self.next_offset = max(self.next_offset, offset + 1)
        return is_new

    def hold_new(self, offsets: Sequence[int], lease: Lease) -> None:
        """Put messages on one lease that were never delivered; their offsets are sorted and at least `next_offset`."""
        self._held.update(dict.fromkeys(offsets, lease))
        self._lowest += offsets  # larger than all others, so it is still a heap
        self._tidy()
        self.next_offset = offsets[-1] + 1

    def drop(self, offset: int) -> bool:
        """Mark a message as done; return whether it was held."""
        if self._reasons:
            self._reasons.pop(offset, None)
        return self._held.pop(offset, None) is not None

    def drop_all(self, offsets: Sequence[int]) -> int:
        """Mark messages as done; return how many were held."""
        held = self._held
        before = len(held)
        for offset in offsets:
            held.pop(offset, None)
        if self._reasons:
            for offset in offsets:
                self._reasons.pop(offset, None)
        return before - len(held)

    def live(self, offsets: Iterable[int], *, pop_time: int, now: int) -> list[int]:
        """Return those of the messages whose latest lease is that of `pop_time` and has not ended."""
        held = self._held
        return [
            offset
            for offset in offsets
            if (lease := held.get(offset)) is not None and lease.pop_time == pop_time and lease.visible_at > now
        ]

    def _tidy(self) -> None:
        if len(self._lowest) > 2 * len(self._held) + SLACK:
            self._lowest = sorted(self._held)
