"""The records of a transaction that is open: which belong together, and whether an op record is about their end.

A half message is sent once, and may be stored again and again (copies). Brokers read this when they open a store, and
clients to show what is open; Gantry and Apache RocketMQ mean the same by them (broker/README.md#transactions).
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from broker_core.protocol.topics import HALF_TOPIC

HALF_QUEUE: Final = 0
"""The one queue of the half topic; its op records are in the queue of the same number."""
PROGRESS_GROUP: Final = "CID_RMQ_SYS_TRANS"
"""The consumer group under which a broker saves its progress in both internal topics."""
OP_TAG: Final = "d"

_OFFSET_DIGITS: Final = 19
_SECONDS_DIGITS: Final = 10
_QUEUE_DIGITS: Final = 10  # of a 32-bit number


class SentAs(NamedTuple):
    """What all records that were made of one sent message share; of no use without a unique id."""

    unique_id: str | None
    born_at: int
    born_host: str

    @classmethod
    def of(cls, stored: StoredMessage) -> SentAs:
        """Return it for a record."""
        return cls(stored.unique_id, stored.born_timestamp, stored.born_host)


@dataclass(slots=True)
class Half:
    """What the broker keeps in memory of an open transaction: its newest record, and when it is checked next.

    `first` and `began_at` are queue offset and store time of its first record. Where Apache RocketMQ made the oldest
    one that is known, `first` is that one and `began_at` None. `since` is when its checks began, `checks_before` how
    many there were before they began anew. Times are in ms since 1970, `due` is 0 until it is planned. The clock of
    the producer is not believed: one that is wrong would end its transactions. `account` is that of the sender, empty
    where none is known: records do not tell.
    """

    first: QueueOffset
    queue_offset: QueueOffset
    log_offset: LogOffset
    group: str
    topic: str
    queue_id: int
    began_at: int | None
    since: int
    stored_at: int
    immune_ms: int | None
    checks: int
    checks_before: int = 0
    due: int = 0
    account: str = ""


@dataclass(slots=True)
class HalfRecord:
    """A half record of a chain: the records that were made of one sent message, in their order."""

    half: Half
    sent_as: SentAs
    pairs: dict[str, str]
    is_done: bool


def is_committed(stored: StoredMessage) -> bool:
    """Return whether a record is the message of a committed transaction."""
    return stored.sys_flag & flags.TRANSACTION_MASK == flags.TRANSACTION_COMMIT


def queue_of(pairs: Mapping[str, str]) -> int:
    """Return the queue that a half message is for."""
    return _number(pairs.get(names.REAL_QID, ""), _QUEUE_DIGITS) or 0


def half_of_record(
    pairs: Mapping[str, str], queue_offset: QueueOffset, log_offset: LogOffset, stored_at: int
) -> Half | None:
    """Return the transaction of a record in the half topic; None for one without destination or producer group."""
    topic, group = pairs.get(names.REAL_TOPIC, ""), pairs.get(names.PGROUP, "")
    if not topic or not group:
        return None
    first = _number(pairs.get(names.TRAN_FIRST_QUEUE_OFFSET, ""), _OFFSET_DIGITS)
    began_at = _number(pairs.get(names.TRAN_FIRST_STORE_MS, ""), _OFFSET_DIGITS)
    if began_at is None and not is_copy(pairs):
        began_at = stored_at
    since = _number(pairs.get(names.TRAN_CHECKED_SINCE_MS, ""), _OFFSET_DIGITS)
    immune = _number(pairs.get(names.CHECK_IMMUNITY_TIME_IN_SECONDS, ""), _SECONDS_DIGITS)
    return Half(
        first=queue_offset if first is None else QueueOffset(first),
        queue_offset=queue_offset,
        log_offset=log_offset,
        group=group,
        topic=topic,
        queue_id=queue_of(pairs),
        began_at=began_at,
        since=next(each for each in (since, began_at, stored_at) if each is not None),
        stored_at=stored_at,
        immune_ms=None if immune is None else immune * 1_000,
        checks=_number(pairs.get(names.TRANSACTION_CHECK_TIMES, ""), _QUEUE_DIGITS) or 0,
        checks_before=_number(pairs.get(names.TRAN_CHECKS_BEFORE, ""), _QUEUE_DIGITS) or 0,
    )


def half_from(stored: StoredMessage) -> Half | None:
    """Return what `half_of_record` returns for a record that was read; of one that was given up no place counts."""
    half = half_of_record(stored.properties, stored.queue_offset, stored.log_offset, stored.store_timestamp)
    if half is not None and stored.topic != HALF_TOPIC and names.TRAN_FIRST_STORE_MS not in stored.properties:
        half.began_at = None
    return half


def first_of(stored: StoredMessage) -> QueueOffset | None:
    """Return the queue offset of the first record of a record's transaction; None if it does not tell."""
    told = _number(stored.properties.get(names.TRAN_FIRST_QUEUE_OFFSET, ""), _OFFSET_DIGITS)
    if told is not None:
        return QueueOffset(told)
    return stored.queue_offset if stored.topic == HALF_TOPIC and not is_copy(stored.properties) else None


