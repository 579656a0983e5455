"""The records of transactions (broker/README.md#transactions).

========= ============================= ==========================================================================
half      RMQ_SYS_TRANS_HALF_TOPIC      a message as it was sent, with REAL_TOPIC and REAL_QID; nobody consumes it
copy      the same                      a half message once more, with TRANSACTION_CHECK_TIMES: its last check came
                                        before it, or its older records are about to leave the log
op        RMQ_SYS_TRANS_OP_HALF_TOPIC   the decimal queue offset of a half record that is done
rollback  the same                      an op record with the unique id of its message, which was given up before
committed REAL_TOPIC                    the message, with the log offset of its half record
given up  TRANS_CHECK_MAX_TIME_TOPIC    a half message that was checked too often, or is older than the log keeps
========= ============================= ==========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from broker_core.broker.errors import MessageIllegal
from broker_core.protocol import properties as names
from broker_core.protocol import sys_flag as flags
from broker_core.protocol.half_records import OP_TAG, Half, queue_of
from broker_core.protocol.message import Message, QueueOffset, StoredMessage
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, format_properties
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC

_OF_GANTRY: Final = (
    names.TRAN_FIRST_QUEUE_OFFSET,
    names.TRAN_FIRST_STORE_MS,
    names.TRAN_COPY_CHECKS,
    names.TRAN_CHECKED_SINCE_MS,
    names.TRAN_CHECKS_BEFORE,
)
_OF_COPIES: Final = (names.TRANSACTION_CHECK_TIMES, names.TRAN_PREPARED_QUEUE_OFFSET, *_OF_GANTRY)
_ROOM: Final = dict.fromkeys(_OF_COPIES, str(2**63 - 1))


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
    pairs = _without(stored, names.TRAN_PREPARED_QUEUE_OFFSET) | _of_chain(half)
    return _as_half(stored, pairs | {names.TRANSACTION_CHECK_TIMES: str(checks), names.TRAN_COPY_CHECKS: str(checks)})


def restarted(half: Half, now: int) -> Half:
    """Return a transaction as one whose checks begin anew."""
    return replace(half, since=now, checks=0, checks_before=half.checks_before + half.checks)


def _of_chain(half: Half) -> dict[str, str]:
    """Return the properties by which the records of one transaction tell how it began."""
    told = {
        names.TRAN_FIRST_QUEUE_OFFSET: half.first,
        names.TRAN_FIRST_STORE_MS: half.began_at,
        names.TRAN_CHECKED_SINCE_MS: None if half.since == half.began_at else half.since,
        names.TRAN_CHECKS_BEFORE: half.checks_before or None,
    }
    return {name: str(value) for name, value in told.items() if value is not None}


def _without(stored: StoredMessage, *dropped: str) -> dict[str, str]:
    return {name: value for name, value in stored.properties.items() if name not in dropped}


def _as_half(message: Message | StoredMessage, pairs: dict[str, str]) -> Message:
    return Message(HALF_TOPIC, message.body, pairs, message.flag, message.sys_flag & ~flags.TRANSACTION_MASK)


def op_of(queue_offset: QueueOffset) -> Message:
    """Return the record that says that a half record is done."""
    return Message(OP_HALF_TOPIC, str(queue_offset).encode(), {names.TAGS: OP_TAG, names.WAIT: "true"})


def rollback_of(half: StoredMessage) -> Message:
    """Return the op record that says that a half message was rolled back after it was given up.

    It is found by the unique id: which is stored with its birth, so that it is told from another message of that id.
    """
    op = op_of(half.queue_offset)
    if half.unique_id:
        op.properties[names.UNIQ_KEY] = half.unique_id
    return op


def committed(stored: StoredMessage) -> tuple[Message, int]:
    """Return a half message as its consumers get it, and its queue; it keeps TRAN_MSG, REAL_TOPIC and REAL_QID."""
    pairs = _without(stored, *_OF_GANTRY)
    sys_flag = stored.sys_flag & ~flags.TRANSACTION_MASK | flags.TRANSACTION_COMMIT
    return Message(pairs.get(names.REAL_TOPIC, ""), stored.body, pairs, stored.flag, sys_flag), queue_of(pairs)


def given_up(stored: StoredMessage, half: Half) -> Message:
    """Return the half message of a transaction as it is kept for its operator."""
    pairs = _without(stored, *_OF_GANTRY) | _of_chain(half)
    return Message(TRANSACTION_EXPIRED_TOPIC, stored.body, pairs, stored.flag, stored.sys_flag)
