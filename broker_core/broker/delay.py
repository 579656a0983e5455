"""Delayed messages: one queue of the schedule topic per level, delivered when due (broker/README.md#delay-levels).

All messages of a level wait equally long, so each queue is in order of delivery and only its head has to be checked.
The progress of each level is saved in ``delayOffset.json``; after a crash some messages are delivered again, none is
lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from broker_core.broker.delay_copies import DeliveredCopies
from broker_core.broker.errors import BadConfigFile
from broker_core.broker.intake import NOT_NOW
from broker_core.broker.saving import JsonFile
from broker_core.logs import Repeated, get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.groups import DelayOffsetSerializeWrapper
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import GetStatus, MessageStore

FILE_NAME: Final = "delayOffset.json"
STEP_MESSAGES: Final = 512
"""At most this many messages of a level are delivered in one step, so that a backlog does not block the loop."""

_READ_MESSAGES: Final = 64
_QUEUE_DIGITS: Final = 10  # of a 32-bit number
_READ_BYTES: Final = 1024 * 1024

Deliver = Callable[[Message, int, StoredMessage], bool]
"""Stores a message now, in the given queue; the third argument is the parked message. Raises what `Intake.put` raises.

Returns False if the message was dropped, because its topic was deleted in the meantime.
"""

_log = get_logger(__name__)


def delivered(parked: StoredMessage) -> tuple[Message, int]:
    """Return the parked message as it is delivered, and its destination queue.

    Its properties keep DELAY, REAL_TOPIC and REAL_QID, as in Apache RocketMQ.
    """
    topic = parked.properties.get(names.REAL_TOPIC, "")
    queue_id = parked.properties.get(names.REAL_QID, "0")
    message = Message(topic, parked.body, dict(parked.properties), parked.flag, parked.sys_flag)
    return message, int(queue_id) if queue_id.isdecimal() and len(queue_id) <= _QUEUE_DIGITS else 0


class DelayQueues:
    """The progress of every level, and the next due time of each."""

    def __init__(self, file: JsonFile, store: MessageStore, levels_ms: Sequence[int], deliver: Deliver) -> None:
        self._file = file
        self._store = store
        self._levels_ms = levels_ms
        self._deliver = deliver
        self._offsets = [0] * len(levels_ms)
        self._next_due = [0] * len(levels_ms)  # the earliest time at which a level has a due message
        self.is_changed = False
        self._repeated = Repeated(_log)
        self.may_be_ahead = True
        """Whether the log may lack what the progress says is delivered: nobody told it since the log could be cut."""

    def offset_of(self, level: int) -> int:
        """Return the next offset to deliver of a level, which count from 1."""
        return self._offsets[level - 1]

    def progress(self) -> Iterator[tuple[int, int, int]]:
        """Return level, next offset to deliver and end of the queue, for every level that was ever used."""
        for level, offset in enumerate(self._offsets, start=1):
            end = self._store.max_offset(SCHEDULE_TOPIC, level - 1)
            if end:
                yield level, offset, end

    def step(self, now: int) -> int:
        """Deliver the messages that are due at `now`; return how many."""
        return sum(self._step_level(level, now) for level in range(len(self._levels_ms)))

    def _step_level(self, level: int, now: int) -> int:
        # A due time further away than the whole delay means that the clock went back: check the queue again.
        if now < self._next_due[level] <= now + self._levels_ms[level]:
            return 0
        done = 0
        for parked in self._waiting(level):
            due = parked.store_timestamp + self._levels_ms[level]
            if now < due <= now + self._levels_ms[level]:
                self._next_due[level] = due
                break
            if done == STEP_MESSAGES or not self._hand_over(parked):
                break
            done += 1
            self._offsets[level] = parked.queue_offset + 1
            self.is_changed = True
        return done

    def _waiting(self, level: int) -> Iterator[StoredMessage]:
        """Return the messages of a level from its offset on; skips offsets that the store no longer has."""
        while self._offsets[level] != self._store.max_offset(SCHEDULE_TOPIC, level):
            found = self._store.get(
                SCHEDULE_TOPIC, level, self._offsets[level], max_messages=_READ_MESSAGES, max_bytes=_READ_BYTES
            )
            if found.status is not GetStatus.FOUND:
                if found.next_offset == self._offsets[level]:
                    return
                self._offsets[level] = found.next_offset
                continue
            for record in found.records:
                yield decode_one(record, decompress=False)
            if self._offsets[level] < found.next_offset:
                return  # the reader stopped part way

    def _hand_over(self, parked: StoredMessage) -> bool:
        message, queue_id = delivered(parked)
        if not message.topic:
            _log.error("topic=%s offset=%d: the message has no destination", SCHEDULE_TOPIC, parked.queue_offset)
            return True
        try:
            self._deliver(message, queue_id, parked)
        except NOT_NOW as error:
            self._repeated.warning(
                error, "topic=%s: a delayed message is due but cannot be delivered yet: %s", message.topic, error
            )
            return False
        return True

    # -- the file

    def tree(self) -> dict[str, dict[str, int]]:
        """Return the progress in the format of the file; levels count from 1."""
        return {"offsetTable": {str(level): offset for level, offset, _ in self.progress()}}

    def text(self) -> bytes:
        """Return the current content for the file, and mark the progress as saved."""
        self.is_changed = False
        return orjson.dumps(self.tree(), option=orjson.OPT_INDENT_2)

    def save(self, text: bytes) -> None:
        """Write a text returned by `text()`; may run in another thread. Raises OSError."""
        self._file.save(text)

    def load(self) -> None:
        """Load the progress from the file; raises BadConfigFile. `take_up` limits it to what the queues hold."""
        tree: Any = self._file.load()
        try:
            table = coder.from_tree(DelayOffsetSerializeWrapper, {} if tree is None else tree).offset_table
        except MalformedBody as error:
            raise BadConfigFile(f"{self._file} is not a table of delay levels: {error}") from error
        self._take(table)

    def replace(self, table: Mapping[int, int]) -> None:
        """Take over the progress of another broker, by level; those that it does not tell stay as they are."""
        before = list(self._offsets)
        self._take(table)
        self.may_be_ahead = False
        self.is_changed |= self._offsets != before

    def _take(self, table: Mapping[int, int]) -> None:
        for number, offset in table.items():
            if 1 <= number <= len(self._offsets):
                self._offsets[number - 1] = offset

    def passing_delivered(self) -> Iterator[None]:
        """Go on behind what an earlier master delivered and had no time to tell; it stops after each part."""
        self._clamp()
        copies = DeliveredCopies(self._store, self._levels_ms)
        yield from copies.looking(self._offsets, may_be_ahead=self.may_be_ahead)
        for queue, offset in copies.found.items():
            if offset != self._offsets[queue]:
                _log.info("level=%d: goes on at %d, not at %d, by its log", queue + 1, offset, self._offsets[queue])
                self._offsets[queue] = offset
                self.is_changed = True

    def take_up(self) -> None:
        """Deliver from now on, from the known progress, limited to what the queues hold."""
        self._clamp()
        self._next_due = [0] * len(self._next_due)

    def _clamp(self) -> None:
        for level, offset in enumerate(self._offsets):
            begin, end = self._store.min_offset(SCHEDULE_TOPIC, level), self._store.max_offset(SCHEDULE_TOPIC, level)
            self._offsets[level] = min(max(offset, begin), end)
