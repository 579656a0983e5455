"""Reads a store from another process, with or without a running writer: no lock, no writes, a snapshot.

The queues are complete as of the opening of the reader: a unit is written after its record. A newer reader sees newer
messages. Segments that retention removes in the meantime stay readable, since they are mapped. A file that is cut off
under its map is another matter: nothing of a broker does that, but copying over a folder that is read does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from broker_core.protocol.message import LogOffset, QueueOffset, StoredMessage
from broker_core.protocol.record import decode_one
from broker_core.store import abort, purges, time_search
from broker_core.store.checkpoint import Checkpoint, read_checkpoint
from broker_core.store.commit_log import CommitLog, LogWalk
from broker_core.store.config import StoreConfig
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.errors import Corrupt, QueueNotFound
from broker_core.store.fetch import ALL, Accept, GetResult, fetch
from broker_core.store.index import Index
from broker_core.store.index_sizes import measure
from broker_core.store.key_search import IndexSearch, search
from broker_core.store.layout import COMMIT_LOG, INDEX, UNIT_BYTES, index_files
from broker_core.store.queues import Queues
from broker_core.store.units import Unit

_OPEN_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the commit log: its first log offset, its path and its length."""

    start: LogOffset
    path: Path
    size: int


class StoreReader:
    """A store folder, opened for reading only."""

    def __init__(
        self, config: StoreConfig, log: CommitLog, queues: Queues, index: Index, index_damage: tuple[str, ...] = ()
    ) -> None:
        """Hold the parts mapped by `open`."""
        self.config = config
        self.index_damage = index_damage
        """Index files that were left out, and why."""
        self.log = log
        self.index = index
        self._queues = queues

    @classmethod
    def open(cls, folder: Path, config: StoreConfig | None = None, *, spare_index: bool = False) -> Self:
        """Map the files in `folder`; sizes are read from the files, so `config` is needed only if they are damaged.

        With `spare_index` damaged index files are left out and listed in `index_damage`. Raises Corrupt if `folder` is
        not a store, or its files are inconsistent.
        """
        if not (folder / COMMIT_LOG).is_dir():
            raise Corrupt(folder, f"it is not a store: there is no folder {COMMIT_LOG}")
        for _ in range(_OPEN_TRIES - 1):
            try:
                return cls._map(folder, config, spare_index)
            except FileNotFoundError:
                # Retention removed a file between listing and mapping.
                continue
        return cls._map(folder, config, spare_index)

    @classmethod
    def _map(cls, folder: Path, config: StoreConfig | None, spare_index: bool) -> Self:
        damage: list[str] | None = [] if spare_index else None
        config = config or _measured_config(folder, damage)
        # Index and queues first: everything they refer to is in the log by now.
        index = Index.load(config, writable=False, left_out=damage)
        queues = Queues.load(config, writable=False)
        for queue in queues:
            queue.measure_all()
        log = CommitLog.load(config, writable=False)
        queues.note_purged(purges.read(config.folder))
        queues.correct_min(log.begin)
        return cls(config, log, queues, index, tuple(dict.fromkeys(damage or ())))

    # -- the log ------------------------------------------------------------------------------------------------------

    @property
    def segment_size(self) -> int:
        """The length of each segment; a record at `p` is in the segment that starts at `p - p % segment_size`."""
        return self.log.files.file_size

    def segments(self) -> list[Segment]:
        """Return the files of the log, oldest first."""
        return [Segment(LogOffset(file.start), file.path, file.size) for file in self.log.files]

    @property
    def log_begin(self) -> LogOffset:
        """The log offset of the first record."""
        return LogOffset(self.log.begin)

    @property
    def log_end(self) -> LogOffset:
        """The log offset after the last record that a queue knew when this reader was opened."""
        return LogOffset(max(self._queues.max_physical, self.log.begin))

    def view_segment(self, start: int) -> memoryview | None:
        """Return the bytes of the segment that starts at log offset `start`, if it exists and was not cut off since."""
        file = self.log.files.find(start)
        return file.view if file and file.start == start and file.is_whole else None

    def find(self, log_offset: int) -> StoredMessage | None:
        """Return the message whose record begins at `log_offset`, if there is one."""
        record = self.log.find_record(log_offset)
        return decode_one(record) if record is not None else None

    def find_raw(self, log_offset: int) -> memoryview | None:
        """Return the record that begins at `log_offset`, if there is one."""
        return self.log.find_record(log_offset)

    def walk(self, begin: int | None = None, *, check_crc: bool = False) -> LogWalk:
        """Return a walk over all records, or those from `begin` on, where a record must begin.

        After a damaged place it continues with the next record that a queue names.
        """
        resume = partial(self._queues.next_named, self.log)
        return self.log.walk(self.log.begin if begin is None else begin, check_crc=check_crc, resume=resume)

    # -- queues -------------------------------------------------------------------------------------------------------

    def queues(self, topic: str | None = None) -> list[tuple[str, int]]:
        """Return topic and queue id of each queue that has or had messages, optionally of one topic."""
        return sorted(key for key, queue in self._queues.by_key.items() if topic in (None, key[0]) and queue.max_offset)

    def range(self, topic: str, queue_id: int) -> tuple[QueueOffset, QueueOffset]:
        """Return the first queue offset whose message exists, and the one after the last; (0, 0) without a queue."""
        queue = self._queues.find(topic, queue_id)
        return (QueueOffset(queue.min_offset), QueueOffset(queue.max_offset)) if queue else (QueueOffset(0),) * 2

    def units(self, topic: str, queue_id: int, begin: int, end: int) -> Iterator[memoryview]:
        """Yield the 20-byte units with begin <= queue offset < end that exist, file by file.

        An extended queue's have their tags codes, not the addresses of these. It ends at a file that was cut off since
        the store was opened.
        """
        queue = self._get_queue(topic, queue_id)
        begin, end = max(begin, queue.min_offset), min(end, queue.max_offset)
        while begin < end and queue.is_whole_at(begin) and (part := queue.units_from(begin)):
            part = part[: (end - begin) * UNIT_BYTES]
            yield queue.with_tags_codes(part)
            begin += len(part) // UNIT_BYTES

    def record_topic(self, topic: str, queue_id: int) -> bytes:
        """Return the encoded topic of the records of a queue; empty if they may have another topic."""
        queue = self._queues.find(topic, queue_id)
        return queue.record_topic if queue else b""

    def is_purged(self, topic: str, queue_id: int, log_offset: int) -> bool:
        """Return whether the message of a queue at a log offset was purged."""
        return self._queues.is_purged(topic, queue_id, log_offset)

    def find_unit(self, topic: str, queue_id: int, queue_offset: int) -> Unit | None:
        """Return one unit, if its message exists."""
        queue = self._queues.find(topic, queue_id)
        return queue.find_unit(queue_offset) if queue else None

    def offset_at_time(self, topic: str, queue_id: int, timestamp: int) -> QueueOffset:
        """Return the offset of the first message stored at `timestamp` (ms) or later; the maximum if there is none."""
        queue = self._queues.find(topic, queue_id)
        return time_search.lower_bound(self.log, queue, timestamp) if queue else QueueOffset(0)

    def get(
        self,
        topic: str,
        queue_id: int,
        queue_offset: int,
        *,
        max_messages: int,
        max_bytes: int = 1 << 30,
        accept: Accept = ALL,
    ) -> GetResult:
        """Return raw records of a queue from `queue_offset` on."""
        queue = self._queues.find(topic, queue_id)
        return fetch(self.log, queue, queue_offset, max_messages=max_messages, max_bytes=max_bytes, accept=accept)

    # -- keys ---------------------------------------------------------------------------------------------------------

    def search(self, topic: str, key: str, *, begin: int, end: int, max_count: int) -> IndexSearch:
        """Return the newest messages with a key or unique id, stored within [begin, end] (ms), and the figures."""
        return search(
            self.log,
            self.index.files,
            topic,
            key,
            begin=begin,
            end=end,
            max_count=max_count,
            is_purged=self._queues.is_purged,
        )

    # -- the rest -----------------------------------------------------------------------------------------------------

    def checkpoint(self) -> Checkpoint:
        """Return the writer's last checkpoint."""
        return read_checkpoint(self.config.folder)

    @property
    def is_open_elsewhere(self) -> bool:
        """Whether a writer has the store open, or stopped without closing it."""
        return abort.is_set(self.config.folder)

    def close(self) -> None:
        """Close all maps."""
        self.log.close()
        self._queues.close()
        self.index.close()

    def __enter__(self) -> Self:
        """Return the open reader."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the reader."""
        self.close()

    def _get_queue(self, topic: str, queue_id: int) -> ConsumeQueue:
        queue = self._queues.find(topic, queue_id)
        if queue is None:
            raise QueueNotFound(topic, queue_id)
        return queue


def _measured_config(folder: Path, damage: list[str] | None) -> StoreConfig:
    """Return a configuration with the slots and entries of the index files in `folder`."""
    config, sizes = StoreConfig(folder), measure(index_files(folder / INDEX), damage)
    return config if sizes is None else replace(config, index_slots=sizes[0], index_entries=sizes[1])
