"""Checks that a record is complete and is the message that a queue names; every message read is checked here.

A consume queue states position and length of a record; the record states its queue, its own position, and the checksum
of its body. If the two disagree, or the body does not match its checksum, the message is damaged: it is left out and
reported, and its neighbours are read as usual (store/README.md#commit-log-record).
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

# How many damaged messages to record; a failing disk has more than anyone would read.
_REMEMBERED: Final = 1000


class DamageSeen:
    """Records which damaged messages were found, so that each is reported once."""

    def __init__(self) -> None:
        """Start with none."""
        self.messages: dict[int, MessageDamaged] = {}
        self._new: list[MessageDamaged] = []

    def add(self, damaged: Iterable[MessageDamaged]) -> None:
        """Record messages; those already known are not new."""
        for message in damaged:
            if message.log_offset not in self.messages and len(self.messages) < _REMEMBERED:
                self.messages[message.log_offset] = message
                self._new.append(message)

    def take_new(self) -> list[MessageDamaged]:
        """Return those found since the last call."""
        new, self._new = self._new, []
        return new


def find_damage(
    record: memoryview, log_offset: int, encoded_topic: bytes, queue_id: int, queue_offset: int
) -> str | None:
    """Return what is wrong with the record of a message, or None.

    `record` is what the queue refers to, `encoded_topic` the topic preceded by its length, as in records; an empty one
    is not checked.
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
    """Return the record that begins at `log_offset`, if there is one; raise MessageDamaged if it is damaged."""
    record = log.find_record(log_offset)
    if record is None or (reason := find_damage_at(record, log_offset)) is None:
        return record
    head = read_head(record)
    topic = str(record[head.topic_begin : head.topic_end], "utf-8", "replace")
    raise MessageDamaged(topic, head.queue_id, head.queue_offset, log_offset, reason)


def find_damage_at(record: memoryview, log_offset: int) -> str | None:
    """Return what is wrong with a record of which only the position is known, or None."""
    head = read_head(record)
    if head.log_offset != log_offset:
        return f"it states log offset {head.log_offset}"
    return WRONG_BODY if head.body_length and not body_is_sound(record, head) else None
