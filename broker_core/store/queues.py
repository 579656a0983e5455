"""All consume queues of a store, and with them the next queue offsets."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import Final, Self

from broker_core.store.commit_log import CommitLog
from broker_core.store.config import StoreConfig
from broker_core.store.consume_queue import ClosedQueue, ConsumeQueue, QueueEnd
from broker_core.store.errors import Corrupt, MessageUnstorable
from broker_core.store.extending import Extender
from broker_core.store.extension import QueueExtension
from broker_core.store.layout import (
    CONSUME_QUEUE,
    EXTENSION,
    GONE_PREFIX,
    extension_folder,
    is_folder_name,
    queue_folders,
    segment_files,
)
from broker_core.store.mapped_file import sync_file_system
from broker_core.store.purges import Purged
from broker_core.store.queue_search import newest_in, next_named

_NEWEST: Final = 64
_MADE_AT_ONCE: Final = 16
"""The files of so many queues are made or removed in about 10 ms."""
_SYNCED_SINGLY: Final = 64
"""Above this number of queues to sync, the whole file system is synced at once: one wait instead of many."""


class Queues:
    """Consume queues by topic and queue id."""

    def __init__(self, config: StoreConfig) -> None:
        """Start without queues."""
        self._config = config
        self.by_key: dict[tuple[str, int], ConsumeQueue] = {}
        # Queues to rebuild from the log: their files were missing, or contradicted each other.
        self.lost: list[tuple[str, int]] = []
        # Adds to the extensions of queues, if they are to be written.
        self.extender: Extender | None = None
        self._has_extensions = config.extends_queues or (config.folder / EXTENSION).is_dir()
        # Queues that continue from a clean stop: they need no check and no change.
        self._resumed: set[ConsumeQueue] = set()

    @classmethod
    def load(cls, config: StoreConfig, *, writable: bool = True, extender: Extender | None = None) -> Self:
        """Return the queues that have a folder; they must be measured or recovered before use.

        A queue whose files are inconsistent, e.g. one is missing, starts over; a reader raises Corrupt.
        """
        queues = cls(config)
        queues.extender = extender if config.extends_queues else None
        for topic, queue_id, folder in queue_folders(config.folder):
            try:
                queues.by_key[topic, queue_id] = queues._load_one(topic, queue_id, writable=writable)
            except Corrupt:
                if not writable:
                    raise
                for path in (*segment_files(folder), *segment_files(extension_folder(config.folder, topic, queue_id))):
                    path.unlink()
                queues.by_key[topic, queue_id] = queues._load_one(topic, queue_id, writable=writable)
                queues.lost.append((topic, queue_id))
        return queues

    def _load_one(self, topic: str, queue_id: int, *, writable: bool = True) -> ConsumeQueue:
        config = self._config
        queue = ConsumeQueue.load(
            config.folder,
            topic,
            queue_id,
            file_units=config.consume_queue_file_units,
            writable=writable,
            extension=self._find_extension(topic, queue_id, writable=writable),
        )
        queue.extend = self.extender
        return queue

    def _find_extension(self, topic: str, queue_id: int, *, writable: bool) -> QueueExtension | None:
        """Return what a queue has beside its units; None if it has nothing there, and gets nothing."""
        config, is_written = self._config, self.extender is not None
        if not self._has_extensions or not (is_written or extension_folder(config.folder, topic, queue_id).is_dir()):
            return None
        size = config.extension_file_size
        return QueueExtension.load(config.folder, topic, queue_id, file_size=size, writable=writable)

    def __iter__(self) -> Iterator[ConsumeQueue]:
        """Iterate over the current queues."""
        return iter(list(self.by_key.values()))

    def find(self, topic: str, queue_id: int) -> ConsumeQueue | None:
        """Return a queue, if it ever had a message."""
        return self.by_key.get((topic, queue_id))

    def get_or_make(self, topic: str, queue_id: int) -> ConsumeQueue:
        """Return a queue; a new one has no file before its first message. Raises MessageUnstorable for a bad name."""
        queue = self.by_key.get((topic, queue_id))
        if queue is None:
            if not is_folder_name(topic) or queue_id < 0:
                raise MessageUnstorable(f"{topic!r} queue {queue_id} is not a valid queue")
            queue = self._load_one(topic, queue_id)
            self.by_key[topic, queue_id] = queue
        return queue

    @property
    def max_physical(self) -> int:
        """The log offset after the last record that any queue knows; -1 if there is none."""
        return max((queue.max_physical for queue in self.by_key.values()), default=-1)

    def newest(self) -> list[ConsumeQueue]:
        """Return the queues with the newest messages, newest first; if there are many, only some."""
        return nlargest(_NEWEST, self, key=attrgetter("max_physical"))

    def last_units(self) -> Iterator[int]:
        """Yield the log offset of the newest message of each of these queues, newest first."""
        for queue in self.newest():
            unit = queue.find_unit(queue.max_offset - 1)
            if unit:
                yield unit.log_offset

    def resume(self, spans: Mapping[tuple[str, int], ClosedQueue]) -> None:
        """Continue queues from a clean stop, if they are unchanged."""
        for key, span in spans.items():
            queue = self.by_key.get(key)
            if queue is not None and queue.resume(span):
                self._resumed.add(queue)

    def recover(self, log: CommitLog, *, trusted: bool) -> int | None:
        """Find the end of each queue that was not resumed.

        Returns the log offset from which records must be dispatched again because of damaged units, if any.
        """
        begins = []
        for queue in self:
            if queue in self._resumed:
                continue
            is_all = queue.recover(trusted=trusted)
            known = newest_in(log, queue)
            if known != queue.max_physical or not is_all:
                queue.mark_suspect(known)
                begins.append(max(known, log.begin))
            queue.release()
        return min(begins, default=None)

    def restart(self, keys: Iterable[tuple[str, int]]) -> None:
        """Remove the contents of these queues, to be rebuilt from the log."""
        for key in keys:
            self.lost.append(key)
            if queue := self.by_key.get(key):
                self._resumed.discard(queue)
                queue.restart()

    def next_named(self, log: CommitLog, log_offset: int) -> int | None:
        """Return where the first complete record after `log_offset` begins that a queue names, or None."""
        places = (next_named(log, queue, log_offset) for queue in self)
        return min((place for place in places if place is not None), default=None)

    def truncate(self, log_end: int) -> None:
        """Drop the units of records at or after `log_end`."""
        for queue in self:
            if queue not in self._resumed or queue.max_physical > log_end:
                queue.truncate(log_end)
                self._resumed.discard(queue)

    def cut(self, log_end: int, log_begin: int) -> None:
        """Drop the units of records at or after `log_end`; puts go on behind the units that are left."""
        for queue in self:
            if queue.max_physical > log_end:
                queue.truncate(log_end)
                queue.purged_before = min(queue.purged_before, log_end)
                queue.correct_min(log_begin)
            queue.next_offset = queue.max_offset

    def note_purged(self, purged: Purged) -> None:
        """Hide the messages that were purged."""
        for key, log_offset in purged.items():
            if queue := self.by_key.get(key):
                queue.purge(log_offset)

    def is_purged(self, topic: str, queue_id: int, log_offset: int) -> bool:
        """Return whether the message of a queue at a log offset was purged."""
        queue = self.by_key.get((topic, queue_id))
        return queue is not None and log_offset < queue.purged_before

    @property
    def purged(self) -> dict[tuple[str, int], int]:
        """The log offset before which messages were purged, for each queue with purged ones."""
        return {key: queue.purged_before for key, queue in self.by_key.items() if queue.purged_before}

    def correct_min(self, log_begin: int) -> None:
        """Move each minimum to the first message that the log still has and nobody purged."""
        for queue in self:
            if queue not in self._resumed:
                queue.correct_min(log_begin)

    def release(self) -> None:
        """Unmap the files that were read; each is mapped again when it is needed."""
        self._resumed.clear()
        for queue in self:
            queue.release()

    def drop_before(self, log_begin: int) -> int:
        """Remove files of units before `log_begin`; return how many."""
        return sum(queue.drop_before(log_begin) for queue in self)

    def tips_before(self, log_offset: int) -> dict[tuple[str, int], QueueEnd]:
        """Return where the queues end of which no message lies at a log offset or behind it."""
        idle = (queue for queue in self if queue.max_physical <= log_offset)
        return {(queue.topic, queue.queue_id): tip for queue in idle if (tip := queue.tip) is not None}

    def begin_behind(self, tips: Mapping[tuple[str, int], QueueEnd]) -> Iterator[None]:
        """Have these queues and no others, none with a message; the log is empty. Each step is a short part of that.

        Raises MessageUnstorable for a bad name, StoreFull; a second walk goes on where the first one stopped.
        """
        changed = 0
        for key, queue in list(self.by_key.items()):
            if key not in tips or queue.tip != tips[key]:
                if self.by_key.pop(key, None) is queue:
                    queue.delete()
                yield from _every_few(changed := changed + 1)
        for key, tip in tips.items():
            if key not in self.by_key:
                self.get_or_make(*key).begin_behind(tip)
                yield from _every_few(changed := changed + 1)

    def detach_topic(self, topic: str) -> tuple[int, Iterator[None]]:
        """Forget all queues of a topic; return how many there were, and the steps that remove their files in parts.

        Their records stay in the log until they expire. A queue that is made again meanwhile has files of its own. What
        is not removed when the store is closed goes when it is opened. Raises OSError, and nothing is forgotten.
        """
        gone = [queue for queue in self if queue.topic == topic]
        for queue in gone:
            queue.is_gone = True
        aside = self._put_aside(topic) if is_folder_name(topic) else []
        for queue in gone:
            del self.by_key[topic, queue.queue_id]
        return len(gone), _removing(gone, aside)

    def _put_aside(self, topic: str) -> list[Path]:
        """Move the folders of a topic to where nobody looks for queues."""
        root, aside = self._config.folder, []
        for kind in (CONSUME_QUEUE, EXTENSION):
            folder = root / kind / topic
            if folder.is_dir():
                to = next(path for number in count() if not (path := root / f"{GONE_PREFIX}{number}").exists())
                aside.append(folder.rename(to))
        return aside

    def sync(self) -> None:
        """Wait until all units written so far are on the disk; other threads run in the meantime."""
        # The state before the wait: more may be written in the meantime.
        unsynced = [(queue, end, queue.files_added) for queue in self if (end := queue.unsynced_end) is not None]
        if len(unsynced) > _SYNCED_SINGLY and sync_file_system(self._config.folder):
            for queue, end, files_added in unsynced:
                queue.mark_synced(end, files_added)
            return
        for queue, _, _ in unsynced:
            queue.sync()

    @property
    def mapped_files(self) -> int:
        """How many files of all queues are currently mapped."""
        return sum(queue.mapped_files for queue in self)

    def close(self) -> None:
        """Close all files."""
        for queue in self:
            queue.close()
        self.by_key.clear()


def _every_few(number: int) -> Iterator[None]:
    if not number % _MADE_AT_ONCE:
        yield


def _removing(queues: Sequence[ConsumeQueue], folders: Sequence[Path]) -> Iterator[None]:
    for number, queue in enumerate(queues, start=1):
        queue.close()
        for folder in folders:
            shutil.rmtree(folder / str(queue.queue_id), ignore_errors=True)
        yield from _every_few(number)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
