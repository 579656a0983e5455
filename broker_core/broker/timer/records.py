"""The records of the timer's topic (broker/README.md#delivery-times).

====================== ==========================================================================================
parked                 a message as it was sent, with TIMER_OUT_MS (when it is due), REAL_TOPIC and REAL_QID
parked again           the same with TIMER_SEQ and TIMER_ENQUEUE_MS: it is due at another time, or its first record is
                       about to leave the log
recalled               TIMER_RECALLED: the message with this number is not delivered any more
done                   TIMER_DONE_MS, TIMER_DONE_UPTO: everything that was due until then, and whose record lies before
                       this log offset, has been delivered
====================== ==========================================================================================

A message's number is the queue offset of its first record. A delivered message carries it as TIMER_SEQ, by which a
broker finds after a crash what it had delivered.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from broker_core.broker.errors import MessageIllegal
from broker_core.protocol import properties as names
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, format_properties, split_keys
from broker_core.protocol.topics import TIMER_TOPIC

_LATER: Final = {names.TIMER_SEQ: str(2**63 - 1), names.TIMER_ENQUEUE_MS: str(2**63 - 1)}
_QUEUE_DIGITS: Final = 10  # of a 32-bit number


class Parked(NamedTuple):
    """A message that waits: `topic` is where it goes, `words` are what finds it."""

    seq: int
    due: int
    log_offset: int
    topic: str
    stored_at: int
    words: tuple[str, ...] = ()


class Recalled(NamedTuple):
    """A message was recalled, at a time in ms."""

    seq: int
    at: int


class Done(NamedTuple):
    """What was due until a time, of the records before `upto`, was delivered before this place in the log."""

    until: int
    log_offset: int
    upto: int


Event = Parked | Recalled | Done


def id_word(unique_id: str) -> str:
    """Return the word that finds a message by its unique id."""
    return f"id:{unique_id}"


def key_word(key: str) -> str:
    """Return the word that finds a message by one of its keys."""
    return f"key:{key}"


def parked(message: Message, queue_id: int, due: int) -> Message:
    """Return what is stored of `message` until it is due.

    Raises MessageIllegal when its properties leave no room for those the timer adds now or later.
    """
    pairs = message.properties | {
        names.TIMER_OUT_MS: str(due),
        names.REAL_TOPIC: message.topic,
        names.REAL_QID: str(queue_id),
    }
    size = len(format_properties(pairs | _LATER).encode())
    if size > MAX_PROPERTIES_BYTES:
        raise MessageIllegal(
            f"properties of {size} bytes with those of the timer; at most {MAX_PROPERTIES_BYTES} are allowed"
        )
    return Message(TIMER_TOPIC, message.body, pairs, message.flag, message.sys_flag)


def parked_again(stored: StoredMessage, waiting: Parked) -> Message:
    """Return a waiting message as it is stored once more, due at ``waiting.due``."""
    pairs = stored.properties | {
        names.TIMER_OUT_MS: str(waiting.due),
        names.TIMER_SEQ: str(waiting.seq),
        names.TIMER_ENQUEUE_MS: str(waiting.stored_at),
    }
    return Message(TIMER_TOPIC, stored.body, pairs, stored.flag, stored.sys_flag)


def recalled(seq: int) -> Message:
    """Return the record that takes a message back."""
    return Message(TIMER_TOPIC, b"", {names.TIMER_RECALLED: str(seq)})


def done(until: int, upto: int) -> Message:
    """Return the record that says up to which time everything before a log offset was delivered.

    Records behind it may be in the log already and not be shown yet: nobody could deliver them.
    """
    return Message(TIMER_TOPIC, b"", {names.TIMER_DONE_MS: str(until), names.TIMER_DONE_UPTO: str(upto)})


def delivered(stored: StoredMessage, seq: int) -> tuple[Message, int]:
    """Return a waiting message as it is delivered, and its queue."""
    pairs = dict(stored.properties)
    topic, queue = pairs.pop(names.REAL_TOPIC, ""), pairs.pop(names.REAL_QID, "0")
    pairs[names.TIMER_SEQ] = str(seq)
    queue_id = int(queue) if queue.isdecimal() and len(queue) <= _QUEUE_DIGITS else 0
    return Message(topic, stored.body, pairs, stored.flag, stored.sys_flag), queue_id


def event_of(stored: StoredMessage) -> Event | None:
    """Return what a record of the timer's topic says; None for one that says nothing, such as one of a 5.x broker."""
    pairs = stored.properties
    if names.TIMER_RECALLED in pairs:
        seq = number_of(pairs[names.TIMER_RECALLED])
        return None if seq is None else Recalled(seq, stored.store_timestamp)
    if names.TIMER_DONE_MS in pairs:
        until = number_of(pairs[names.TIMER_DONE_MS])
        upto = number_of(pairs.get(names.TIMER_DONE_UPTO, ""))
        return None if until is None else Done(until, stored.log_offset, stored.log_offset if upto is None else upto)
    return _parked_of(stored)


def _parked_of(stored: StoredMessage) -> Parked | None:
    pairs = stored.properties
    due = number_of(pairs.get(names.TIMER_OUT_MS, ""))
    topic = pairs.get(names.REAL_TOPIC, "")
    if due is None or not topic:
        return None
    seq = number_of(pairs.get(names.TIMER_SEQ, ""))
    first_stored = number_of(pairs.get(names.TIMER_ENQUEUE_MS, ""))
    words = [key_word(key) for key in split_keys(pairs.get(names.KEYS))]
    if unique_id := pairs.get(names.UNIQ_KEY):
        words.append(id_word(unique_id))
    return Parked(
        seq=stored.queue_offset if seq is None else seq,
        due=due,
        log_offset=stored.log_offset,
        topic=topic,
        stored_at=stored.store_timestamp if first_stored is None or seq is None else first_stored,
        words=tuple(words),
    )


def number_of(text: str) -> int | None:
    """Return the number in a property, None if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(2**63 - 1)) else None
