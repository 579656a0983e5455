"""Finds how far an earlier master delivered delayed messages (broker/README.md#delay-levels).

The progress of a level follows to other replicas within a second, what was delivered in that second is in the log. A
level delivers in order, so its newest copies in the log are those of the messages just before the place to go on at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from broker_core.protocol import properties as names
from broker_core.protocol.properties import parse_properties
from broker_core.protocol.record import decode_one
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import GetStatus, MessageStore

_LOOK_BACK_MS: Final = 60_000
"""What was delivered longer before the end of the log is not looked at; progress follows within a second."""
_WALK_RECORDS: Final = 500
_MOST_WAITING: Final = 20_000
_READ_MESSAGES: Final = 256
_READ_BYTES: Final = 4 * 1024 * 1024
_DELAY_BYTES: Final = names.DELAY.encode()

Key = tuple[str, str] | None
"""Unique id and destination of a message; None without an id, by which nothing is found."""


class DeliveredCopies:
    """Looks in one store, in parts; `found` is complete when `looking` has come to its end."""

    def __init__(self, store: MessageStore, levels_ms: Sequence[int]) -> None:
        self._store = store
        self._levels_ms = levels_ms
        self.found: dict[int, int] = {}
        """The progress of queues of the schedule topic, as their copies tell it."""

    def looking(self, offsets: Sequence[int], *, may_be_ahead: bool) -> Iterator[None]:
        """Look behind the known progress of each queue; it stops after each part, of some milliseconds.

        Progress that may be ahead of the log, which lost copies to a cut, is looked at from before.
        """
        end = self._store.newest_store_time
        begins = [self._begin(queue, offset, end) if may_be_ahead else offset for queue, offset in enumerate(offsets)]
        dues = {queue: due for queue, begin in enumerate(begins) if (due := self._due(queue, begin)) <= end}
        if not dues:
            return
        copies: dict[int, list[Key]] = {queue: [] for queue in dues}
        at: int | None = self._store.place_before(max(min(dues.values()), end - _LOOK_BACK_MS))
        while at is not None:
            at = self._add_copies(at, copies)
            yield
        for queue, keys in copies.items():
            has_before = begins[queue] > self._store.min_offset(SCHEDULE_TOPIC, queue)
            waiting = self._keys_from(queue, begins[queue] - has_before, end) if keys else []
            self.found[queue] = begins[queue] + delivered_of(keys, waiting, has_before=has_before)
            yield

    def _begin(self, queue: int, offset: int, end: int) -> int:
        """Return where the messages begin whose time came within what is looked at, or the progress if that is less."""
        return min(offset, self._store.first_from(SCHEDULE_TOPIC, queue, end - _LOOK_BACK_MS - self._levels_ms[queue]))

    def _due(self, queue: int, offset: int) -> int:
        stored_at = self._store.store_time(SCHEDULE_TOPIC, queue, offset)
        return 2**62 if stored_at is None else stored_at + self._levels_ms[queue]

    def _add_copies(self, log_offset: int, copies: Mapping[int, list[Key]]) -> int | None:
        """Add the keys of copies from a log offset on, by queue; return where to go on, if anywhere."""
        end, count = log_offset, 0
        for head, view in islice(self._store.walk(log_offset), _WALK_RECORDS):
            end, count = head.log_offset + head.size, count + 1
            text = bytes(view[head.properties_begin : head.properties_end])
            if _DELAY_BYTES not in text:
                continue
            pairs = parse_properties(text.decode("utf-8", "replace"))
            level, topic = pairs.get(names.DELAY, ""), str(view[head.topic_begin : head.topic_end], "utf-8", "replace")
            if (
                pairs.get(names.REAL_TOPIC) == topic
                and level.isdecimal()
                and (its := copies.get(int(level) - 1)) is not None
            ):
                its.append(_key(pairs))
        return end if count == _WALK_RECORDS else None

    def _keys_from(self, queue: int, offset: int, end: int) -> list[Key]:
        """Return the keys of the messages of a queue from an offset on, without those that are due after `end` (ms)."""
        keys: list[Key] = []
        while len(keys) < _MOST_WAITING:
            found = self._store.get(
                SCHEDULE_TOPIC, queue, offset + len(keys), max_messages=_READ_MESSAGES, max_bytes=_READ_BYTES
            )
            if found.status is not GetStatus.FOUND or found.next_offset != offset + len(keys) + len(found.records):
                break
            stored = [decode_one(record, decompress=False) for record in found.records]
            keys += [_key(each.properties) for each in stored if each.store_timestamp + self._levels_ms[queue] <= end]
            if stored[-1].store_timestamp + self._levels_ms[queue] > end:
                break
        return keys


def _key(pairs: Mapping[str, str]) -> Key:
    unique_id = pairs.get(names.UNIQ_KEY)
    return None if not unique_id else (unique_id, pairs.get(names.REAL_TOPIC, ""))


def delivered_of(copies: Sequence[Key], waiting: Sequence[Key], *, has_before: bool) -> int:
    """Return how many waiting messages the last copies are of: as few as these allow, 0 where they do not fit.

    With `has_before` the first of `waiting` is the one before the progress, delivered for sure. It is compared too, so
    that a copy of it is not taken for one of a message that was sent once more with its id.
    """
    for end in range(1, len(waiting) + 1) if copies else ():
        count = min(len(copies), end)
        newest = copies[len(copies) - count :]
        if None not in newest and newest == waiting[end - count : end]:
            return end - has_before
    return 0
