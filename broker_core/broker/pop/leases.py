"""The messages on lease to all groups, and when their leases end (broker/README.md#pop).

A group's consumer offset is that of the lowest unacknowledged message, so its lag is as correct as with pulls. A lease
is identified by the time of its pop: an acknowledgement with another time belongs to another delivery and is refused.

Apache RocketMQ copies a message whose lease ended into a retry topic and tracks it there. Here it stays in its place
and becomes due again, with its delivery count: the offset then shows what is really done, a restart needs no second
topic, and nothing is stored twice. Clients see no difference: they read the count and acknowledge by queue, offset and
pop time.

An ordered group gets no messages of a queue while one of them is on lease, and afterwards the remaining ones in order.
A message that was acknowledged out of order is not delivered again; Apache RocketMQ would deliver it again, after the
message before it.

Every change is passed to `record` before it is made; after a restart `apply` repeats the recorded changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from heapq import heappop, heappush
from typing import TypeVar

from broker_core.broker.pop.changes import (
    Acknowledged,
    AllAcknowledged,
    Change,
    Failed,
    Held,
    Leased,
    Opened,
    QueueClosed,
    Replaced,
)
from broker_core.broker.pop.queue_leases import SLACK, Lease, QueueLeases

C = TypeVar("C", bound=Change)


class Settled(Enum):
    """The result of an acknowledgement or an extension."""

    DONE = "done"
    ALREADY_DONE = "already done"
    LOST = "lost"


class Leases:
    """All leases of the broker: the messages on lease, the ends of their leases, and the progress of each group."""

    def __init__(self, record: Callable[[Change], None]) -> None:
        self._record = record
        self._clear()

    def _clear(self) -> None:
        self._queues: dict[tuple[str, str], dict[int, QueueLeases]] = {}
        self._numbers: dict[int, QueueLeases] = {}
        self._ends: list[tuple[int, int, tuple[int, ...]]] = []  # a heap of (visible at, queue number, offsets)
        self._ending = 0  # offsets in `_ends`
        self._per_group: dict[str, int] = {}
        self._total = 0
        self._last_number = 0

    # -- questions

    def find(self, group: str, topic: str, queue_id: int) -> QueueLeases | None:
        """Return the leases of a group in a queue, or None if it never consumed the queue by lease."""
        return self._queues.get((group, topic), {}).get(queue_id)

    def queues(self) -> Iterable[QueueLeases]:
        """Return the leases of every group and queue."""
        return self._numbers.values()

    def __len__(self) -> int:
        return self._total

    def held_by(self, group: str) -> int:
        """Return the number of messages that were delivered to a group and are not done."""
        return self._per_group.get(group, 0)

    def takes(self, group: str, topic: str) -> bool:
        """Return whether a group consumes a topic by lease."""
        return (group, topic) in self._queues

    def snapshot(self) -> Iterator[Change]:
        """Return the changes that rebuild the current state; the first of them alone finish nothing that is open."""
        for queue in self._numbers.values():
            yield Opened(queue.number, queue.group, queue.topic, queue.queue_id, queue.committed)
            for offset, lease in sorted(queue.leases(), key=_by_offset):
                yield _held_as(queue, offset, lease)
                reason = queue.reason_of(offset)
                if reason is not None:
                    yield Failed(queue.number, offset, reason)
            yield Leased(queue.number, queue.next_offset, 0, 0, ())

    # -- changes

    def open(self, group: str, topic: str, queue_id: int, start: int) -> QueueLeases:
        """Let a group consume a queue from `start` on; its earlier leases there are discarded."""
        known = self.find(group, topic, queue_id)
        number = known.number if known is not None else self._last_number + 1
        return self._opened(self._told(Opened(number, group, topic, queue_id, start)))

    def lease(
        self, queue: QueueLeases, offsets: Iterable[int], *, next_offset: int, now: int, invisible_ms: int
    ) -> None:
        """Lease the messages at `offsets`, due or new, and advance the position to `next_offset` if that is further."""
        position = max(next_offset, queue.next_offset)
        change = Leased(queue.number, position, now, now + max(invisible_ms, 1), tuple(offsets))
        self._leased(queue, self._told(change))

    def settle(self, queue: QueueLeases, offset: int, *, pop_time: int, now: int) -> Settled:
        """Mark a message as done if its lease is that of `pop_time` and has not ended."""
        state = _state(queue, offset, pop_time, now)
        if state is Settled.DONE:
            self.finish(queue, offset)
        return state

    def settle_all(self, queue: QueueLeases, offsets: Sequence[int], *, pop_time: int, now: int) -> list[Settled]:
        """Do what `settle` does with each of the messages of one pop, recorded as one change."""
        live = queue.live(offsets, pop_time=pop_time, now=now)
        if len(live) == len(offsets):
            states = [Settled.DONE] * len(live)
        else:
            states = [_state(queue, offset, pop_time, now) for offset in offsets]
        if live:
            self._all_acknowledged(queue, self._told(AllAcknowledged(queue.number, tuple(live))))
        return states

    def extend(
        self,
        queue: QueueLeases,
        offset: int,
        *,
        pop_time: int,
        now: int,
        invisible_ms: int,
        was_delivered: bool = True,
        failure: str | None = None,
    ) -> tuple[Settled, Lease | None]:
        """Give a leased message a new lease from `now` on, under the same conditions; the old pop time becomes invalid.

        With `was_delivered` false, for a message that never reached a client, the delivery is not counted. `failure` is
        why a message is returned, empty if its consumer gave no reason; None extends the lease.
        """
        state = _state(queue, offset, pop_time, now)
        lease = queue.find(offset)
        if state is not Settled.DONE or lease is None:
            return state, None
        renewed = max(now, lease.pop_time + 1)
        deliveries = lease.deliveries if was_delivered else max(lease.deliveries - 1, 0)
        again = Lease(renewed, renewed + max(invisible_ms, 1), deliveries, lease.first_pop_time)
        self._held(queue, self._told(_held_as(queue, offset, again)))
        if failure is not None:
            self._failed(queue, self._told(Failed(queue.number, offset, failure)))
        return state, queue.find(offset)

    def finish(self, queue: QueueLeases, offset: int) -> None:
        """Mark a message as done, whoever holds its lease."""
        self._acknowledged(queue, self._told(Acknowledged(queue.number, offset)))

    def end_due(self, now: int) -> list[QueueLeases]:
        """Make every message due again whose lease ended by `now`; return the queues that have due messages."""
        woken: dict[int, QueueLeases] = {}
        while self._ends and self._ends[0][0] <= now:
            visible_at, number, offsets = heappop(self._ends)
            self._ending -= len(offsets)
            queue = self._numbers.get(number)
            if queue is None:
                continue
            for offset in offsets:
                if queue.end_lease(offset, visible_at):
                    woken[number] = queue
        return list(woken.values())

    def close_matching(self, *, topic: str | None = None, group: str | None = None) -> None:
        """Discard the leases of every queue of a topic or group that is deleted."""
        for queue in list(self._numbers.values()):
            if queue.topic == topic or queue.group == group:
                self._closed(queue, self._told(QueueClosed(queue.number)))

    def close_all(self) -> None:
        """Discard all leases: another broker lends from now on."""
        for queue in list(self._numbers.values()):
            self._closed(queue, self._told(QueueClosed(queue.number)))

    def follow(self, change: Change) -> None:
        """Make a change that the broker told which lends."""
        self._record(change)
        self.apply(change)

    def become(self, other: Leases) -> None:
        """Be what another broker lends, all at once: a kill leaves the state before or after it."""
        self._told(Replaced(tuple(other.snapshot())))
        self._queues, self._numbers = other._queues, other._numbers
        self._ends, self._ending = other._ends, other._ending
        self._per_group, self._total = other._per_group, other._total
        self._last_number = other._last_number

    def clamp(self, max_offset: Callable[[str, int], int]) -> None:
        """Discard positions beyond the end of a queue: the store lost its tail, and will assign those offsets again."""
        for queue in list(self._numbers.values()):
            end = max_offset(queue.topic, queue.queue_id)
            if queue.next_offset <= end:
                continue
            kept = [(offset, lease, queue.reason_of(offset)) for offset, lease in queue.leases() if offset < end]
            kept.sort(key=_by_offset)
            again = self.open(queue.group, queue.topic, queue.queue_id, min(queue.committed, end))
            for offset, lease, reason in kept:
                self._held(again, self._told(_held_as(again, offset, lease)))
                if reason is not None:
                    self._failed(again, self._told(Failed(again.number, offset, reason)))
            self.lease(again, (), next_offset=end, now=0, invisible_ms=0)

    # -- making changes, for the first time or again

    def apply(self, change: Change) -> None:
        """Apply a recorded change without recording it; a change of a queue that was closed later has no effect."""
        if isinstance(change, Opened):
            self._opened(change)
            return
        if isinstance(change, Replaced):
            self._replaced(change)
            return
        queue = self._numbers.get(change.queue)
        if queue is None:
            return
        if isinstance(change, Leased):
            self._leased(queue, change)
        elif isinstance(change, Acknowledged):
            self._acknowledged(queue, change)
        elif isinstance(change, AllAcknowledged):
            self._all_acknowledged(queue, change)
        elif isinstance(change, Held):
            self._held(queue, change)
        elif isinstance(change, Failed):
            self._failed(queue, change)
        else:
            self._closed(queue, change)

    def _told(self, change: C) -> C:
        self._record(change)
        return change

    def _opened(self, change: Opened) -> QueueLeases:
        before = self._numbers.get(change.queue)
        if before is not None:
            self._count(before.group, -before.held_count)
        queue = QueueLeases(change)
        self._numbers[change.queue] = queue
        self._queues.setdefault((change.group, change.topic), {})[change.queue_id] = queue
        self._last_number = max(self._last_number, change.queue)
        return queue

    def _leased(self, queue: QueueLeases, change: Leased) -> None:
        begin = queue.next_offset
        new = [offset for offset in change.offsets if offset >= begin]
        for offset in (offset for offset in change.offsets if offset < begin):
            before = queue.find(offset)
            if before is None or not before.deliveries:  # never, or only to a client that had left
                lease = Lease(change.pop_time, change.visible_at, 1, change.pop_time)
            else:
                lease = Lease(change.pop_time, change.visible_at, before.deliveries + 1, before.first_pop_time)
            self._hold(queue, offset, lease)
        if new:
            queue.hold_new(sorted(new), Lease(change.pop_time, change.visible_at, 1, change.pop_time))
            self._count(queue.group, len(new))
            self._ends_at(change.visible_at, queue, tuple(new))
        queue.next_offset = max(queue.next_offset, change.next_offset)

    def _held(self, queue: QueueLeases, change: Held) -> None:
        lease = Lease(change.pop_time, change.visible_at, change.deliveries, change.first_pop_time)
        self._hold(queue, change.offset, lease)

    def _failed(self, queue: QueueLeases, change: Failed) -> None:
        queue.note_reason(change.offset, change.reason)

    def _hold(self, queue: QueueLeases, offset: int, lease: Lease) -> None:
        before = queue.find(offset)
        if queue.hold(offset, lease):
            self._count(queue.group, 1)
        if before is not None and before.visible_at == lease.visible_at:
            return  # that end is known; a second entry would make the message due twice and be delivered twice at once
        self._ends_at(lease.visible_at, queue, (offset,))

    def _ends_at(self, visible_at: int, queue: QueueLeases, offsets: tuple[int, ...]) -> None:
        heappush(self._ends, (visible_at, queue.number, offsets))
        self._ending += len(offsets)
        if self._ending > 2 * self._total + SLACK:
            self._forget_ended()

    def _forget_ended(self) -> None:
        """Rebuild the heap of ends: most of its entries belong to leases that were settled long before their end."""
        by_end: dict[tuple[int, int], list[int]] = {}
        for queue in self._numbers.values():
            for offset, lease in queue.leases():
                by_end.setdefault((lease.visible_at, queue.number), []).append(offset)
        self._ends = sorted((*end, tuple(offsets)) for end, offsets in by_end.items())
        self._ending = self._total

    def _acknowledged(self, queue: QueueLeases, change: Acknowledged) -> None:
        if queue.drop(change.offset):
            self._count(queue.group, -1)

    def _all_acknowledged(self, queue: QueueLeases, change: AllAcknowledged) -> None:
        self._count(queue.group, -queue.drop_all(change.offsets))

    def _closed(self, queue: QueueLeases, change: QueueClosed) -> None:
        del self._numbers[change.queue]
        siblings = self._queues.get((queue.group, queue.topic), {})
        if siblings.get(queue.queue_id) is queue:
            del siblings[queue.queue_id]
        if not siblings:
            self._queues.pop((queue.group, queue.topic), None)
        self._count(queue.group, -queue.held_count)

    def _replaced(self, change: Replaced) -> None:
        self._clear()
        for each in change.changes:
            self.apply(each)

    def _count(self, group: str, by: int) -> None:
        self._total += by
        count = self._per_group.get(group, 0) + by
        if count:
            self._per_group[group] = count
        else:
            self._per_group.pop(group, None)


def _held_as(queue: QueueLeases, offset: int, lease: Lease) -> Held:
    return Held(
        queue.number, offset, lease.pop_time, lease.visible_at, lease.deliveries, first_pop_time=lease.first_pop_time
    )


def _by_offset(held: tuple[int, *tuple[object, ...]]) -> int:
    return held[0]


def _state(queue: QueueLeases, offset: int, pop_time: int, now: int) -> Settled:
    lease = queue.find(offset)
    if lease is None:
        return Settled.ALREADY_DONE if queue.is_done(offset) else Settled.LOST
    return Settled.DONE if lease.pop_time == pop_time and lease.visible_at > now else Settled.LOST
