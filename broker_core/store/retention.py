"""Removes old segments with their units and keys (store/README.md#retention-and-a-full-disk).

::

    expired      last written before the retention time   removed in the configured hours, or if the disk is rather full
    too much     the log is larger than allowed           removed at once
    forced       the disk is nearly full                  the oldest is removed at once, whatever its age
    full         the disk is full                         as forced, and messages are refused; reads continue

The segment being written to is never removed.
"""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from broker_core.store.commit_log import CommitLog
from broker_core.store.config import StoreConfig
from broker_core.store.index import Index
from broker_core.store.queues import Queues

# More segments in one pass would block the broker's loop.
_MAX_SEGMENTS = 10
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """The file system of a store; sizes in bytes."""

    used: int
    free: int

    @property
    def used_ratio(self) -> float:
        """The used ratio, rounded up to whole hundredths as in RocketMQ; room reserved for root is left out."""
        return math.ceil(100 * self.used / max(self.used + self.free, 1)) / 100


@dataclass(frozen=True, slots=True)
class Dropped:
    """What one pass removed, and the state of the disk."""

    segments: int
    log_bytes: int
    queue_files: int
    index_files: int
    free_bytes: int
    used_ratio: float
    # Why messages must be refused; None while there is room.
    refusal: str | None

    @property
    def has_room(self) -> bool:
        """False when the disk has so little room that messages must be refused."""
        return self.refusal is None


def measure_disk(folder: Path) -> DiskUsage:
    """Return the current state of the file system of `folder`."""
    usage = shutil.disk_usage(folder)
    return DiskUsage(usage.used, usage.free)


class Holds:
    """Who reads the log from where on, and needs its segments: the links of replicas that copy it."""

    def __init__(self) -> None:
        """Start without anybody."""
        self._of: dict[str, tuple[int, int | None]] = {}

    def hold(self, holder: str, log_offset: int | None, most_bytes: int | None) -> None:
        """Note what somebody needs; None: nothing any more."""
        if log_offset is None:
            self._of.pop(holder, None)
        else:
            self._of[holder] = log_offset, most_bytes

    def needed_from(self, log_end: int) -> int | None:
        """Return the lowest log offset that somebody needs who is not too far behind the end of the log."""
        needed = (at for at, most in self._of.values() if most is None or log_end - at <= most)
        return min(needed, default=None)


@dataclass(frozen=True, slots=True)
class Retention:
    """Which segments of a log may go; `needed_from` returns the log offset from which all of them are still needed."""

    log: CommitLog
    config: StoreConfig
    needed_from: Callable[[], int | None]

    def first_goes(self, now: int, disk: DiskUsage, *, at_any_hour: bool) -> bool:
        """Return whether the age of the first segment, the size of the log or the disk asks for its removal."""
        log, config = self.log, self.config
        if len(log.files) < 2:
            return False
        at_any_hour = at_any_hour or _is_the_hour(config, now) or disk.used_ratio > config.max_used_ratio
        if at_any_hour and log.files[0].modified_ms() + config.retention_ms <= now:
            return True
        if config.max_log_bytes is not None and log.end - log.begin > config.max_log_bytes:
            return True
        is_short = disk.used_ratio > config.forced_used_ratio or disk.free < config.min_free_bytes
        return is_short and config.clean_forcibly

    @property
    def first_is_needed(self) -> bool:
        """Whether somebody still needs a record of the first segment."""
        needed = self.needed_from()
        return needed is not None and needed < self.first_end

    @property
    def first_end(self) -> int:
        """The log offset behind the first segment."""
        first = self.log.files[0]
        return first.start + first.size


def drop_expired(
    retention: Retention,
    queues: Queues,
    index: Index,
    now: int,
    *,
    at_any_hour: bool = False,
    keep_units: Callable[[int], None],
) -> Dropped:
    """Remove up to ten segments that may go, then the units and keys that referred only to them; `now` in ms.

    A segment that is still needed stays, and so do all after it. Before one goes, `keep_units` waits until the disk has
    the units of the records before a log offset, which cannot be made anew then; what it raises is raised.
    """
    segments = log_bytes = 0
    log, config = retention.log, retention.config
    disk = measure_disk(config.folder)
    while (
        segments < _MAX_SEGMENTS
        and retention.first_goes(now, disk, at_any_hour=at_any_hour)
        and not retention.first_is_needed
    ):
        keep_units(retention.first_end)
        size = log.drop_first()
        # What removing the file frees, even if a reader still has it mapped for a moment.
        disk = DiskUsage(max(disk.used - size, 0), disk.free + size)
        log_bytes += size
        segments += 1
    queue_files = queues.drop_before(log.begin) if segments else 0
    index_files = index.drop_before(log.begin) if segments else 0
    # What was removed may be unmapped, and so free, only in a moment.
    disk = max(disk, measure_disk(config.folder), key=lambda usage: usage.free)
    return Dropped(segments, log_bytes, queue_files, index_files, disk.free, disk.used_ratio, refusal_of(config, disk))


def refusal_of(config: StoreConfig, disk: DiskUsage) -> str | None:
    """Return why messages must be refused, or None."""
    if disk.used_ratio > config.full_used_ratio:
        return (
            f"the disk is full: {disk.used_ratio:.0%} of it is used; "
            f"messages are accepted again at {config.full_used_ratio:.0%} or less"
        )
    if disk.free < config.min_free_bytes // 2:
        return (
            f"the disk is full: {disk.free // _MIB} MiB of it is free; "
            f"messages are accepted again at {config.min_free_bytes // 2 // _MIB} MiB or more"
        )
    return None


def _is_the_hour(config: StoreConfig, now: int) -> bool:
    return time.localtime(now // 1000).tm_hour in config.delete_when
