"""Keeps the timer's index up to date with its topic, and brings it up to date when a broker opens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from broker_core.broker.replication.standing import Standing
from broker_core.broker.timer.index import TimerIndex
from broker_core.broker.timer.records import Parked, event_of, number_of
from broker_core.logs import get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.properties import PAIR_END, mark_of, value_after
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import TIMER_TOPIC
from broker_core.store import AppendedRecord, GetStatus, MessageStore

_READ_MESSAGES: Final = 128
_READ_BYTES: Final = 4 * 1024 * 1024
_WALK_RECORDS: Final = 500
_SEQ: Final = mark_of(names.TIMER_SEQ)
_SEQ_BYTES: Final = names.TIMER_SEQ.encode()
_TOPIC_BYTES: Final = TIMER_TOPIC.encode()

_log = get_logger(__name__)


class Change(NamedTuple):
    """A recall or another record of a message that this broker has stored."""

    record: AppendedRecord
    is_recall: bool


class Follower:
    """Reads the records of the timer's topic into the index. `next_due` is not after the first message's time."""

    def __init__(self, store: MessageStore, index: TimerIndex, standing: Standing) -> None:
        self._store = store
        self._standing = standing
        self.index = index
        self.next_due = 0
        self.is_on = True
        """Whether what waits is delivered by this broker; if not, it holds nothing back in the log either."""
        self._changes: dict[int, Change] = {}
        store.needed_from = self._needed_from

    def _needed_from(self) -> int | None:
        return self.index.first_place() if self.is_on else None

    def note_change(self, seq: int, change: Change) -> None:
        """Remember a change of a waiting message until it is followed, which may take until replicas confirm it."""
        self._changes.pop(seq, None)  # so that they stay in the order of the log
        self._changes[seq] = change

    def change_ahead(self, seq: int) -> Change | None:
        """Return the last change of a message that is stored and not followed yet: what the index says is outdated."""
        change = self._changes.get(seq)
        return change if change is not None and change.record.queue_offset >= self.index.position else None

    def drop_followed(self) -> None:
        """Forget the changes that were followed; called when the index has committed them."""
        while self._changes and self.change_ahead(seq := next(iter(self._changes))) is None:
            del self._changes[seq]

    @property
    def changes_ahead(self) -> int:
        """How many messages have such a change, or a few more."""
        return len(self._changes)

    def forget_changes(self) -> None:
        """Forget all of it: another broker delivers, and may not have them."""
        self._changes.clear()

    def follow(self) -> bool:
        """Read the next records; return whether there were any. The caller commits."""
        index = self.index
        if index.position >= self._store.max_offset(TIMER_TOPIC, 0):
            return False
        found = self._store.get(TIMER_TOPIC, 0, index.position, max_messages=_READ_MESSAGES, max_bytes=_READ_BYTES)
        if found.status is GetStatus.FOUND:
            stored = [decode_one(record, decompress=False) for record in found.records]
            events = [event for each in stored if (event := event_of(each)) is not None]
            index.apply(events)
            dues = [event.due for event in events if isinstance(event, Parked)]
            self.next_due = min([self.next_due, *dues])
        has_moved = found.next_offset > index.position
        index.position = max(index.position, found.next_offset)
        return has_moved

    def recovering(self, now: int) -> Iterator[None]:
        """Bring the index up to date with the log, without what was delivered elsewhere, or before a crash.

        It stops after each part, of some milliseconds. Nothing may be delivered before it has come to its end, and it
        may be left before, if another broker delivers from then on.
        """
        self.check(now)
        log_end = self._store.appended_log_offset
        while self.follow():
            self.index.commit_followed()
            yield
        if self.index.count:
            delivered: set[int] = set()
            at: int | None = self._first_delivery()
            while at is not None:
                at = self._add_delivered(at, delivered)
                yield
            if gone := self.index.remove(delivered):
                _log.info("timer: %d messages were delivered before this broker took over, or was killed", gone)
        if self._standing.epoch > self.index.epoch + 1:
            self.index.begin_figures(now)  # another master delivered in between, and counted it
        self.index.epoch = self._standing.epoch
        self.index.commit(log_end)

    def _first_delivery(self) -> int:
        """Return a log offset before which nothing was delivered of what the index has.

        Where masters take over from each other store times never fall, so a message that was delivered was stored at
        its time or later.
        """
        known = self.index.log_end
        due = self.index.next_due() if self._standing.epoch else None
        return known if due is None else max(known, self._store.place_before(due))

    def check(self, now: int) -> None:
        """Begin with an empty index if the log lost its end: what the index leaves out as delivered may be lost too."""
        index = self.index
        is_ahead = index.position > self._store.max_offset(TIMER_TOPIC, 0)
        if is_ahead or index.log_end > self._store.appended_log_offset or not self._has_kept(index):
            _log.warning("timer: its index is ahead of the log and is built anew")
            self.index = index.emptied(now)

    def _has_kept(self, index: TimerIndex) -> bool:
        return not index.own_end or self._standing.has_kept(index.epoch, index.own_end)

    def _add_delivered(self, log_offset: int, found: set[int]) -> int | None:
        """Add the numbers of messages that were delivered from a log offset on; return where to go on, if anywhere."""
        end, count = log_offset, 0
        for head, view in islice(self._store.walk(log_offset), _WALK_RECORDS):
            end, count = head.log_offset + head.size, count + 1
            text = bytes(view[head.properties_begin : head.properties_end])
            if _SEQ_BYTES not in text or view[head.topic_begin : head.topic_end] == _TOPIC_BYTES:
                continue
            seq = number_of(value_after(_SEQ, PAIR_END + text.decode("utf-8", "replace")))
            if seq is not None:
                found.add(seq)
        return end if count == _WALK_RECORDS else None
