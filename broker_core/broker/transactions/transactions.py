"""Two-phase sends: stores half messages, and commits or rolls them back (broker/README.md#transactions).

A decision is two records, the message and the op record, appended without a pause between them. So a killed broker can
have lost only the op record of the last message in its log, which it finds when it opens (`recovery.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import NotTaken, TopicUnknown, TransactionDecided, TransactionUnknown
from broker_core.broker.intake import NOT_NOW, Intake
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.shares import Shares
from broker_core.broker.topics import Topics
from broker_core.broker.transactions import records
from broker_core.broker.transactions.recovery import Found, same_message
from broker_core.broker.transactions.table import Decision, OpenTransactions
from broker_core.logs import Repeated, get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.half_records import (
    HALF_QUEUE,
    Half,
    SentAs,
    first_of,
    half_from,
    half_of_record,
    is_committed,
    is_copy,
)
from broker_core.protocol.message import LogOffset, Message, QueueOffset, StoredMessage
from broker_core.protocol.record import MessageOrigin, decode_one
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from broker_core.store import AppendedRecord, Incoming, MessageStore
from broker_core.store.errors import MessageDamaged

_NOT_FOUND: Final = "Find prepared transaction message failed"
_TOO_MANY: Final = "too many transactions wait for their producers"

_log = get_logger(__name__)


class Transactions:
    """The transactions of one broker; `on_open` is called with each half record that is to be checked some time."""

    def __init__(
        self,
        *,
        store: MessageStore,
        intake: Intake,
        arrivals: Arrivals,
        topics: Topics,
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self.table = OpenTransactions()
        self._store = store
        self._intake = intake
        self._arrivals = arrivals
        self._topics = topics
        self._limits = limits
        self._shares = Shares(limits, "open_transactions")
        self._clock = clock
        self._owed: list[QueueOffset] = []
        self._repeated = Repeated(_log)
        self._is_taken_up = False
        self.on_open: Callable[[Half], None] = _nobody_checks

    # -- first phase

    def prepare(self, message: Message, queue_id: int, origin: MessageOrigin, *, account: str = "") -> AppendedRecord:
        """Store a message that nobody sees until its producer commits it; it counts for the account that sent it.

        What was open when the broker started counts for none. Raises LimitReached, MessageIllegal and what the store
        raises.
        """
        if len(self.table) >= self._limits.open_transactions:
            raise self._limits.refuse("open_transactions", _TOO_MANY)
        self._shares.check(account, 1, _TOO_MANY)
        half = records.half_of(message, queue_id)
        stored = self._intake.put(Incoming.of(half, HALF_QUEUE, origin))
        self._open(half, stored, account)
        return stored

    def _open(self, message: Message, stored: AppendedRecord, account: str) -> None:
        half = _half_at(message, stored)
        half.account = account
        self._shares.add(account)
        self.table.add(half)
        self.on_open(half)

    # -- second phase

    def end(self, group: str, queue_offset: QueueOffset, log_offset: LogOffset, decision: Decision) -> LogOffset | None:
        """Commit or roll back; return the log offset behind the last record, None if that was done before.

        The offsets are of the half message, or of one of its copies. Raises TransactionUnknown, TransactionDecided,
        TopicUnknown for a message whose topic was deleted, NotTaken before `take_up`, and what the store raises.
        """
        self._check_taken_up()
        stored = self._asked_for(group, queue_offset, log_offset)
        half = self._find(stored)
        return self._end_again(stored, decision) if half is None else self._end(stored, half, decision)

    def _check_taken_up(self) -> None:
        """Raise NotTaken until it is known what is open: what an earlier master wrote last may still be unconfirmed."""
        if not self._is_taken_up:
            raise NotTaken("service not available now: what earlier masters left is not confirmed yet")

    def _asked_for(self, group: str, queue_offset: QueueOffset, log_offset: LogOffset) -> StoredMessage:
        """Return the half record that a decision names; the remarks are those of Apache RocketMQ."""
        stored = self._named(log_offset, HALF_TOPIC)
        if stored is None:
            raise TransactionUnknown(_NOT_FOUND)
        if stored.properties.get(names.PGROUP) != group:
            raise TransactionUnknown("The producer group wrong")
        if stored.queue_offset != queue_offset:
            raise TransactionUnknown("The transaction state table offset wrong")
        return stored

    def _end(self, stored: StoredMessage, half: Half, decision: Decision) -> LogOffset:
        self._intake.check_room(2)
        if decision is Decision.COMMITTED:
            self._commit(stored, half.log_offset)
        self._close(half, decision)
        return self.mark_done(half.queue_offset)

    def _close(self, half: Half, decision: Decision) -> None:
        self.table.close(half, decision)
        self._shares.remove(half.account)

    def _commit(self, stored: StoredMessage, prepared_at: LogOffset) -> LogOffset:
        message, queue_id = records.committed(stored)
        topic = self._topics.find(message.topic)
        if topic is None:
            raise TopicUnknown(message.topic)
        queue_id %= max(topic.read_queue_nums, topic.write_queue_nums, 1)
        origin = self._origin_of(stored)._replace(prepared_transaction_offset=prepared_at)
        return LogOffset(self._intake.put(Incoming.of(message, queue_id, origin)).end)

    def mark_done(self, queue_offset: QueueOffset) -> LogOffset:
        """Append the op record of a half record; return the log offset behind it."""
        now, host = self._clock(), self._intake.store_host
        return self._put_op(records.op_of(queue_offset), queue_offset, MessageOrigin(now, host, now, host))

    def _put_op(self, op: Message, queue_offset: QueueOffset, origin: MessageOrigin) -> LogOffset:
        stored = self._put(op, origin)
        self.table.op_stored(QueueOffset(stored.queue_offset), queue_offset)
        return LogOffset(stored.end)

    # -- decisions on what is not open

    def _find(self, stored: StoredMessage) -> Half | None:
        """Return the open transaction of a record, also if only a copy of it is known to be open.

        Such copies are those that Apache RocketMQ made when it had this store.
        """
        half = self._open_at(_places_of(stored))
        if half is not None or _is_final(self._remembered(stored)):
            return half
        copies = (each for each in self._same(stored, HALF_TOPIC) if is_copy(each.properties))
        return self._open_at(each.queue_offset for each in copies)

    def _open_at(self, places: Iterable[QueueOffset]) -> Half | None:
        return next((half for place in places if (half := self.table.find(place)) is not None), None)

    def _end_again(self, stored: StoredMessage, decision: Decision) -> LogOffset | None:
        """Decide on a transaction that is not open: repeat what was decided, or end what was given up."""
        before = self._decision_on(stored)
        if before is decision:
            return None
        if before is not Decision.GIVEN_UP:
            raise TransactionDecided(stored.message_id, before)
        is_commit = decision is Decision.COMMITTED
        end = self._commit(stored, stored.log_offset) if is_commit else self._roll_back_late(stored)
        for place in _places_of(stored):
            self.table.remember(place, decision)
        return end

    def _roll_back_late(self, stored: StoredMessage) -> LogOffset:
        """Store that what was given up is rolled back: its op record is there already, and says no more."""
        return self._put_op(records.rollback_of(stored), stored.queue_offset, self._origin_of(stored))

    def _decision_on(self, stored: StoredMessage) -> Decision | None:
        """Return how the transaction of a record ended, which is not open; None if nothing tells.

        All records of one sent message have one answer. GIVEN_UP is the last word only if nothing came after it: the
        transaction may have been checked from the beginning, or decided all the same.
        """
        remembered = self._remembered(stored)
        if _is_final(remembered) or not stored.unique_id:
            return remembered
        if any(is_committed(each) for each in self._same(stored, stored.properties.get(names.REAL_TOPIC, ""))):
            return Decision.COMMITTED
        given_up = self._last_of(stored, TRANSACTION_EXPIRED_TOPIC)
        is_last = given_up > max(self._last_of(stored, topic) for topic in (HALF_TOPIC, OP_HALF_TOPIC))
        return Decision.GIVEN_UP if is_last else Decision.ROLLED_BACK

    def _remembered(self, stored: StoredMessage) -> Decision | None:
        decisions = {self.table.decision_on(place) for place in _places_of(stored)}
        return next((each for each in decisions if _is_final(each)), Decision.GIVEN_UP if any(decisions) else None)

    def _last_of(self, stored: StoredMessage, topic: str) -> int:
        """Return the log offset of the last record in a topic that was made of the same sent message, -1 for none."""
        return max((each.log_offset for each in self._same(stored, topic)), default=-1)

    def _same(self, stored: StoredMessage, topic: str) -> list[StoredMessage]:
        """Return the records in a topic that were made of the same sent message."""
        self._arrivals.settle()
        return same_message(self._store, SentAs.of(stored), topic)

    def take_up(self, found: Found) -> None:
        """Go on with what is open, and write the op records that a crash prevented.

        What was prepared here meanwhile is open too, whether it could be found or not.
        """
        since, self.table = self.table, found.table
        for half in since:
            known = self.table.find(half.queue_offset)
            if known is None:
                self.table.add(half)
            else:
                known.account = half.account
        self._is_taken_up = True
        self._owed = found.done
        self.put_owed()

    def put_owed(self) -> None:
        """Write what is left of those op records; what cannot be put now is left for the next call."""
        try:
            while self._owed:
                self.mark_done(self._owed[-1])
                self._owed.pop()
        except NOT_NOW as error:
            self._repeated.warning(
                error, "transactions: %d op records cannot be stored yet: %s", len(self._owed), error
            )

    def let_go(self) -> None:
        """Forget what is open: another broker decides on it."""
        self._is_taken_up = False
        self.table = OpenTransactions()
        self._owed = []
        self._shares = Shares(self._limits, "open_transactions")

    # -- more records of a transaction

    def copy(self, half: Half, checks: int, due: int) -> StoredMessage | None:
        """Store the half message of an open transaction once more, to be checked at `due` (ms).

        Returns the new record; None if the old one cannot be read. Raises what the store raises.
        """
        return self._renew(half, half, checks, due)

    def _renew(self, half: Half, told: Half, checks: int, due: int) -> StoredMessage | None:
        """Do what `copy` does, with a record that tells of `told`."""
        stored = self.read(half.log_offset)
        if stored is None:
            return None
        self._intake.check_room(2)
        message, origin = records.copy_of(stored, told, checks), self._origin_of(stored)
        put = self._put(message, origin)
        newer = _half_at(message, put)
        newer.due, newer.account = due, half.account
        self.table.replace(half, newer)
        self.on_open(newer)
        self.mark_done(half.queue_offset)
        return self.read(newer.log_offset)

    def give_up(self, half: Half) -> None:
        """Move an open transaction to where its operator finds it; raises what the store raises, before any change."""
        self._intake.check_room(2)
        stored = self.read(half.log_offset)
        if stored is None:
            _log.error(
                "transaction of group=%s for topic=%s is lost: its record cannot be read", half.group, half.topic
            )
        else:
            self._put(records.given_up(stored, half), self._origin_of(stored))
        self._close(half, Decision.GIVEN_UP)
        self.mark_done(half.queue_offset)

    def resume(self, log_offset: LogOffset) -> LogOffset:
        """Check a transaction from the beginning: an open one, or one that was given up; return where its record ends.

        Raises TransactionUnknown for another record, TransactionDecided, NotTaken, and what the store raises.
        """
        self._check_taken_up()
        stored = self._named(log_offset, HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC)
        if stored is None:
            raise TransactionUnknown(_NOT_FOUND)
        half, now = self._find(stored), self._clock()
        if half is None:
            return self._revive(stored, now)
        copied = self._renew(half, records.restarted(half, now), 0, now)
        if copied is None:
            raise TransactionUnknown(_NOT_FOUND)
        return LogOffset(copied.log_offset + copied.store_size)

    def _revive(self, stored: StoredMessage, now: int) -> LogOffset:
        """Open a transaction again that was given up; only its own record in the topic of those proves that alone."""
        before = self._decision_on(stored)
        is_proven = before is None and stored.topic == TRANSACTION_EXPIRED_TOPIC
        if not is_proven and before is not Decision.GIVEN_UP:
            raise TransactionDecided(stored.message_id, before)
        newest = max((stored, *self._same(stored, TRANSACTION_EXPIRED_TOPIC)), key=lambda each: each.log_offset)
        half = self._half_given_up(newest)
        message, origin = records.copy_of(newest, records.restarted(half, now), 0), self._origin_of(newest)
        put = self._intake.put(Incoming.of(message, HALF_QUEUE, origin))
        self._open(message, put, "")
        return LogOffset(put.end)

    def _half_given_up(self, kept: StoredMessage) -> Half:
        """Return the transaction that a record of what was given up is about; raise TransactionUnknown."""
        half = half_from(kept)
        if half is None:
            raise TransactionUnknown(_NOT_FOUND)
        records_of = [kept, *self._same(kept, HALF_TOPIC)]
        firsts = (first for each in records_of if (first := first_of(each)) is not None)
        # The place that the next record gets is its own first one.
        half.first = next(firsts, QueueOffset(self._store.max_offset(HALF_TOPIC, HALF_QUEUE)))
        halves = (each for each in map(half_from, records_of) if each is not None)
        half.began_at = next((each.began_at for each in halves if each.began_at is not None), None)
        return half

    # -- records

    def read(self, log_offset: LogOffset) -> StoredMessage | None:
        """Return the half record at a log offset; None if there is none, or a damaged one."""
        return self._read(self._store.find_raw, log_offset, HALF_TOPIC)

    def _named(self, log_offset: LogOffset, *topics: str) -> StoredMessage | None:
        """Return the record at a log offset that a client names."""
        return self._read(self._arrivals.find_named, log_offset, *topics)

    def _read(self, find: Callable[[int], bytes | None], log_offset: LogOffset, *topics: str) -> StoredMessage | None:
        try:
            raw = find(log_offset)
        except MessageDamaged as damage:
            _log.error("transactions: %s", damage)
            return None
        stored = None if raw is None else decode_one(raw, decompress=False)
        return stored if stored is not None and stored.topic in topics else None

    def _put(self, message: Message, origin: MessageOrigin) -> AppendedRecord:
        """Store a record of the broker itself, also on a nearly full disk: what it is about is stored by now."""
        return self._intake.put_own(Incoming.of(message, HALF_QUEUE, origin))

    def _origin_of(self, stored: StoredMessage) -> MessageOrigin:
        return self._intake.origin_of_copy(stored, now=self._clock(), reconsume_times=stored.reconsume_times)


def _places_of(stored: StoredMessage) -> list[QueueOffset]:
    """Return the queue offsets by which the table may know the transaction of a record."""
    first = first_of(stored)
    own = [stored.queue_offset] if stored.topic == HALF_TOPIC else []
    return own if first is None or first in own else [first, *own]


def _is_final(decision: Decision | None) -> bool:
    """Return whether nothing can follow a decision."""
    return decision in (Decision.COMMITTED, Decision.ROLLED_BACK)


def _half_at(message: Message, stored: AppendedRecord) -> Half:
    half = half_of_record(
        message.properties, QueueOffset(stored.queue_offset), LogOffset(stored.log_offset), stored.store_timestamp
    )
    assert half is not None, "a half message names its topic and its producer group"
    return half


def _nobody_checks(_half: Half) -> None:
    """Stand in for the checks until there are some."""
