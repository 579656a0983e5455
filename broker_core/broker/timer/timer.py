"""Messages with a delivery time: parks, delivers, recalls and reschedules them (broker/README.md#delivery-times).

Everything that changes what waits happens on the broker's loop, without a pause between the decision and its record:
a message is either delivered or recalled, never both.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, Literal

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.delay import Deliver
from broker_core.broker.errors import AlreadyDelivered, NothingFound, NotTaken, Unconfirmed
from broker_core.broker.intake import NOT_NOW, Intake
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.timer import records
from broker_core.broker.timer.following import Change, Follower
from broker_core.broker.timer.index import Due, Outcomes, TimerIndex
from broker_core.broker.timer.records import Parked
from broker_core.logs import Repeated, get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import MessageOrigin, decode_one
from broker_core.protocol.topics import TIMER_TOPIC
from broker_core.store import AppendedRecord, Incoming, MessageStore
from broker_core.store.errors import MessageDamaged

LATE_MS: Final = 1_000
"""A delivery counts as late when it comes more than this after its time."""
STEP_MESSAGES: Final = 128
"""At most this many messages are delivered before the loop serves clients again."""
ROLL_MESSAGES: Final = 1_000

_MARK_MS: Final = 60_000
_REMEMBERED_MS: Final = 72 * 3_600_000
_FOREVER: Final = 2**62
_COPIES: Final = 32

_log = get_logger(__name__)


class Timer:
    """The waiting messages of one broker."""

    def __init__(
        self,
        follower: Follower,
        *,
        store: MessageStore,
        intake: Intake,
        arrivals: Arrivals,
        deliver: Deliver,
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self._follower = follower
        self._store = store
        self._intake = intake
        self._arrivals = arrivals
        self._deliver = deliver
        self._limits = limits
        self._clock = clock
        # Delivered, but the index does not say so yet: its disk may be full.
        self._unsaved: set[int] = set()
        self._marked_at = 0
        self._has_delivered = False
        self._failure = ""
        self._repeated = Repeated(_log)
        self._is_behind = False
        self._recovering: Iterator[None] | None = None

    def take_up(self, now: int, *, at_once: bool) -> None:
        """Deliver from now on: take out of the index what was delivered elsewhere, or before a crash.

        With `at_once` that is done when this returns, a second per 30 000 records; else the next step does it in parts.
        """
        self._follower.is_on = self._is_behind = True
        self._recovering = None
        if at_once:
            try:
                deque(self._follower.recovering(now), maxlen=0)
            except sqlite3.Error as error:
                self._note_failure(error)
            else:
                self._is_behind = False

    def let_go(self) -> None:
        """Deliver nothing any more: another broker does."""
        self._follower.is_on = False
        self._recovering = None
        self._unsaved.clear()
        self._follower.forget_changes()
        try:
            self.index.roll_back()
            self._follower.check(self._clock())
        except sqlite3.Error as error:
            self._note_failure(error)

    async def follow_along(self, _now: int) -> None:
        """While another broker delivers, read on in the topic, so that taking over takes no longer than it must."""
        try:
            while not self._follower.is_on and self._follower.follow():
                self.index.commit_followed()
                await asyncio.sleep(0)
        except sqlite3.Error as error:
            self._note_failure(error)

    async def _recover(self, now: int) -> None:
        """Recover, unless this ends to be the broker that delivers, or begins again to be it, meanwhile."""
        if not (self._follower.is_on and self._is_behind):
            return
        mine = self._recovering = self._follower.recovering(now)
        for _ in mine:
            await asyncio.sleep(0)
            if self._recovering is not mine:
                return
        self._is_behind, self._recovering = False, None

    @property
    def index(self) -> TimerIndex:
        """What waits."""
        return self._follower.index

    def __len__(self) -> int:
        return self.index.count

    def late_seconds(self) -> int:
        """Return for how many seconds the first message that waits has been due."""
        due = self._follower.next_due
        return max(0, self._clock() - due) // 1000 if len(self) and due else 0

    def unread(self) -> int:
        """Return how many records of its topic it has not followed yet."""
        return max(0, self._store.max_offset(TIMER_TOPIC, 0) - self.index.position)

    # -- waiting

    def park(self, message: Message, queue_id: int, origin: MessageOrigin, due: int) -> AppendedRecord:
        """Store a message that is due at `due` (ms); raises LimitReached, MessageIllegal and what the store raises."""
        if self.index.count >= self._limits.timer_messages:
            raise self._limits.refuse("timer_messages", "too many messages wait for their delivery time")
        return self._intake.put(Incoming.of(records.parked(message, queue_id, due), 0, origin))

    def recall(self, topic: str, unique_id: str) -> AppendedRecord | None:
        """Take back the waiting messages of a topic with a unique id; return the last record that says so.

        None when that was done before. Raises AlreadyDelivered, NothingFound, NotTaken before `take_up`, and what the
        store raises.
        """
        self._check_is_on()
        waiting = self._waiting(topic, unique_id)
        if not waiting:
            self._check_recalled(topic, unique_id)
            return None
        put = [self._recall_once(each.seq) for each in waiting]
        self.catch_up()
        return put[-1]

    def reschedule(self, topic: str, unique_id: str, due: int) -> AppendedRecord:
        """Let the waiting messages of a topic with a unique id be due at `due` (ms); return the last new record.

        Raises AlreadyDelivered, NothingFound, NotTaken before `take_up`, Unconfirmed while it is not sure that the
        message is recalled, and what the store raises.
        """
        self._check_is_on()
        waiting = self._waiting(topic, unique_id)
        if not waiting:
            self._check_recalled(topic, unique_id)
            raise NothingFound(f"message {unique_id[:80]} of topic[{topic}] was recalled")
        if any(self._recall_ahead(each.seq) is not None for each in waiting):
            raise Unconfirmed(f"message {unique_id[:80]} of topic[{topic}] is recalled, which is not confirmed yet")
        put = [record for each in waiting if (record := self._park_again(each._replace(due=due))) is not None]
        self.catch_up()
        if not put:
            raise NothingFound(f"message {unique_id[:80]} of topic[{topic}] cannot be read any more")
        return put[-1]

    def _recall_once(self, seq: int) -> AppendedRecord:
        before = self._recall_ahead(seq)
        if before is not None:
            return before
        record = self._put(records.recalled(seq), self._origin())
        self._follower.note_change(seq, Change(record, is_recall=True))
        return record

    def _recall_ahead(self, seq: int) -> AppendedRecord | None:
        """Return the record of a recall that is stored and not followed yet."""
        change = self._follower.change_ahead(seq)
        return change.record if change is not None and change.is_recall else None

    def _check_is_on(self) -> None:
        if not self._is_ready:
            raise NotTaken("service not available now: what earlier masters left is not read yet")

    @property
    def _is_ready(self) -> bool:
        """Whether it delivers, and its index knows what was delivered before."""
        return self._follower.is_on and not self._is_behind

    def _waiting(self, topic: str, unique_id: str) -> list[Parked]:
        self.catch_up()
        return [each for each in self.index.called(topic, records.id_word(unique_id)) if each.seq not in self._unsaved]

    def _check_recalled(self, topic: str, unique_id: str) -> None:
        """Return if the message was recalled; raise AlreadyDelivered or NothingFound."""
        numbers = self._numbers_of(topic, unique_id)
        if not numbers:
            raise NothingFound(f"no message {unique_id[:80]} of topic[{topic}] waits or waited for a delivery time")
        if all(self.index.recalled_at(seq) is None for seq in numbers):
            raise AlreadyDelivered(topic, unique_id)

    def _numbers_of(self, topic: str, unique_id: str) -> set[int]:
        """Return the numbers of the messages with a unique id that were ever parked for a topic and are in the log."""
        found = self._store.search(TIMER_TOPIC, unique_id, begin=0, end=_FOREVER, max_count=_COPIES)
        events = [
            records.event_of(stored)
            for stored in (decode_one(record, decompress=False) for record in found.records)
            if stored.properties.get(names.UNIQ_KEY) == unique_id
        ]
        return {event.seq for event in events if isinstance(event, Parked) and event.topic == topic}

    # -- delivering

    async def step(self, now: int) -> None:
        """Deliver what is due at `now`, a part at a time, so that clients are served in between."""
        try:
            await self._recover(now)
            while self._follow_some() or self._deliver_some(now):  # noqa: ASYNC110 - clients are served in between
                await asyncio.sleep(0)
            self._failure = ""
        except sqlite3.Error as error:
            self._note_failure(error)

    def _note_failure(self, error: sqlite3.Error) -> None:
        """Undo what the index did not take; what is in the log is read again later."""
        self.index.roll_back()
        if self._failure != str(error):
            self._failure = str(error)
            _log.error("timer: its index cannot be changed, deliveries wait until it can: %s", error)

    def _follow_some(self) -> bool:
        if not self._is_ready:
            return False
        self._arrivals.settle()
        if not self._follower.follow():
            return False
        self.index.commit(self._store.appended_log_offset)
        self._follower.drop_followed()
        return True

    def catch_up(self) -> None:
        """Make everything that was acknowledged visible to readers; raises sqlite3.Error."""
        try:
            while self._follow_some():
                pass
        except sqlite3.Error:
            self.index.roll_back()
            raise

    def _deliver_some(self, now: int) -> bool:
        """Deliver a part of what is due; return whether there may be more."""
        if not self._is_ready:
            return False
        self._save_delivered(now, Outcomes(0, 0, 0))
        if not self.index.count or now < self._follower.next_due:
            return False
        rows, is_all = self._due(now)
        if not rows:
            self._follower.next_due = self.index.next_due() or _FOREVER
            if is_all:
                self._mark(now)
            return False
        # What a crash leaves of this part is found behind this place.
        self.index.commit(self._store.appended_log_offset)
        late: list[int] = []
        try:
            for row in rows:
                stored = self._read(row.log_offset)
                if stored is not None:
                    outcome = self._hand_over(row, stored)
                    if outcome == "waits":
                        return False
                    if outcome == "delivered":
                        late.append(max(0, self._clock() - row.due))
                else:
                    _log.error("timer: message %d, due at %d, is lost: its record cannot be read", row.seq, row.due)
                self._unsaved.add(row.seq)
        finally:
            outcomes = Outcomes(len(late), sum(ms > LATE_MS for ms in late), max(late, default=0))
            self._save_delivered(now, outcomes)
        return True

    def _due(self, now: int) -> tuple[list[Due], bool]:
        """Return what is due without what has a change ahead, and whether that is all.

        Delivered now it would come although it is recalled, or once more at its other time. Waiting costs nothing:
        readers see a delivery only after the change, which lies before it in the log.
        """
        due = self.index.due(now, STEP_MESSAGES + self._follower.changes_ahead)
        rows = [row for row in due if self._follower.change_ahead(row.seq) is None]
        return rows[:STEP_MESSAGES], len(rows) == len(due)

    def _save_delivered(self, now: int, outcomes: Outcomes) -> None:
        if self._unsaved:
            self.index.remove(self._unsaved)
            self.index.count_delivered(now, outcomes)
            self.index.commit(self._store.appended_log_offset)
            self._unsaved.clear()
            self._has_delivered = True

    def _hand_over(self, row: Due, stored: StoredMessage) -> Literal["delivered", "dropped", "waits"]:
        """Deliver a message, or drop it if its topic is gone; it waits if the store takes nothing at the moment."""
        message, queue_id = records.delivered(stored, row.seq)
        try:
            is_delivered = self._deliver(message, queue_id, stored)
        except NOT_NOW as error:
            self._repeated.warning(
                error, "topic=%s: a message is due but cannot be delivered yet: %s", message.topic, error
            )
            return "waits"
        return "delivered" if is_delivered else "dropped"

    def _mark(self, now: int) -> None:
        """Note in the log, at most once a minute, that nothing is left of what was due until now and is shown.

        Only what is followed can be delivered, so nothing is noted while something shown is not followed; nor while
        this clock is behind that of a master before, which delivered what is not due here.
        """
        is_whole = not self.unread() and self._store.newest_store_time <= self._clock()
        if self._has_delivered and is_whole and not 0 <= now - self._marked_at < _MARK_MS:
            try:
                self._put(records.done(now, self._store.dispatched_log_offset), self._origin())
            except NOT_NOW as error:
                self._repeated.warning(f"mark {error}", "timer: it cannot be noted yet what was delivered: %s", error)
                return
            self._marked_at, self._has_delivered = now, False

    # -- keeping

    def roll(self, now: int) -> int:
        """Store messages once more whose records are in a segment that is about to go; return how many.

        What cannot be stored now holds its segment back until the next time.
        """
        end = self._store.held_back(now) if self.index.count and self._is_ready else None
        if end is None:
            return 0
        self.catch_up()
        rows = [
            row for row in self.index.placed_before(end, ROLL_MESSAGES) if self._follower.change_ahead(row.seq) is None
        ]
        try:
            lost = [row.seq for row in rows if self._park_again(row) is None]
        except NOT_NOW as error:
            self._repeated.warning(f"roll {error}", "timer: messages cannot be stored once more yet: %s", error)
            return 0
        if lost:
            _log.error("timer: %d messages are lost: their records cannot be read", len(lost))
            self.index.remove(lost)
        self.catch_up()
        return len(rows)

    def tidy(self, now: int) -> None:
        """Forget old recalls and figures, and note how far the log is covered, so that opening reads little of it."""
        if not self._is_ready:
            return
        try:
            self.catch_up()
            self._save_delivered(now, Outcomes(0, 0, 0))
            self.index.forget(now - _REMEMBERED_MS)
            self.index.commit(self._store.appended_log_offset)
        except sqlite3.Error as error:
            self._note_failure(error)

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    # -- records

    def _park_again(self, waiting: Parked) -> AppendedRecord | None:
        stored = self._read(waiting.log_offset)
        if stored is None:
            return None
        origin = self._intake.origin_of_copy(stored, now=self._clock(), reconsume_times=stored.reconsume_times)
        record = self._put(records.parked_again(stored, waiting), origin)
        self._follower.note_change(waiting.seq, Change(record, is_recall=False))
        return record

    def _read(self, log_offset: int) -> StoredMessage | None:
        try:
            raw = self._store.find_raw(log_offset)
        except MessageDamaged as damage:
            _log.error("timer: %s", damage)
            return None
        stored = None if raw is None else decode_one(raw, decompress=False)
        return stored if stored is not None and stored.topic == TIMER_TOPIC else None

    def _put(self, message: Message, origin: MessageOrigin) -> AppendedRecord:
        """Store a record of the timer itself, also on a nearly full disk: it is what makes room there."""
        return self._intake.put_own(Incoming.of(message, 0, origin))

    def _origin(self) -> MessageOrigin:
        now, host = self._clock(), self._intake.store_host
        return MessageOrigin(now, host, now, host)
