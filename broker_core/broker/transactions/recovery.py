"""Finds the open transactions in a store, when a broker opens it."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.transactions.table import Decision, OpenTransactions
from broker_core.logs import get_logger
from broker_core.protocol.half_records import (
    HALF_QUEUE,
    PROGRESS_GROUP,
    HalfRecord,
    SentAs,
    chains_of,
    done_by,
    ends_its_original,
    half_from,
    is_committed,
    is_copy,
    is_decided,
)
from broker_core.protocol.message import QueueOffset, StoredMessage
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from broker_core.store import GetStatus, MessageStore

_READ_MESSAGES: Final = 512
_READ_BYTES: Final = 4 * 1024 * 1024
_FOREVER: Final = 2**62
_COPIES: Final = 32

_log = get_logger(__name__)


@dataclass(slots=True)
class Found:
    """What is open, and the half records that are done and lack their op records."""

    table: OpenTransactions = field(default_factory=OpenTransactions)
    done: list[QueueOffset] = field(default_factory=list)


def finding(
    store: MessageStore, offsets: ConsumerOffsets, *, before: int | None = None
) -> Generator[None, None, Found]:
    """Return what is open: read both internal topics from their saved progress on; about 100 000 records a second.

    It stops after each part of them, of some milliseconds. The broker that ended before us wrote up to the log offset
    `before`; None: all that is in the log.
    """
    found = Found()
    half_offset, op_offset = _saved(store, offsets, HALF_TOPIC), _saved(store, offsets, OP_HALF_TOPIC)
    found.table.start_at(half_offset, op_offset)
    ended = yield from _ended(store, op_offset, found.table)
    halves = yield from _half_records(store, half_offset)
    chains = [chain for chain in chains_of(halves, ended) if not all(record.is_done for record in chain)]
    found.table.passed(QueueOffset(store.max_offset(HALF_TOPIC, HALF_QUEUE)))
    last = _committed_last(store, {chain[0].half.topic for chain in chains}, before)
    given_up = _given_up(store, chains)
    for chain in chains:
        if any(record.half.log_offset in last for record in chain) or _was_committed(store, chain[-1]):
            _close(found, chain, Decision.COMMITTED)
        elif is_decided(chain, ended):
            _close(found, chain, None)
        elif given_up.get(chain[-1].sent_as, -1) > chain[-1].half.log_offset:
            _close(found, chain, Decision.GIVEN_UP)
        else:
            _open(found, chain)
    return found


def _saved(store: MessageStore, offsets: ConsumerOffsets, topic: str) -> QueueOffset:
    begin, end = store.min_offset(topic, HALF_QUEUE), store.max_offset(topic, HALF_QUEUE)
    saved = offsets.find(PROGRESS_GROUP, topic, HALF_QUEUE)
    return QueueOffset(min(max(saved or 0, begin), end))


def _ended(
    store: MessageStore, op_offset: QueueOffset, table: OpenTransactions
) -> Generator[None, None, set[QueueOffset]]:
    """Return the half records that op records say are done."""
    ended: set[QueueOffset] = set()
    for part in _parts(store, OP_HALF_TOPIC, op_offset):
        for stored in part:
            done = set(done_by(stored))
            table.op_stored(stored.queue_offset, max(done, default=QueueOffset(-1)))
            ended |= done
        yield
    return ended


def _half_records(store: MessageStore, half_offset: QueueOffset) -> Generator[None, None, list[StoredMessage]]:
    """Return the half records without their bodies, which nobody needs here."""
    halves: list[StoredMessage] = []
    for part in _parts(store, HALF_TOPIC, half_offset):
        for stored in part:
            if half_from(stored) is None:
                _log.error("topic=%s offset=%d: no destination or no producer group", HALF_TOPIC, stored.queue_offset)
            halves.append(replace(stored, body=b""))
        yield
    return halves


def _was_committed(store: MessageStore, newest: HalfRecord) -> bool:
    """Return whether another broker committed a transaction of which it had made this copy: look for the message.

    Its op record may be about an older copy, and in front of what is read.
    """
    if not is_copy(newest.pairs) or ends_its_original(newest.pairs):
        return False
    return any(is_committed(each) for each in same_message(store, newest.sent_as, newest.half.topic))


def _given_up(store: MessageStore, chains: list[list[HalfRecord]]) -> dict[SentAs, int]:
    """Return the log offsets of what was given up since the oldest of these chains has had its newest record.

    A killed broker lacks the op record of one, and Apache RocketMQ writes none.
    """
    since = min((chain[-1].half.stored_at for chain in chains), default=None)
    if since is None:
        return {}
    begin = store.first_from(TRANSACTION_EXPIRED_TOPIC, HALF_QUEUE, since)
    kept = _records(store, TRANSACTION_EXPIRED_TOPIC, begin)
    return {SentAs.of(stored): stored.log_offset for stored in kept if stored.unique_id}


def _close(found: Found, chain: list[HalfRecord], decision: Decision | None) -> None:
    found.done += [record.half.queue_offset for record in chain if not record.is_done]
    if decision is not None:
        for record in chain:
            found.table.remember(record.half.queue_offset, decision)


def _open(found: Found, chain: list[HalfRecord]) -> None:
    found.table.add(chain[0].half)
    for older, newer in itertools.pairwise(chain):
        found.table.replace(older.half, newer.half)
    found.done += [record.half.queue_offset for record in chain[:-1] if not record.is_done]


def same_message(store: MessageStore, sent_as: SentAs, topic: str) -> list[StoredMessage]:
    """Return the records in a topic that were made of the same sent message; none for one without a unique id."""
    if not sent_as.unique_id:
        return []
    found = store.search(topic, sent_as.unique_id, begin=0, end=_FOREVER, max_count=_COPIES)
    every = (decode_one(record, decompress=False) for record in found.records)
    return [each for each in every if SentAs.of(each) == sent_as]


def _committed_last(store: MessageStore, topics: set[str], before: int | None) -> set[int]:
    """Return the log offsets of the half messages of which the last message of a queue of `topics` was made.

    The last one is that in front of the log offset `before`.
    """
    found: set[int] = set()
    for topic, queue_id in store.queues():
        if topic in topics:
            last = _records(store, topic, _end(store, topic, queue_id, before) - 1, queue_id)
            found |= {stored.prepared_transaction_offset for stored in itertools.islice(last, 1)}
    return found


def _end(store: MessageStore, topic: str, queue_id: int, before: int | None) -> int:
    """Return the queue offset behind the last message of a queue in front of a log offset."""
    begin, end = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
    if before is None:
        return end

    def place(offset: int) -> int:
        return next((unit.log_offset for unit in store.units(topic, queue_id, offset, 1)), -1)

    return begin + bisect_left(range(begin, end), before, key=place)


def _records(store: MessageStore, topic: str, offset: int, queue_id: int = HALF_QUEUE) -> Iterator[StoredMessage]:
    return itertools.chain.from_iterable(_parts(store, topic, offset, queue_id))


def _parts(
    store: MessageStore, topic: str, offset: int, queue_id: int = HALF_QUEUE
) -> Iterator[Iterator[StoredMessage]]:
    """Yield the records of a queue, each time so many as are read at once."""
    while 0 <= offset < store.max_offset(topic, queue_id):
        found = store.get(topic, queue_id, offset, max_messages=_READ_MESSAGES, max_bytes=_READ_BYTES)
        if found.status is GetStatus.FOUND:
            yield (decode_one(record, decompress=False) for record in found.records)
        if found.next_offset <= offset:
            return
        offset = found.next_offset