def prepared_at(pairs: Mapping[str, str]) -> QueueOffset | None:
    """Return the queue offset of the record that Apache RocketMQ copied to this one while it was immune to checks."""
    found = _number(pairs.get(names.TRAN_PREPARED_QUEUE_OFFSET, ""), _OFFSET_DIGITS)
    return None if found is None else QueueOffset(found)


def is_copy(pairs: Mapping[str, str]) -> bool:
    """Return whether a half record was made of an older one."""
    return names.TRANSACTION_CHECK_TIMES in pairs or names.TRAN_PREPARED_QUEUE_OFFSET in pairs


def ends_its_original(pairs: Mapping[str, str]) -> bool:
    """Return whether what a copy was made of gets an op record for that, so that the op record says no more.

    Apache RocketMQ writes none, and counts on without touching TRAN_COPY_CHECKS.
    """
    checks = pairs.get(names.TRANSACTION_CHECK_TIMES)
    return checks == pairs.get(names.TRAN_COPY_CHECKS) and names.TRAN_PREPARED_QUEUE_OFFSET not in pairs


def done_by(stored: StoredMessage) -> Iterator[QueueOffset]:
    """Return the half records that an op record says are done: 5.x writes many into one, with commas between them."""
    if stored.properties.get(names.TAGS) == OP_TAG:
        for text in stored.body.decode("ascii", "replace").split(","):
            if (offset := _number(text.strip(), _OFFSET_DIGITS)) is not None:
                yield QueueOffset(offset)


def chains_of(stored_halves: Iterable[StoredMessage], ended: Container[QueueOffset]) -> list[list[HalfRecord]]:
    """Return the chains of half records, given in their order; `ended` are those that op records say are done.

    A record without destination or producer group is left out: nobody can end its transaction.
    """
    chains: dict[Hashable, list[HalfRecord]] = {}
    for stored in stored_halves:
        half = half_from(stored)
        if half is None:
            continue
        sent_as = SentAs.of(stored)
        key: Hashable = sent_as if stored.unique_id else half.first
        record = HalfRecord(half, sent_as, stored.properties, stored.queue_offset in ended)
        if key in chains and is_copy(stored.properties):
            _inherit(half, chains[key][0].half)
            chains[key].append(record)
        else:
            if key in chains:  # sent twice
                chains[half.queue_offset, key] = chains.pop(key)
            chains[key] = [record]
    return list(chains.values())


def _inherit(half: Half, first: Half) -> None:
    """Tell a record that Apache RocketMQ made where and when its transaction began."""
    if half.began_at is None and first.began_at is not None:
        half.first, half.began_at, half.since = first.first, first.began_at, first.since


def is_decided(chain: list[HalfRecord], ended: Container[QueueOffset]) -> bool:
    """Return whether an op record is about a decision, and not about a copy that was made."""
    after: Iterator[HalfRecord | None] = iter([*chain[1:], None])
    for record, newer in zip(chain, after, strict=True):
        if record.is_done and (newer is None or not ends_its_original(newer.pairs)):
            return True
    return any(prepared_at(record.pairs) in ended for record in chain)


def _number(text: str, digits: int) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None
