"""What leaves the store: old segments, and the units and keys that pointed into them (store-format.md 8).

The oldest segment goes when it was last written to longer ago than is kept, when the log is larger than allowed, or
when the disk is short of room. The segment that is written to always stays.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass

from broker_core.store.commit_log import CommitLog
from broker_core.store.config import StoreConfig
from broker_core.store.index import Index
from broker_core.store.queues import Queues

# More than that in one pass would hold up the broker's loop.
_MAX_SEGMENTS = 10


@dataclass(frozen=True, slots=True)
class Dropped:
    """What one pass removed, and how the disk stands."""

    segments: int
    log_bytes: int
    queue_files: int
    index_files: int
    free_bytes: int
    # False when the disk is so short of room that messages should be refused.
    has_room: bool


def drop_expired(log: CommitLog, queues: Queues, index: Index, config: StoreConfig, now: int) -> Dropped:
    """Remove up to ten segments that may go, then what pointed only into them."""
    segments = log_bytes = 0
    free = shutil.disk_usage(config.folder).free
    while segments < _MAX_SEGMENTS and _first_may_go(log, config, now, free + log_bytes):
        log_bytes += log.drop_first()
        segments += 1
    queue_files = queues.drop_before(log.begin) if segments else 0
    index_files = index.drop_before(log.begin) if segments else 0
    free = shutil.disk_usage(config.folder).free
    return Dropped(segments, log_bytes, queue_files, index_files, free, free >= config.min_free_bytes // 2)


def _first_may_go(log: CommitLog, config: StoreConfig, now: int, free: int) -> bool:
    files = log.files.files
    if len(files) < 2:
        return False
    if files[0].modified_ms() + config.retention_ms <= now:
        return True
    limit = config.max_log_bytes
    return (limit is not None and log.end - log.begin > limit) or free < config.min_free_bytes
