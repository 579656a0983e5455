"""Two-phase sends: stores half messages, and commits or rolls them back (broker/README.md#transactions).

A decision is two records, the message and the op record, appended without a pause between them. So a killed broker can
have lost only the op record of the last message in its log, which it finds when it opens (`recovery.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import TopicUnknown, TransactionDecided, TransactionUnknown
from broker_core.broker.intake import Intake
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.topics import Topics
from broker_core.broker.transactions import records
from broker_core.broker.transactions.recovery import Found, same_message
from broker_core.broker.transactions.table import Decision, OpenTransactions
from broker_core.logs import get_logger
from broker_core.protocol import properties as names
from broker_core.protocol.half_records import HALF_QUEUE, Half, SentAs, half_of_record, is_committed, is_copy
from broker_core.protocol.message import LogOffset, Message, QueueOffset, StoredMessage
from broker_core.protocol.record import MessageOrigin, decode_one
from broker_core.protocol.topics import HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from broker_core.store import AppendedRecord, Incoming, MessageStore
from broker_core.store.errors import MessageDamaged

_log = get_logger(__name__)


class Transactions:
    """The transactions of one broker; `on_open` is called with each half record that is to be checked some time."""

    def __init__(
        self,
        table: OpenTransactions,
        *,
        store: MessageStore,
        intake: Intake,
        arrivals: Arrivals,
        topics: Topics,
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self.table = table
        self._store = store
        self._intake = intake
        self._arrivals = arrivals
        self._topics = topics
        self._limits = limits
        self._clock = clock
        self.on_open: Callable[[Half], None] = _nobody_checks

    # -- first phase

    def prepare(self, message: Message, queue_id: int, origin: MessageOrigin) -> AppendedRecord:
        """Store a message that nobody sees until its producer commits it.

        Raises LimitReached, MessageIllegal and what the store raises.
        """
        if len(self.table) >= self._limits.open_transactions:
            raise self._limits.refuse("open_transactions", "too many transactions wait for their producers")
        half = records.half_of(message, queue_id)
        stored = self._intake.put(Incoming.of(half, HALF_QUEUE, origin))
        self._open(half, stored)
        return stored

    def _open(self, message: Message, stored: AppendedRecord) -> None:
        half = _half_at(message, stored)
        self.table.add(half)
        self.on_open(half)

    # -- second phase

    def end(self, group: str, queue_offset: QueueOffset, log_offset: LogOffset, decision: Decision) -> LogOffset | None:
        """Commit or roll back; return the log offset behind the last record, None if that was done before.

        The offsets are of the half message, or of one of its copies. Raises TransactionUnknown, TransactionDecided,
        TopicUnknown for a message whose topic was deleted, and what the store raises.
        """
        stored = self._asked_for(group, queue_offset, log_offset)
        half = self._find(stored)
        return self._end_again(stored, decision) if half is None else self._end(stored, half, decision)

    def _asked_for(self, group: str, queue_offset: QueueOffset, log_offset: LogOffset) -> StoredMessage:
        """Return the half record that a decision names; the remarks are those of Apache RocketMQ."""
        stored = self._named(log_offset, HALF_TOPIC)
        if stored is None:
            raise TransactionUnknown("Find prepared transaction message failed")
        if stored.properties.get(names.PGROUP) != group:
            raise TransactionUnknown("The producer group wrong")
        if stored.queue_offset != queue_offset:
            raise TransactionUnknown("The transaction state table offset wrong")
        return stored

    def _end(self, stored: StoredMessage, half: Half, decision: Decision) -> LogOffset:
        if decision is Decision.COMMITTED:
            self._commit(stored, half.log_offset)
        self.table.close(half, decision)
        return self.mark_done(half.queue_offset)

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
        stored = self._put(records.op_of(queue_offset), MessageOrigin(now, host, now, host))
        self.table.op_stored(QueueOffset(stored.queue_offset), queue_offset)
        return LogOffset(stored.end)

    # -- decisions on what is not open

    def _find(self, stored: StoredMessage) -> Half | None:
        """Return the open transaction of a record, also if only a copy of it is known to be open.

        Such copies are those that Apache RocketMQ made when it had this store, and those of `resume`.
        """
        if stored.topic == HALF_TOPIC:
            half = self.table.find(stored.queue_offset)
            if half is not None or self.table.decision_on(stored.queue_offset) not in (None, Decision.GIVEN_UP):
                return half
        copies = (each for each in self._same(stored, HALF_TOPIC) if is_copy(each.properties))
        return next((half for each in copies if (half := self.table.find(each.queue_offset)) is not None), None)

    def _end_again(self, stored: StoredMessage, decision: Decision) -> LogOffset | None:
        """Decide on a transaction that is not open: repeat what was decided, or commit what was given up."""
        before = self._decision_on(stored)
        if before is decision or (before is Decision.GIVEN_UP and decision is Decision.ROLLED_BACK):
            return None
        if before is not Decision.GIVEN_UP:
            raise TransactionDecided(stored.message_id, before)
        end = self._commit(stored, stored.log_offset)
        self.table.remember(stored.queue_offset, Decision.COMMITTED)
        return end

    def _decision_on(self, stored: StoredMessage) -> Decision | None:
        """Return how the transaction of a record ended, which is not open; None if nothing tells."""
        remembered = self.table.decision_on(stored.queue_offset) if stored.topic == HALF_TOPIC else None
        if remembered is not None or not stored.unique_id:
            return remembered
        sent_on = self._same(stored, stored.properties.get(names.REAL_TOPIC, ""))
        if any(is_committed(each) for each in sent_on):
            return Decision.COMMITTED
        return Decision.GIVEN_UP if self._same(stored, TRANSACTION_EXPIRED_TOPIC) else Decision.ROLLED_BACK

    def _same(self, stored: StoredMessage, topic: str) -> list[StoredMessage]:
        """Return the records in a topic that were made of the same sent message."""
        self._arrivals.settle()
        return same_message(self._store, SentAs.of(stored), topic)

    def settle(self, found: Found) -> None:
        """Write the op records that a crash prevented."""
        for queue_offset in found.done:
            self.mark_done(queue_offset)

    # -- more records of a transaction

    def copy(self, half: Half, checks: int, due: int) -> StoredMessage | None:
        """Store the half message of an open transaction once more, to be checked at `due` (ms).

        Returns the new record; None if the old one cannot be read. Raises what the store raises.
        """
        stored = self.read(half.log_offset)
        if stored is None:
            return None
        message, origin = records.copy_of(stored, half, checks), self._origin_of(stored)
        put = self._put(message, origin)
        newer = _half_at(message, put)
        newer.due = due
        self.table.replace(half, newer)
        self.on_open(newer)
        self.mark_done(half.queue_offset)
        return self.read(newer.log_offset)

    def give_up(self, half: Half) -> None:
        """Move an open transaction to where its operator finds it."""
        stored = self.read(half.log_offset)
        if stored is None:
            _log.error(
                "transaction of group=%s for topic=%s is lost: its record cannot be read", half.group, half.topic
            )
        else:
            self._put(records.given_up(stored), self._origin_of(stored))
        self.table.close(half, Decision.GIVEN_UP)
        self.mark_done(half.queue_offset)

    def resume(self, log_offset: LogOffset) -> LogOffset:
        """Check a transaction from the beginning: an open one, or one that was given up; return where its record ends.

        Raises TransactionUnknown for another record, TransactionDecided, and what the store raises.
        """
        stored = self._named(log_offset, HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC)
        if stored is None:
            raise TransactionUnknown("Find prepared transaction message failed")
        half = self._find(stored)
        if half is not None:
            copied = self.copy(half, 0, self._clock())
            if copied is None:
                raise TransactionUnknown("Find prepared transaction message failed")
            return LogOffset(copied.log_offset + copied.store_size)
        if self._decision_on(stored) not in (None, Decision.GIVEN_UP):
            raise TransactionDecided(stored.message_id, self._decision_on(stored))
        message, origin = records.revived(stored), self._origin_of(stored)
        put = self._intake.put(Incoming.of(message, HALF_QUEUE, origin))
        self._open(message, put)
        return LogOffset(put.end)

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
        stored = self._store.put(Incoming.of(message, HALF_QUEUE, origin))
        self._arrivals.expect()
        return stored

    def _origin_of(self, stored: StoredMessage) -> MessageOrigin:
        return self._intake.origin_of_copy(stored, now=self._clock(), reconsume_times=stored.reconsume_times)


def _half_at(message: Message, stored: AppendedRecord) -> Half:
    half = half_of_record(
        message.properties, QueueOffset(stored.queue_offset), LogOffset(stored.log_offset), stored.store_timestamp
    )
    assert half is not None, "a half message names its topic and its producer group"
    return half


def _nobody_checks(_half: Half) -> None:
    """Stand in for the checks until there are some."""
