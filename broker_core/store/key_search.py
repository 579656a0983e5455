"""Finds messages by key, and reports whether the search was complete (store/README.md#search-by-key).

An index file contains only hashes, so every candidate is compared with its record. In all files that overlap the time
range the chain is followed to its end: "nothing found" applies to all messages in the store, unless `complete` is false
because a limit or a damaged file ended the search early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from broker_core.protocol import properties as names
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import parse_properties, split_keys
from broker_core.protocol.record import decode_one, read_head
from broker_core.protocol.string_hash import key_hash
from broker_core.store.commit_log import CommitLog
from broker_core.store.errors import Corrupt, MessageDamaged
from broker_core.store.index_file import Entry, IndexFile
from broker_core.store.soundness import NO_RECORD, find_damage_at

# A longer chain belongs to a very common key; its search must not block the broker.
MAX_ENTRIES: Final = 500_000
# An entry's time is rounded down to seconds after the beginning of its file.
_GRAIN_MS: Final = 1000


IsPurged = Callable[[str, int, int], bool]
"""Returns whether the message of a topic and queue id at a log offset was purged."""


def nothing_purged(_topic: str, _queue_id: int, _log_offset: int) -> bool:
    """Return False."""
    return False


@dataclass(slots=True)
class IndexSearch:
    """The messages found, oldest first, and the cost of the search."""

    records: list[memoryview] = field(default_factory=list)
    index_files: int = 0
    index_files_skipped_by_time: int = 0
    entries_visited: int = 0
    # Candidates with the same hash but another key.
    collisions_dropped: int = 0
    # Candidates whose record has left the log, or was purged.
    expired_messages: int = 0
    # Candidates with a damaged record.
    damaged: list[MessageDamaged] = field(default_factory=list)
    complete: bool = True

    @property
    def messages(self) -> list[StoredMessage]:
        """The messages found, decoded."""
        return [decode_one(record) for record in self.records]


def search(
    log: CommitLog,
    files: Iterable[IndexFile],
    topic: str,
    key: str,
    *,
    begin: int,
    end: int,
    max_count: int,
    is_purged: IsPurged = nothing_purged,
) -> IndexSearch:
    """Return the newest `max_count` messages of `topic` with `key` (or unique id) stored within [begin, end] (ms).

    `files` are all index files, oldest first. What `is_purged` counts as expired.
    """
    running = _Search(log, topic, key, begin, end, max_count, is_purged)
    for file in reversed(list(files)):
        running.look_into(file)
    return running.answer()


class _Search:
    """A search in progress."""

    def __init__(
        self, log: CommitLog, topic: str, key: str, begin: int, end: int, max_count: int, is_purged: IsPurged
    ) -> None:
        self._log = log
        self._topic = topic
        self._key = key
        self._hash = key_hash(f"{topic}#{key}")
        self._begin = begin
        self._end = end
        self._max_count = max_count
        self._is_purged = is_purged
        self._answer = IndexSearch()
        self._found: dict[int, memoryview] = {}

    def look_into(self, file: IndexFile) -> None:
        self._answer.index_files += 1
        if not file.touches(self._begin - _GRAIN_MS, self._end):
            self._answer.index_files_skipped_by_time += 1
            return
        try:
            for entry in file.chain(self._hash):
                if self._has_enough():
                    return
                self._answer.entries_visited += 1
                if self._may_match(entry):
                    self._look_at_record(entry.log_offset)
        except Corrupt:
            self._answer.complete = False

    def answer(self) -> IndexSearch:
        if self._has_enough():
            self._answer.complete = False
        newest = sorted(self._found)[-self._max_count :] if self._max_count > 0 else []
        self._answer.records = [self._found[log_offset] for log_offset in newest]
        return self._answer

    def _has_enough(self) -> bool:
        # One more than requested shows that there are more.
        return len(self._found) > self._max_count or self._answer.entries_visited >= MAX_ENTRIES

    def _may_match(self, entry: Entry) -> bool:
        in_time = self._begin - _GRAIN_MS <= entry.store_time <= self._end
        return entry.hash == self._hash and in_time and entry.log_offset not in self._found

    def _look_at_record(self, log_offset: int) -> None:
        record = self._log.find_record(log_offset)
        if record is None:
            if log_offset < self._log.begin:
                self._answer.expired_messages += 1
            else:
                self._answer.damaged.append(MessageDamaged(self._topic, -1, -1, log_offset, NO_RECORD))
            return
        head = read_head(record)
        topic = str(record[head.topic_begin : head.topic_end], "utf-8", "replace")
        pairs = parse_properties(str(record[head.properties_begin : head.properties_end], "utf-8", "replace"))
        if topic != self._topic or not _has_key(pairs, self._key):
            self._answer.collisions_dropped += 1
        elif self._is_purged(topic, head.queue_id, log_offset):
            self._answer.expired_messages += 1
        elif damage := find_damage_at(record, log_offset):
            self._answer.damaged.append(MessageDamaged(topic, head.queue_id, head.queue_offset, log_offset, damage))
        elif self._begin <= head.store_timestamp <= self._end:
            self._found[log_offset] = record


def _has_key(pairs: dict[str, str], key: str) -> bool:
    return pairs.get(names.UNIQ_KEY) == key or key in split_keys(pairs.get(names.KEYS))
