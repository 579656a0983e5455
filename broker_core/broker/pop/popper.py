"""Taking messages for a group: first those that are due again, then new ones, queue by queue.

A message that is due again after as many deliveries as its group allows becomes a dead letter: its copy is stored
before the message is marked as done, so a crash in between leaves a duplicate but loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.attempts import Attempt, Attempts
from broker_core.broker.pop.leases import Leases
from broker_core.broker.pop.queue_leases import Lease, QueueLeases
from broker_core.broker.pop.records import as_delivered, offset_of
from broker_core.broker.topics import Topics
from broker_core.errors import GantryError
from broker_core.protocol.headers.pop import INIT_MODE_MIN
from broker_core.store import GetResult, GetStatus, MessageStore
from broker_core.store.fetch import ALL, Accept

MAX_BYTES: Final = 262_144
"""The most bytes of records in one answer; the first record is returned whatever its size, as in pulls."""

MAX_SCANS: Final = 8
"""How many further batches one pop reads in a queue while its filter matches nothing."""

MAX_REFUSED: Final = 256
"""How many due messages that do not match the filter one pop skips in a queue."""

MAX_TURNS: Final = 100_000
"""For how many pairs of group and topic the next queue to start with is remembered."""

MAX_ATTEMPTS: Final = 10_000
"""How many pops with an attempt id can be repeated."""

DeadLetter = Callable[[str, bytes, int, str | None], None]
"""Stores a record in the dead letters of a group after a number of deliveries, with `QueueLeases.reason_of`."""


@dataclass(frozen=True, slots=True)
class PopRequest:
    """The request of a pop; `queue_id` -1 means any queue."""

    group: str
    topic: str
    queue_id: int
    count: int
    invisible_ms: int
    accept: Accept = ALL
    is_ordered: bool = False
    init_mode: int = INIT_MODE_MIN
    attempt_id: str = ""

    @property
    def attempt_key(self) -> tuple[str, str, str]:
        """The key under which the attempt is remembered."""
        return self.group, self.topic, self.attempt_id


class Portion(NamedTuple):
    """The records taken from one queue, in order of their offsets."""

    queue_id: int
    offsets: list[int]
    records: list[bytes | memoryview]


@dataclass(slots=True)
class Popped:
    """The result of a pop at `pop_time`, and how many more messages are available."""

    pop_time: int
    invisible_ms: int
    portions: list[Portion] = field(default_factory=list)
    rest: int = 0
    bytes: int = 0
    messages: int = 0


class Popper:
    """Takes messages from one store for all groups."""

    def __init__(
        self,
        *,
        store: MessageStore,
        topics: Topics,
        leases: Leases,
        offsets: ConsumerOffsets,
        limits: BrokerLimits,
        dead_letter: DeadLetter,
    ) -> None:
        self._store = store
        self._topics = topics
        self._leases = leases
        self._offsets = offsets
        self._limits = limits
        self._dead_letter = dead_letter
        self._turns: dict[tuple[str, str], int] = {}
        self._attempts = Attempts(MAX_ATTEMPTS)

    def take(self, wanted: PopRequest, *, max_deliveries: int, now: int) -> Popped:
        """Lease messages; raise TopicUnknown, or TooManyLeases when the group has too many on lease already."""
        queues = self._topics.get(wanted.topic).read_queue_nums
        popped = Popped(now, wanted.invisible_ms)
        for queue_id in self._order(wanted, queues):
            end = self._store.max_offset(wanted.topic, queue_id)
            queue = self._leases.find(wanted.group, wanted.topic, queue_id)
            if queue is None or queue.next_offset > end:  # the group's offset was set beyond the end of the queue
                queue = self._open(wanted, queue_id)
            if popped.messages < wanted.count and popped.bytes < MAX_BYTES:
                self._take_from(queue, wanted, popped, max_deliveries, now)
            popped.rest += end - queue.next_offset + queue.due_count
        if not popped.messages and popped.rest and self._leases.held_by(wanted.group) >= self._limits.leases_per_group:
            raise self._limits.refuse("leases_per_group", f"group {wanted.group!r} must settle some first")
        if wanted.attempt_id and popped.messages:
            given = tuple((portion.queue_id, tuple(portion.offsets)) for portion in popped.portions)
            self._attempts.remember(wanted.attempt_key, Attempt(now, now + wanted.invisible_ms, given))
        return popped

    def take_again(self, wanted: PopRequest, *, now: int) -> Popped | None:
        """Return what the same attempt got and still has on lease; None if nothing is left of it."""
        attempt = self._attempts.find(wanted.attempt_key, now=now) if wanted.attempt_id else None
        if attempt is None:
            return None
        popped = Popped(attempt.pop_time, attempt.ends_at - attempt.pop_time)
        for queue_id, offsets in attempt.portions:
            queue = self._leases.find(wanted.group, wanted.topic, queue_id)
            found = dict(self._still_held(queue, offsets, attempt.pop_time, now)) if queue is not None else {}
            if found:
                popped.portions.append(Portion(queue_id, list(found), list(found.values())))
                popped.messages += len(found)
                popped.bytes += sum(map(len, found.values()))
        return popped if popped.messages else None

    def peek(self, group: str, topic: str, queue_id: int, *, count: int) -> GetResult:
        """Return the next new messages of a queue, without a lease."""
        queue = self._leases.find(group, topic, queue_id)
        offset = self._offsets.find(group, topic, queue_id) or 0 if queue is None else queue.next_offset
        position = max(offset, self._store.min_offset(topic, queue_id))
        return self._store.get(topic, queue_id, position, max_messages=count, max_bytes=MAX_BYTES)

    def has_message(self, group: str, topic: str, queue_id: int, *, is_ordered: bool, now: int) -> bool:
        """Return whether a pop would find a message, whatever its filter; `queue_id` -1 means any queue."""
        config = self._topics.find(topic)
        if config is None:
            return False
        queues = range(config.read_queue_nums) if queue_id < 0 else (queue_id,)
        return any(self._has_message(group, topic, each, is_ordered, now) for each in queues)

    def _has_message(self, group: str, topic: str, queue_id: int, is_ordered: bool, now: int) -> bool:
        end = self._store.max_offset(topic, queue_id)
        queue = self._leases.find(group, topic, queue_id)
        if queue is not None:
            if is_ordered and queue.has_live_lease(now):
                return False
            return queue.due_count > 0 or queue.next_offset < end
        offset = self._offsets.find(group, topic, queue_id) or 0
        return max(offset, self._store.min_offset(topic, queue_id)) < end

    def end_leases(self, now: int) -> set[tuple[str, str]]:
        """Make messages due again whose lease has ended; return topic and group of each queue with due messages."""
        return {(queue.topic, queue.group) for queue in self._leases.end_due(now)}

    def _still_held(
        self, queue: QueueLeases, offsets: Iterable[int], pop_time: int, now: int
    ) -> Iterator[tuple[int, bytes | memoryview]]:
        for offset in offsets:
            lease = queue.find(offset)
            if lease is None or lease.pop_time != pop_time or lease.visible_at <= now:
                continue
            answer = self._store.get(queue.topic, queue.queue_id, offset, max_messages=1, max_bytes=1)
            if answer.records and offset_of(answer.records[0]) == offset:
                yield offset, _of_lease(answer.records[0], lease, lease.deliveries - 1)

    def _order(self, wanted: PopRequest, queues: int) -> list[int]:
        """Return the queues in the order to try; each pop starts with a different one, so that none is starved."""
        if wanted.queue_id >= 0:
            return [wanted.queue_id]
        if len(self._turns) > MAX_TURNS:
            self._turns.clear()  # most of them are of deleted groups and topics
        turn = self._turns.get((wanted.group, wanted.topic), 0) % max(queues, 1)
        self._turns[wanted.group, wanted.topic] = turn + 1
        return [*range(turn, queues), *range(turn)]

    def _open(self, wanted: PopRequest, queue_id: int) -> QueueLeases:
        """Start to consume a queue by lease at the group's offset, or where its first request specifies."""
        start = self._offsets.find(wanted.group, wanted.topic, queue_id)
        low, high = self._store.min_offset(wanted.topic, queue_id), self._store.max_offset(wanted.topic, queue_id)
        if start is None:
            start = low if wanted.init_mode == INIT_MODE_MIN else max(high - 1, low)
        start = min(max(start, low), high)
        self._offsets.commit(wanted.group, wanted.topic, queue_id, start)
        return self._leases.open(wanted.group, wanted.topic, queue_id, start)

    def _take_from(self, queue: QueueLeases, wanted: PopRequest, popped: Popped, max_deliveries: int, now: int) -> None:
        if wanted.is_ordered:
            if queue.has_live_lease(now):
                return
            # A lease may have ended a moment ago, before its timer: what it held comes before anything new.
            queue.find_due(now)
        try:
            self._lease_from(queue, wanted, popped, max_deliveries, now)
        except (GantryError, OSError):
            queue.find_due(now)  # messages that were read but not leased stay due
            raise
        finally:
            # Even if the pop takes nothing: messages that became dead letters or left the log are done.
            self._offsets.commit(queue.group, queue.topic, queue.queue_id, queue.committed)

    def _lease_from(
        self, queue: QueueLeases, wanted: PopRequest, popped: Popped, max_deliveries: int, now: int
    ) -> None:
        found: dict[int, bytes | memoryview] = {}
        room = wanted.count - popped.messages
        size = self._take_due(queue, wanted, found, room, MAX_BYTES - popped.bytes, max_deliveries, now)
        next_offset = queue.next_offset
        if len(found) < room and not (wanted.is_ordered and queue.due_count):
            left = min(room - len(found), self._limits.leases_per_group - self._leases.held_by(wanted.group))
            next_offset, more = self._take_new(queue, wanted, found, left, MAX_BYTES - popped.bytes - size)
            size += more
        if found or next_offset != queue.next_offset:
            offsets = sorted(found)
            self._leases.lease(queue, offsets, next_offset=next_offset, now=now, invisible_ms=wanted.invisible_ms)
            if offsets:
                popped.portions.append(Portion(queue.queue_id, offsets, [found[offset] for offset in offsets]))
        popped.bytes += size
        popped.messages += len(found)

    def _take_due(
        self,
        queue: QueueLeases,
        wanted: PopRequest,
        found: dict[int, bytes | memoryview],
        room: int,
        max_bytes: int,
        max_deliveries: int,
        now: int,
    ) -> int:
        """Find messages that are due again; return their bytes."""
        size = 0
        refused: list[int] = []
        while len(found) < room and size < max_bytes and len(refused) < MAX_REFUSED:
            offset = queue.take_due(now)
            if offset is None:
                break
            lease = queue.find(offset)
            answer = self._store.get(
                queue.topic, queue.queue_id, offset, max_messages=1, max_bytes=1, accept=wanted.accept
            )
            if answer.status is GetStatus.FOUND and lease is not None and offset_of(answer.records[0]) == offset:
                if lease.deliveries >= max_deliveries:
                    self._dead_letter(queue.group, bytes(answer.records[0]), lease.deliveries, queue.reason_of(offset))
                    self._leases.finish(queue, offset)
                    continue
                found[offset] = _of_lease(answer.records[0], lease, lease.deliveries)
                size += len(answer.records[0])
            elif offset < answer.min_offset or any(damaged.queue_offset == offset for damaged in answer.damaged):
                self._leases.finish(queue, offset)  # it has left the log, or is damaged
            else:
                refused.append(offset)
        for offset in refused:
            queue.give_back(offset)
        return size

    def _take_new(
        self, queue: QueueLeases, wanted: PopRequest, found: dict[int, bytes | memoryview], room: int, max_bytes: int
    ) -> tuple[int, int]:
        """Find messages that were never delivered; return the offset up to which the queue was read, and the bytes."""
        position = queue.next_offset
        for _ in range(MAX_SCANS if room > 0 and max_bytes > 0 else 0):
            begin = position
            answer = self._store.get(
                queue.topic, queue.queue_id, begin, max_messages=room, max_bytes=max_bytes, accept=wanted.accept
            )
            position = max(position, answer.next_offset)
            if answer.status is GetStatus.FOUND:
                found.update(zip(_offsets_of(answer, begin), answer.records, strict=True))
                return position, sum(map(len, answer.records))
            if position >= answer.max_offset:
                break
        return position, 0


def _offsets_of(answer: GetResult, begin: int) -> Iterable[int]:
    """Return the offsets of the records of a read from `begin` on; usually none was left out."""
    if answer.next_offset - begin == len(answer.records):
        return range(begin, answer.next_offset)
    return map(offset_of, answer.records)


def _of_lease(record: memoryview, lease: Lease, before: int) -> bytes | memoryview:
    """Return the record to send after `before` deliveries; for the first delivery, the record unchanged."""
    return as_delivered(record, before, lease.first_pop_time) if before > 0 else record
