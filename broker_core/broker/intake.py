"""The only way for messages into the store: checks the room on the disk, counts, and announces the arrival.

A message with a delay level goes to the schedule topic and keeps its destination in properties
(store/README.md#delayed-messages); `delay.py` delivers it. The answer names the queue that the client asked for and
the offset in the schedule queue.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import Final, Protocol

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import DiskFull, NotTaken, Unconfirmed
from broker_core.broker.replication.messages import Refusal
from broker_core.broker.stats import Stats
from broker_core.protocol import properties as names
from broker_core.protocol.frame import Frame
from broker_core.protocol.host import encode_host, parse_host
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import MessageOrigin
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import AppendedBatch, AppendedRecord, Incoming, MessageStore
from broker_core.store.errors import StoreError
from broker_core.store.send_plan import NOTHING_STORED, SendPlan, StoredSends

Host = tuple[str, int]

NOT_NOW: Final = (StoreError, DiskFull, NotTaken, Unconfirmed)
"""Why nothing can be put at the moment: what the broker itself has to put rests until it can."""


class Admission(Protocol):
    """Says whether the in-sync set lets a message in."""

    def refusal(self) -> Refusal | None:
        """Return why no message is to be stored now; None if it is."""

    def appended(self) -> None:
        """Note that messages were stored."""


def parked_by_delay(message: Message, queue_id: int, level: int) -> Message:
    """Return what is stored of `message` until its delay of `level` is over."""
    pairs = message.properties | {
        names.DELAY: str(level),
        names.REAL_TOPIC: message.topic,
        names.REAL_QID: str(queue_id),
    }
    return Message(SCHEDULE_TOPIC, message.body, pairs, message.flag, message.sys_flag)


class Intake:
    """Puts messages into the store of one broker, whose address they carry as `store_host`."""

    def __init__(
        self,
        store: MessageStore,
        arrivals: Arrivals,
        stats: Stats,
        *,
        store_host: Host,
        delay_levels: int,
        replica: Admission | None = None,
        on_stored: Callable[[], None] | None = None,
    ) -> None:
        """`replica`: what says whether a message may be stored, and is told of each, where controllers decide.

        `on_stored` is told of each where senders wait for a slave, which gets it with no round of arrivals before.
        """
        self._store = store
        self._arrivals = arrivals
        self._stats = stats
        self.store_host = encode_host(*store_host)
        self._delay_levels = delay_levels
        # Why no message is taken, while the disk is full.
        self.refusal: str | None = None
        self._replica = replica
        self._on_stored = on_stored

    def put(self, incoming: Incoming) -> AppendedRecord:
        """Store a message; raises DiskFull, NotTaken, Unconfirmed and what the store raises."""
        self._check()
        incoming = self._in_order(incoming)
        times = self._stats.put_times
        result = times.measured(self._store.put, incoming) if times.is_due() else self._store.put(incoming)
        self._stats.count_put(incoming.topic, 1, result.size)
        self._stored()
        return result

    def put_own(self, incoming: Incoming) -> AppendedRecord:
        """Store a record of the broker itself, also on a nearly full disk: it makes room, or completes what is stored.

        Raises like `put`, but not DiskFull; it is not counted.
        """
        self._check_set()
        result = self._store.put(self._in_order(incoming))
        self._stored()
        return result

    def check_room(self, records: int) -> None:
        """Raise what `put_own` raises unless so many records can be put now, one after the other."""
        self._check_set()
        self._store.check_room(records)

    def _check(self) -> None:
        if self.refusal is not None:
            raise DiskFull(self.refusal)
        self._check_set()

    def _in_order(self, incoming: Incoming) -> Incoming:
        """Return the message with a store time that is not before that of the last record.

        The last one may be of another master, whose clock was ahead.
        """
        newest = self._store.newest_store_time
        if self._replica is None or incoming.store_timestamp >= newest:
            return incoming
        return incoming._replace(store_timestamp=newest)

    def _check_set(self) -> None:
        if self._replica is not None and (refusal := self._replica.refusal()) is not None:
            kind = Unconfirmed if refusal is Refusal.UNCONFIRMED else NotTaken
            raise kind(f"service not available now: {refusal.value}")

    def _stored(self) -> None:
        self._arrivals.expect()
        if self._replica is not None:
            self._replica.appended()
        elif self._on_stored is not None:
            self._on_stored()

    def put_sends(self, plan: SendPlan, frames: list[Frame], at: int, until: int, now: int) -> StoredSends:
        """Store the messages of the first frames from `at` on, as many as fit the plan; raises nothing."""
        if self.refusal is not None or (self._replica is not None and self._replica.refusal() is not None):
            return NOTHING_STORED
        times = self._stats.put_times
        begun = perf_counter_ns() if times.is_due() else None
        if self._replica is not None:
            now = max(now, self._store.newest_store_time)
        stored = self._store.put_sends(plan, frames, at, until, now)
        if stored.sends:
            if begun is not None:
                times.add((perf_counter_ns() - begun) // stored.sends)
            self._stats.count_put(plan.topic, stored.sends, stored.size, requests=stored.sends)
            self._stored()
        return stored

    def put_batch(self, incoming: Incoming) -> AppendedBatch:
        """Store the messages of a batch side by side, all or none; raises like `put`."""
        self._check()
        result = self._store.put_batch(self._in_order(incoming))
        self._stats.count_put(incoming.topic, len(result.log_offsets), result.end - result.log_offsets[0])
        self._stored()
        return result

    def put_message(
        self, message: Message, queue_id: int, origin: MessageOrigin, *, delay_level: int = 0
    ) -> AppendedRecord:
        """Do what `put` does for a message with parsed properties; with a delay level it goes to the schedule topic."""
        if delay_level > 0:
            level = min(delay_level, self._delay_levels)
            message, queue_id = parked_by_delay(message, queue_id, level), level - 1
        return self.put(Incoming.of(message, queue_id, origin))

    def origin_of_copy(self, stored: StoredMessage, *, now: int, reconsume_times: int) -> MessageOrigin:
        """Return the origin of a message that is stored once more: born as before, stored here and now."""
        born_host = encode_host(*parse_host(stored.born_host))
        return MessageOrigin(stored.born_timestamp, born_host, now, self.store_host, reconsume_times)
