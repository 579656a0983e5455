"""One queue of one group: how far it is, what is on lease, what is due again.

Two positions cut the queue in three::

    0        committed                    next                max
    ├────────────┼──────────────────────────┼───────────────────┤
    │ done       │ done, leased, due again  │ never handed out  │
                   5   6   7   8   9
                   L   ·   D   ·   L          L on lease, D due again, · acknowledged or filtered out
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

from broker_core.broker.pop.changes import Opened

SLACK: Final = 256
"""A heap is rebuilt when it holds more entries than twice what is alive and this many more."""


@dataclass(slots=True)
class Lease:
    """One delivery of one message: named by the time of its pop, ended at `visible_at`."""

    pop_time: int
    visible_at: int
    deliveries: int
    first_pop_time: int
    """When the message first went out, 0 if that is not known."""


class QueueLeases:
    """Positions and leases of one queue of one group; `leases.py` alone changes them."""

    __slots__ = ("_due", "_held", "_lowest", "group", "next_offset", "number", "queue_id", "topic")

    def __init__(self, opened: Opened) -> None:
        self.number = opened.queue
        self.group = opened.group
        self.topic = opened.topic
        self.queue_id = opened.queue_id
        self.next_offset = opened.start
        self._held: dict[int, Lease] = {}
        self._lowest: list[int] = []  # a heap of held offsets; those that are done are dropped when they surface
        self._due: list[int] = []  # a heap of offsets whose lease ended; likewise

    @property
    def held_count(self) -> int:
        """How many messages were handed out and are not done."""
        return len(self._held)

    @property
    def committed(self) -> int:
        """The lowest offset that is not done: the group's consumer offset."""
        lowest, held = self._lowest, self._held
        while lowest and lowest[0] not in held:
            heappop(lowest)
        return lowest[0] if lowest else self.next_offset

    @property
    def due_count(self) -> int:
        """How many messages are due again."""
        return len(self._due)

    def find(self, offset: int) -> Lease | None:
        """Return the last lease of a message that is not done."""
        return self._held.get(offset)

    def leases(self) -> Iterator[tuple[int, Lease]]:
        """Return offset and last lease of every message that was handed out and is not done."""
        return iter(self._held.items())

    def is_done(self, offset: int) -> bool:
        """Say whether a message was acknowledged or filtered out."""
        return offset < self.next_offset and offset not in self._held

    def has_live_lease(self, now: int) -> bool:
        """Say whether a message is on lease at `now`: an ordered group waits for it."""
        return any(lease.visible_at > now for lease in self._held.values())

    def take_due(self, now: int) -> int | None:
        """Take the lowest offset that is due again at `now`; it is to be leased, finished or given back."""
        while self._due:
            offset = heappop(self._due)
            while self._due and self._due[0] == offset:  # it ended twice: both times count as one
                heappop(self._due)
            lease = self._held.get(offset)
            if lease is not None and lease.visible_at <= now:
                return offset
        return None

    def find_due(self, now: int) -> None:
        """Find again what is due: offsets were taken, and leasing them failed."""
        self._due = sorted(offset for offset, lease in self._held.items() if lease.visible_at <= now)

    def give_back(self, offset: int) -> None:
        """Make a message due again that was taken but not wanted."""
        heappush(self._due, offset)

    def end_lease(self, offset: int, visible_at: int) -> bool:
        """Make a message due again if the lease that ends at `visible_at` is still its last one; say whether it was."""
        lease = self._held.get(offset)
        if lease is None or lease.visible_at != visible_at:
            return False
        heappush(self._due, offset)
        return True

    def hold(self, offset: int, lease: Lease) -> bool:
        """Put a message on lease; say whether it was not held before."""
        is_new = offset not in self._held
        self._held[offset] = lease
        if is_new:
            heappush(self._lowest, offset)
            if len(self._lowest) > 2 * len(self._held) + SLACK:
                self._lowest = sorted(self._held)
        self.next_offset = max(self.next_offset, offset + 1)
        return is_new

    def drop(self, offset: int) -> bool:
        """Note that a message is done; say whether it was held."""
        return self._held.pop(offset, None) is not None
