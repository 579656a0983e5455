"""Layout and limits of a store; the names in brackets are RocketMQ's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Self

KIB: Final = 1024
MIB: Final = 1024 * KIB
GIB: Final = 1024 * MIB

_SECOND: Final = 1000
_MINUTE: Final = 60 * _SECOND
_HOUR: Final = 60 * _MINUTE

# 1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h
DELAY_LEVELS_MS: Final = (
    *(seconds * _SECOND for seconds in (1, 5, 10, 30)),
    *(minutes * _MINUTE for minutes in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30)),
    *(hours * _HOUR for hours in (1, 2)),
)


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """Sizes and limits of one store.

    File sizes apply to a new store; an existing store keeps its sizes. To open a folder with Apache RocketMQ, use
    the same sizes, slots and entries there.
    """

    folder: Path
    # RocketMQ's size of a segment [mappedFileSizeCommitLog]; also the maximum size of a record.
    commit_log_file_size: int = GIB
    # 300 000 units of 20 bytes [mappedFileSizeConsumeQueue].
    consume_queue_file_units: int = 300_000
    # Whether queues keep store times and filter bits beside their units [enableConsumeQueueExt], and the size of such
    # files [mappedFileSizeConsumeQueueExt]. What is there is read in any case.
    extends_queues: bool = False
    extension_file_size: int = 48 * MIB
    # Four entries per slot when a file is full [maxHashSlotNum, maxIndexNum].
    index_slots: int = 5_000_000
    index_entries: int = 20_000_000
    # An index file ends after this much log even if it is not full, because a crash requires reading it again.
    index_roll_bytes: int = GIB
    # The broker decides what it promises for a put; kept here so that one object describes the store [flushDiskType].
    flush: Literal["async", "sync"] = "async"
    # Disk room is reserved in steps of this size, so that a full disk is an error and does not kill the process.
    reserve_bytes: int = 16 * MIB
    # The largest body [maxMessageSize].
    max_message_size: int = 4 * MIB
    # The delay of each level of DELAY, in ms [messageDelayLevel].
    delay_levels_ms: tuple[int, ...] = DELAY_LEVELS_MS
    # Whether bodies are checked against their checksums when a store is opened [checkCRCOnRecover].
    check_crc_on_recover: bool = True
    # Segments expire this long after their last write [fileReservedTime].
    retention_ms: int = 72 * _HOUR
    # Expired segments are dropped in these hours of local time [deleteWhen].
    delete_when: tuple[int, ...] = (4,)
    # Above this size the oldest segments are dropped; None for no limit.
    max_log_bytes: int | None = None
    # Above this ratio of the disk expired segments are dropped at any hour [diskMaxUsedSpaceRatio].
    max_used_ratio: float = 0.75
    # Above this ratio the oldest are dropped whatever their age [diskSpaceCleanForciblyRatio], if allowed by
    # [cleanFileForciblyEnable].
    forced_used_ratio: float = 0.85
    clean_forcibly: bool = True
    # Above this ratio messages are refused [diskSpaceWarningLevelRatio].
    full_used_ratio: float = 0.90
    # Less free disk than this counts as above the forced ratio, less than half of it as above the last one.
    min_free_bytes: int = 2 * GIB
    # When this many messages wait, a put dispatches them; this bounds memory.
    max_undispatched: int = 131_072
    # Whether opening dispatches confirmed records only, and nothing is put before the store takes over: a replica that
    # may follow or lead, and learns only later which.
    is_replica: bool = False

    @classmethod
    def embedded(cls, folder: Path, *, flush: Literal["async", "sync"] = "async") -> Self:
        """Return a store for one machine: with smaller files, an empty store is small and recovery is short.

        The disk is shared with other programs, so it may be fuller than with RocketMQ before messages are dropped or
        refused.
        """
        return cls(
            folder,
            commit_log_file_size=128 * MIB,
            index_slots=500_000,
            index_entries=2_000_000,
            index_roll_bytes=256 * MIB,
            flush=flush,
            forced_used_ratio=0.95,
            full_used_ratio=0.97,
            min_free_bytes=512 * MIB,
        )
