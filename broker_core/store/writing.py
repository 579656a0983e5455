"""Puts messages into an open store, and makes them readable (store/README.md#dispatch)."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter

from broker_core.protocol.errors import MalformedBatch, MessageError
from broker_core.protocol.frame import Frame
from broker_core.protocol.message import QueueOffset
from broker_core.protocol.topics import is_topic_name
from broker_core.store.appended import AppendedBatch, AppendedRecord
from broker_core.store.appender import Appender
from broker_core.store.config import StoreConfig
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.dispatcher import Arrived, Pending, undispatched_places
from broker_core.store.errors import (
    MessageUnstorable,
    StoreError,
    StoreFollows,
    StoreFull,
    TooFarBehind,
    TooManyQueues,
)
from broker_core.store.following import Following
from broker_core.store.incoming import Incoming
from broker_core.store.recovery import Recovered
from broker_core.store.send_plan import NOTHING_STORED, SendPlan, StoredSends


class Writing:
    """What comes into one open store; nothing does any more once it has a `refusal`."""

    def __init__(self, recovered: Recovered, config: StoreConfig, appender: Appender, following: Following) -> None:
        """While `following` is on, the log is a master's, and nothing may be put."""
        self.refusal: StoreError | None = None
        """Why the store accepts no more messages; None while it does."""
        self.max_queues: int | None = None
        self.limit: int | None = None
        """Records that end behind it are not dispatched."""
        self.arrived: dict[ConsumeQueue, int] = {}
        """Where in each queue those messages begin that became readable since the last `dispatch`."""
        self._config = config
        self._queues = recovered.queues
        self._dispatcher = recovered.dispatcher
        self._appender = appender
        self._following = following
        # What every put needs, without a second look-up.
        self._by_key = recovered.queues.by_key
        self._pending = appender.pending
        self._max_undispatched = config.max_undispatched

    def refuse(self, error: StoreError) -> None:
        """Accept nothing more."""
        self.refusal = error

    def check(self) -> None:
        """Raise the refusal, if there is one."""
        if self.refusal is not None:
            raise self.refusal

    def reconfigure(self, config: StoreConfig) -> None:
        """Apply new limits."""
        self._config = config
        self.limit_puts()

    # -- putting

    def put(self, incoming: Incoming) -> AppendedRecord:
        """Append a message to the log and give it its queue offset.

        Raises MessageUnstorable for what the format or the limits do not allow, StoreFull, FlushFailed, StoreClosed, in
        a replica StoreFollows and TooFarBehind; nothing is stored then. A prepared or rolled back transaction message
        gets queue offset 0 and enters no queue.
        """
        place = incoming.topic, incoming.queue_id
        queue = self._by_key.get(place) or self._make_queue(*place)
        if self.refusal is not None or len(self._pending) >= self._max_undispatched:
            self._make_ready()
        try:
            return self._appender.append_one(queue, incoming)
        except (MessageError, UnicodeEncodeError) as error:
            raise MessageUnstorable(str(error)) from error

    def put_sends(self, plan: SendPlan, frames: list[Frame], at: int, until: int, now: int) -> StoredSends:
        """Append the messages of the first frames from `at` on that are plain sends to existing queues; raises nothing.

        It stops where `put` would have to make room or to refuse; `now` in ms.
        """
        until = min(until, at + self._max_undispatched - len(self._pending))
        if self.refusal is not None or until <= at:
            return NOTHING_STORED
        return self._appender.append_sends(plan, frames, at, until, self._by_key, now)

    def put_batch(self, incoming: Incoming) -> AppendedBatch:
        """Append the messages of a batch to one queue, all or none, with consecutive offsets and in one segment.

        Raises what `put` raises, MalformedBatch, and MessageUnstorable for transaction messages
        (store/README.md#batches).
        """
        place = incoming.topic, incoming.queue_id
        queue = self._by_key.get(place) or self._make_queue(*place)
        self._make_ready()
        try:
            return self._appender.append_batch(queue, incoming)
        except MalformedBatch:
            raise
        except (MessageError, UnicodeEncodeError) as error:
            raise MessageUnstorable(str(error)) from error

    def check_room(self, records: int) -> None:
        """Raise what `put` would raise for want of room or of the right to put, unless so many records can be put."""
        if self.refusal is not None or len(self._pending) + records > self._max_undispatched:
            self._make_ready(records)

    def _make_queue(self, topic: str, queue_id: int) -> ConsumeQueue:
        if self.refusal is not None:
            raise self.refusal
        if not is_topic_name(topic):
            raise MessageUnstorable(f"topic {topic!r}: 1 to 127 characters of a-z A-Z 0-9 _ - % | are allowed")
        if self.max_queues is not None and len(self._by_key) >= self.max_queues:
            raise TooManyQueues(topic, queue_id, self.max_queues)
        return self._queues.get_or_make(topic, queue_id)

    def _make_ready(self, records: int = 1) -> None:
        if self.refusal is not None:
            raise self.refusal
        if self._following.is_on:
            raise StoreFollows(self._config.folder)
        if len(self._pending) + records > self._max_undispatched:
            self.dispatch_pending()
            if self.limit is not None and len(self._pending) + records > self._max_undispatched:
                raise TooFarBehind(len(self._pending), self.limit)

    # -- dispatching

    def dispatch(self) -> list[Arrived]:
        """Make what was put readable; return the queues that got messages since the last call.

        Costs nothing when there is nothing to do. Raises StoreFull; the next call goes on where this one stopped.
        """
        self.settle()
        arrived = [
            Arrived(queue.topic, queue.queue_id, QueueOffset(begin), QueueOffset(queue.max_offset))
            for queue, begin in self.arrived.items()
        ]
        self.arrived.clear()
        return arrived

    def limit_dispatch(self, upto: int | None) -> None:
        """Dispatch no record that ends behind this log offset; None: all of them, as at first.

        What is dispatched stays so. The next `dispatch` goes on when the limit has risen; a batch waits for its last
        message. When `max_undispatched` wait, `put` raises TooFarBehind, and `put_sends` stores nothing.
        """
        self.limit = upto

    def waits(self, topic: str) -> bool:
        """Return whether a message of a topic is in the log and not dispatched."""
        return any(pending.queue.topic == topic for pending in self._pending)

    def undispatched(self, topic: str, unique_id: str) -> list[int]:
        """Return the log offsets of messages of a topic that may have a unique id, and that no `search` finds yet."""
        return list(undispatched_places(self._pending, topic, unique_id))

    def settle(self) -> None:
        """Dispatch what waits, if anything does. Raises StoreFull."""
        if self._pending:
            self.dispatch_pending()

    def dispatch_pending(self) -> None:
        """Put into queues and index what the limit allows. Raises StoreFull."""
        ready = self._pending if self.limit is None else self._pending_until(self.limit)
        for queue in {pending.queue for pending in ready}:
            self.arrived.setdefault(queue, queue.max_offset)
        try:
            self._dispatcher.dispatch(ready)
        except StoreFull:
            # The next put asks for room first, since an accepted message must become readable soon.
            self._max_undispatched = 0
            raise
        self.limit_puts()
        del self._pending[: len(ready)]

    def note_cut(self) -> None:
        """Forget what arrived and is cut."""
        self.arrived = {queue: begin for queue, begin in self.arrived.items() if begin < queue.max_offset}

    def forget(self, topic: str) -> None:
        """Dispatch nothing more of a topic that is deleted: what is held back of it belongs to no queue any more."""
        self._pending[:] = [pending for pending in self._pending if pending.queue.topic != topic]

    def _pending_until(self, log_offset: int) -> list[Pending]:
        return self._pending[: bisect_right(self._pending, log_offset, key=attrgetter("end"))]

    def limit_puts(self) -> None:
        """Let puts go on until so many messages wait; while a master is followed each asks first, and none may."""
        self._max_undispatched = 0 if self._following.is_on else self._config.max_undispatched
