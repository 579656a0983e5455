"""The records of transactions (broker/README.md#transactions).

========= ============================= ==========================================================================
half      RMQ_SYS_TRANS_HALF_TOPIC      a message as it was sent, with REAL_TOPIC and REAL_QID; nobody consumes it
copy      the same                      a half message once more, with TRANSACTION_CHECK_TIMES: its last check came
                                        before it, or its older records are about to leave the log
op        RMQ_SYS_TRANS_OP_HALF_TOPIC   the decimal queue offset of a half record that is done
committed REAL_TOPIC                    the message, with the log offset of its half record
given up  TRANS_CHECK_MAX_TIME_TOPIC    a half message that was checked too often, or is older than the log keeps
========= ============================= ==========================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from broker_core.broker.errors import MessageIllegal
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.message import LogOffset, Message, QueueOffset, StoredMessage
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, format_properties
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC

HALF_QUEUE: Final = 0
"""The one queue of the half topic; its op records are in the queue of the same number."""

OP_TAG: Final = "d"

_FIRST: Final = (names.TRAN_FIRST_QUEUE_OFFSET, names.TRAN_FIRST_STORE_MS, names.TRAN_COPY_CHECKS)
_OF_COPIES: Final = (names.TRANSACTION_CHECK_TIMES, names.TRAN_PREPARED_QUEUE_OFFSET, *_FIRST)
_ROOM: Final = dict.fromkeys(_OF_COPIES, str(2**63 - 1))
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

    `first` and `began_at` are queue offset and store time of its first record. Times are in ms since 1970, `due` is 0
    until it is planned. The clock of the producer is not believed: one that is wrong would end its transactions.
    """

    first: QueueOffset
    queue_offset: QueueOffset
    log_offset: LogOffset
    group: str
    topic: str
    queue_id: int
    began_at: int
    stored_at: int
    immune_ms: int | None
    checks: int
    due: int = 0


def is_transactional(pairs: Mapping[str, str]) -> bool:
    """Return whether a message with these properties is the first phase of a transaction."""
    return pairs.get(names.TRAN_MSG, "").lower() == "true"


def half_of(message: Message, queue_id: int) -> Message:
    """Return what is stored of a transactional `message` until its producer decides.

    Raises MessageIllegal for one that also asks for a delay, that names no producer group, or whose properties leave
    no room for those that checks add.
    """
    pairs = message.properties
    if asked := next((name for name in (names.DELAY, *names.TIMERS) if name in pairs), None):
        raise MessageIllegal(f"a transactional message takes no delay and no delivery time ({asked})")
    if not pairs.get(names.PGROUP):
        raise MessageIllegal("a transactional message names its producer group in the property PGROUP")
    kept = {name: value for name, value in pairs.items() if name not in _OF_COPIES}
    kept |= {names.REAL_TOPIC: message.topic, names.REAL_QID: str(queue_id)}
    size = len(format_properties(kept | _ROOM).encode())
    if size > MAX_PROPERTIES_BYTES:
        raise MessageIllegal(
            f"properties of {size} bytes with those of the transaction; at most {MAX_PROPERTIES_BYTES} are allowed"
        )
    return _as_half(message, kept)


def copy_of(stored: StoredMessage, half: Half, checks: int) -> Message:
    """Return the half message of a transaction as it is stored once more after so many checks."""
    pairs = stored.properties | {
        names.TRANSACTION_CHECK_TIMES: str(checks),
        names.TRAN_FIRST_QUEUE_OFFSET: str(half.first),
        names.TRAN_FIRST_STORE_MS: str(half.began_at),
        names.TRAN_COPY_CHECKS: str(checks),
    }
    pairs.pop(names.TRAN_PREPARED_QUEUE_OFFSET, None)
    return _as_half(stored, pairs)


def revived(stored: StoredMessage) -> Message:
    """Return a half message that was given up, as it is stored to be checked from the beginning."""
    pairs = {name: value for name, value in stored.properties.items() if name not in _OF_COPIES}
    return _as_half(stored, pairs | {names.TRANSACTION_CHECK_TIMES: "0", names.TRAN_COPY_CHECKS: "0"})


def _as_half(message: Message | StoredMessage, pairs: dict[str, str]) -> Message:
    return Message(HALF_TOPIC, message.body, pairs, message.flag, message.sys_flag & ~flags.TRANSACTION_MASK)


def op_of(queue_offset: QueueOffset) -> Message:
    """Return the record that says that a half record is done."""
    return Message(OP_HALF_TOPIC, str(queue_offset).encode(), {names.TAGS: OP_TAG, names.WAIT: "true"})


def committed(stored: StoredMessage) -> tuple[Message, int]:
    """Return a half message as its consumers get it, and its queue; it keeps TRAN_MSG, REAL_TOPIC and REAL_QID."""
    pairs = {name: value for name, value in stored.properties.items() if name not in _FIRST}
    sys_flag = stored.sys_flag & ~flags.TRANSACTION_MASK | flags.TRANSACTION_COMMIT
    queue_id = _number(pairs.get(names.REAL_QID, ""), _QUEUE_DIGITS) or 0
    return Message(pairs.get(names.REAL_TOPIC, ""), stored.body, pairs, stored.flag, sys_flag), queue_id


def is_committed(stored: StoredMessage) -> bool:
    """Return whether a record is the message of a committed transaction."""
    return stored.sys_flag & flags.TRANSACTION_MASK == flags.TRANSACTION_COMMIT


def given_up(stored: StoredMessage) -> Message:
    """Return a half message as it is kept for its operator."""
    pairs = {name: value for name, value in stored.properties.items() if name not in _FIRST}
    return Message(TRANSACTION_EXPIRED_TOPIC, stored.body, pairs, stored.flag, stored.sys_flag)


def half_of_record(
    pairs: Mapping[str, str], queue_offset: QueueOffset, log_offset: LogOffset, stored_at: int
) -> Half | None:
    """Return the transaction of a record in the half topic; None for one without destination or producer group."""
    topic, group = pairs.get(names.REAL_TOPIC, ""), pairs.get(names.PGROUP, "")
    if not topic or not group:
        return None
    first = _number(pairs.get(names.TRAN_FIRST_QUEUE_OFFSET, ""), _OFFSET_DIGITS)
    began_at = _number(pairs.get(names.TRAN_FIRST_STORE_MS, ""), _OFFSET_DIGITS)
    immune = _number(pairs.get(names.CHECK_IMMUNITY_TIME_IN_SECONDS, ""), _SECONDS_DIGITS)
    return Half(
        first=queue_offset if first is None else QueueOffset(first),
        queue_offset=queue_offset,
        log_offset=log_offset,
        group=group,
        topic=topic,
        queue_id=_number(pairs.get(names.REAL_QID, ""), _QUEUE_DIGITS) or 0,
        began_at=stored_at if began_at is None else began_at,
        stored_at=stored_at,
        immune_ms=None if immune is None else immune * 1_000,
        checks=_number(pairs.get(names.TRANSACTION_CHECK_TIMES, ""), _QUEUE_DIGITS) or 0,
    )


def half_from(stored: StoredMessage) -> Half | None:
    """Return what `half_of_record` returns for a record that was read."""
    return half_of_record(stored.properties, stored.queue_offset, stored.log_offset, stored.store_timestamp)


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


def _number(text: str, digits: int) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None
