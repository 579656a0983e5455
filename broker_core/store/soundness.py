"""Checks that a record is the message that a queue names, and whole; every message that is read passes here.

A consume queue says where the record of a message is and how long; the record says whose it is, where it stands, and
what its body's checksum is. Where the two disagree, or the body does not have its checksum, the message is damaged: it
is left out and reported, and those around it are read as usual (store/README.md#commit-log-record).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.record import body_is_sound, read_head
from broker_core.store.commit_log import CommitLog
from broker_core.store.errors import MessageDamaged

WRONG_BODY: Final = "its body does not match its checksum"
OTHER_MESSAGE: Final = "there is another message in its place"
NO_RECORD: Final = "there is no record in its place"

# The most damaged messages to remember; a broken disk has more, and nobody reads them all.
_REMEMBERED: Final = 1000


class DamageSeen:
    """Remembers which damaged messages were met, so that each is reported once."""

    def __init__(self) -> None:
        """Start without any."""
        self.messages: dict[int, MessageDamaged] = {}
        self._new: list[MessageDamaged] = []

    def tell(self, damaged: Iterable[MessageDamaged]) -> None:
        """Remember messages; those already known are not new."""
        for message in damaged:
            if message.log_offset not in self.messages and len(self.messages) < _REMEMBERED:
                self.messages[message.log_offset] = message
                self._new.append(message)

    def take_new(self) -> list[MessageDamaged]:
        """Return those that were met since the last call."""
        new, self._new = self._new, []
        return new


def find_damage(
    record: memoryview, log_offset: int, encoded_topic: bytes, queue_id: int, queue_offset: int
) -> str | None:
    """Return what is wrong with the record of a message; None if nothing is.

    `record` is what the queue says it is, `encoded_topic` the topic with its length before it, as records carry it; an
    empty one is not looked at.
    """
    try:
        head = read_head(record)
    except MalformedRecord as problem:
        return f"{NO_RECORD}: {problem.reason}"
    if head.size != len(record):
        return f"{NO_RECORD}: it has {head.size} bytes, not {len(record)}"
    if encoded_topic:
        topic = record[head.topic_begin : head.topic_end]
        found = (bytes(topic), head.queue_id, head.queue_offset)
        if found != (encoded_topic[1:], queue_id, queue_offset):
            return f"{OTHER_MESSAGE}: {str(topic, 'utf-8', 'replace')} {head.queue_id}:{head.queue_offset}"
    return find_damage_at(record, log_offset)


def find_sound(log: CommitLog, log_offset: int) -> memoryview | None:
    """Return the record that begins at `log_offset`, if one does; raise MessageDamaged if it is not what it was."""
    record = log.find_record(log_offset)
    if record is None or (reason := find_damage_at(record, log_offset)) is None:
        return record
    head = read_head(record)
    topic = str(record[head.topic_begin : head.topic_end], "utf-8", "replace")
    raise MessageDamaged(topic, head.queue_id, head.queue_offset, log_offset, reason)


def find_damage_at(record: memoryview, log_offset: int) -> str | None:
    """Return what is wrong with a record of which only the place is known; None if nothing is."""
    head = read_head(record)
    if head.log_offset != log_offset:
        return f"it states log offset {head.log_offset}"
    return WRONG_BODY if head.body_length and not body_is_sound(record, head) else None
