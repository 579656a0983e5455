"""Finds a forwarded or repeated message that came here before (broker/replication/README.md#forwarding)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from broker_core.protocol import properties as names
from broker_core.protocol.batch import decode_batch
from broker_core.protocol.errors import MalformedBatch
from broker_core.protocol.headers.send import SendHeader
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import parse_properties
from broker_core.protocol.topics import HALF_TOPIC, SCHEDULE_TOPIC, TIMER_TOPIC
from broker_core.store import MessageStore

LOOK_BACK_MS: Final = 600_000
"""So old, by its store time, is the oldest message that is looked at."""

_LATE_MS: Final = 1_000
_MOST: Final = 16
_FOREVER: Final = 2**62

_Compare = Callable[[StoredMessage, SendHeader, int], bool]


class SentBefore:
    """Looks by unique id, also among what is not confirmed yet.

    It costs a search, so only what was forwarded pays, and what its client calls a repetition.
    """

    def __init__(self, store: MessageStore, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock

    def find(self, header: SendHeader, body: bytes, *, was_forwarded: bool) -> list[StoredMessage]:
        """Return what is stored of a send, or of each message of a batch; nothing unless all of it is.

        What was forwarded may be late, behind a later try; a repetition is found by the time of birth of its first try.
        """
        try:
            texts = [each.properties for each in decode_batch(body)] if header.batch else [header.properties or ""]
        except MalformedBatch:  # storing it says what is wrong
            return []
        is_the_same = _is_the_same if was_forwarded else _is_an_earlier_try
        found = [self._copy_of(header, parse_properties(text), is_the_same) for text in texts]
        return [each for each in found if each is not None] if None not in found else []

    def _copy_of(self, header: SendHeader, pairs: Mapping[str, str], is_the_same: _Compare) -> StoredMessage | None:
        unique_id, now = pairs.get(names.UNIQ_KEY), self._clock()
        if not unique_id:
            return None
        for topic in _topics_of(header.topic, pairs):
            for stored in self._stored(topic, unique_id, now - LOOK_BACK_MS):
                if stored.unique_id == unique_id and _is_of(stored, header) and is_the_same(stored, header, now):
                    return stored
        return None

    def _stored(self, topic: str, unique_id: str, since: int) -> Iterator[StoredMessage]:
        yield from self._store.search(topic, unique_id, begin=since, end=_FOREVER, max_count=_MOST).messages
        found = map(self._store.find, self._store.undispatched(topic, unique_id))
        yield from (each for each in found if each is not None)


def _topics_of(topic: str, pairs: Mapping[str, str]) -> Iterator[str]:
    """Return where a message may be: in its topic, or where it waits for its time or its commit."""
    yield topic
    if names.TRAN_MSG in pairs:
        yield HALF_TOPIC
    if names.DELAY in pairs:
        yield SCHEDULE_TOPIC
    if any(name in pairs for name in names.TIMERS):
        yield TIMER_TOPIC


def _is_of(stored: StoredMessage, header: SendHeader) -> bool:
    return stored.properties.get(names.REAL_TOPIC, header.topic) == header.topic


def _is_an_earlier_try(stored: StoredMessage, header: SendHeader, _: int) -> bool:
    """Return whether a client sent both by one call: an object that is sent again on purpose is born again."""
    return stored.born_timestamp == header.born_timestamp


def _is_the_same(stored: StoredMessage, header: SendHeader, now: int) -> bool:
    """Return whether a client sent both as tries of one message, and not the same object twice on purpose.

    The stored one is a later try, or was still under way when this one was sent: it took longer. Both
    compare times of one client's clock with those of its own or of this broker, so no clock needs to be right.
    """
    was_late_ms = (stored.store_timestamp - stored.born_timestamp) - (now - header.born_timestamp)
    return stored.born_timestamp >= header.born_timestamp or was_late_ms > _LATE_MS
