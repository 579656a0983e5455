"""All index files: keys are added to the last one; a search reads those that overlap its time range."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from broker_core.store.commit_log import CommitLog
from broker_core.store.config import StoreConfig
from broker_core.store.errors import Corrupt
from broker_core.store.index_file import KEY, IndexFile, file_bytes
from broker_core.store.index_sizes import Sizes, measure
from broker_core.store.layout import INDEX, index_files, index_name


class Index:
    """All index files of a store, oldest first."""

    def __init__(self, config: StoreConfig, files: Iterable[IndexFile]) -> None:
        """Hold an index of `files`."""
        self._config = config
        self.files = list(files)
        # Everything up to this store time is in finished files on the disk [indexMsgTimestamp].
        self.finished_time = 0
        # How often the end was dropped: a wait that began before tells nothing of the files that are left.
        self._cuts = 0

    @classmethod
    def load(cls, config: StoreConfig, *, writable: bool = True, left_out: list[str] | None = None) -> Self:
        """Map the existing index files; raise Corrupt for one of unknown numbers of slots and entries.

        Those that are written to keep their numbers, whatever is configured; for others the configured ones must fit.
        With `left_out` such files are left out instead, and the reasons added to it.
        """
        files = []
        known = [(config.index_slots, config.index_entries)]
        for path in index_files(config.folder / INDEX):
            if path.stat().st_size:
                try:
                    # Of readers the sizes are measured already, or were given and must fit.
                    slots, entries = _sizes_of(path, known) if writable else known[0]
                    file = IndexFile.load(path, slots=slots, entries=entries, writable=writable)
                except Corrupt as damage:
                    if left_out is None:
                        raise
                    left_out.append(str(damage))
                    continue
                files.append(file)
            elif writable:
                # A power failure occurred before the file got its length; its keys are indexed again.
                path.unlink()
        return cls(config, files)

    def trust_finished(self, finished_time: int) -> None:
        """Apply the checkpoint: files that end by then are on the disk."""
        self.finished_time = finished_time
        for file in self.files:
            file.is_synced = file.end_time <= finished_time

    def drop_unfinished(self, finished_time: int) -> None:
        """Remove the files that were being filled when the store crashed (store/README.md#recovery).

        A batch of keys may be torn in them; the records after `finished_time` are indexed again.
        """
        for file in [file for file in self.files if file.end_time > finished_time]:
            file.delete()
            self.files.remove(file)

    def drop_from(self, log_end: int, log: CommitLog, *, gap: int | None) -> int | None:
        """Remove the files with keys of records at or after `log_end`, where the recovered log ends.

        Files with a damaged header, and all files after one, are removed too, as are those from number `gap` on, before
        which a file is missing. Returns the log offset from which records must be indexed again, if any.
        """
        kept = 0
        for file in self.files[:gap]:
            if file.end_log_offset >= log_end or not file.agrees_with(log):
                break
            kept += 1
        dropped = self.files[kept:]
        del self.files[kept:]
        begin = None
        if kept == gap or any(not (file.is_empty and file.agrees_with(log)) for file in dropped):
            begin = self.files[-1].end_log_offset if self.files else 0
        for file in dropped:
            file.delete()
        self.finished_time = min(self.finished_time, self.files[-1].end_time if self.files else 0)
        return begin

    @property
    def end_log_offset(self) -> int:
        """The last indexed record; earlier records are not indexed again. -1 without files."""
        return self.files[-1].end_log_offset if self.files else -1

    def finished_before(self, log_end: int) -> tuple[int, int]:
        """Return up to which store time (ms) finished files are left by a cut at `log_end`, and from where on not."""
        left = [file for file in self.files if file.begin_log_offset < log_end]
        return left[-2].end_time if len(left) > 1 else 0, left[-1].begin_log_offset if left else 0

    def cut(self, log_end: int) -> None:
        """Drop the keys of records at or after `log_end`; the last file that is left goes on."""
        self.finished_time = min(self.finished_time, self.finished_before(log_end)[0])
        self._cuts += 1
        while self.files and self.files[-1].begin_log_offset >= log_end:
            self.files.pop().delete()
        if self.files:
            self.files[-1].cut(log_end)

    def put(self, keys: bytes) -> None:
        """Add keys (KEYs) of records in log order; raise StoreFull, after which the added keys are not added again."""
        taken = 0
        while taken < len(keys):
            file = self.files[-1] if self.files else None
            if file is None or file.is_full:
                file = self._roll(KEY.unpack_from(keys, taken)[2])
            # Later than every finished file even if the clock went back, so that recovery sees this file as unfinished.
            taken += file.put(keys[taken:], least_end=self.finished_time + 1) * KEY.size

    def roll_when_due(self, record: int, log_end: int, store_time: int) -> None:
        """Start the next file if the current one is full, or covers much of the log.

        Call it after the keys of the record at log offset `record`, which ends at `log_end`, and of all earlier ones.
        The first record creates the first file even without keys, as in Apache RocketMQ: a log without index files
        means that the index was lost.
        """
        last = self.files[-1] if self.files else None
        if last is None:
            self._roll(store_time)
            return
        is_over = last.is_full and record > last.end_log_offset
        if is_over or (not last.is_empty and log_end - last.begin_log_offset >= self._config.index_roll_bytes):
            self._roll(store_time)

    def finish(self, store_time: int, log_offset: int) -> int:
        """Wait until all files but the last are on the disk; other threads may run. Moves `finished_time`.

        All records before `log_offset` have their keys in the files, the last of them of `store_time` (ms). Returns the
        log offset before which all have them in files that are now on the disk.
        """
        files, cuts = list(self.files), self._cuts
        for file in files[:-1]:
            file.finish()
        finished = files[-2].end_time if len(files) > 1 else 0
        if not files or files[-1].is_empty:
            # Not the same millisecond: its next record may follow at once, with keys in a file that is not finished.
            finished = store_time - 1
        else:
            log_offset = min(log_offset, files[-1].begin_log_offset)
        if cuts == self._cuts:
            self.finished_time = max(self.finished_time, finished)
        return log_offset

    def drop_before(self, log_begin: int) -> int:
        """Remove leading files whose records have all left the log, never the last file; return how many."""
        dropped = 0
        while len(self.files) > 1 and self.files[0].end_log_offset < log_begin:
            self.files.pop(0).delete()
            dropped += 1
        return dropped

    def sync(self) -> None:
        """Wait until the current file is on the disk."""
        if self.files:
            self.files[-1].sync()

    def close(self) -> None:
        """Close all files."""
        while self.files:
            self.files.pop().close()

    def _roll(self, store_time: int) -> IndexFile:
        last = self.files[-1] if self.files else None
        name = int(index_name(store_time))
        if last is not None:
            # Names must ascend even after a clock was set back.
            name = max(name, int(last.path.name) + 1)
        file = IndexFile.create(
            self._config.folder / INDEX / f"{name:017d}",
            # Apache RocketMQ reads all files of a folder with one pair of numbers.
            slots=self._config.index_slots if last is None else last.slots,
            entries=self._config.index_entries if last is None else last.capacity,
            scratch=self._config.folder,
            after=last,
        )
        self.files.append(file)
        return file


def _sizes_of(path: Path, known: list[Sizes]) -> Sizes:
    """Return the slots and entries of a file: `known` ones of its length, or measured ones, which are known then."""
    length = path.stat().st_size
    for sizes in known:
        if file_bytes(*sizes) == length:
            return sizes
    measured = measure([path])
    assert measured is not None  # it is not empty
    known.append(measured)
    return measured
