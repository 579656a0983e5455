"""How a store is laid out and limited; the names in brackets are RocketMQ's."""

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

    File sizes hold for a new store; a store that has files keeps the sizes of those. To open a folder with Apache
    RocketMQ, use the same sizes, slots and entries there.
    """

    folder: Path
    # RocketMQ's size of a segment [mappedFileSizeCommitLog]; also the most that one record can have.
    commit_log_file_size: int = GIB
    # 300 000 units of 20 bytes [mappedFileSizeConsumeQueue].
    consume_queue_file_units: int = 300_000
    # Four entries to a slot when a file is full [maxHashSlotNum, maxIndexNum].
    index_slots: int = 5_000_000
    index_entries: int = 20_000_000
    # An index file ends after this much log even if it is not full, since a crash costs reading that much log again.
    index_roll_bytes: int = GIB
    # The broker decides what it promises for a put; kept here so that one object describes the store [flushDiskType].
    flush: Literal["async", "sync"] = "async"
    # Room is reserved on the disk in steps of this size, so that a full disk is an error and not a killed process.
    reserve_bytes: int = 16 * MIB
    # The largest body [maxMessageSize].
    max_message_size: int = 4 * MIB
    # What each level of DELAY means, in ms [messageDelayLevel].
    delay_levels_ms: tuple[int, ...] = DELAY_LEVELS_MS
    # Whether bodies are compared with their checksum when a store is opened [checkCRCOnRecover].
    check_crc_on_recover: bool = True
    # Segments have expired this long after their last write [fileReservedTime].
    retention_ms: int = 72 * _HOUR
    # Expired segments are dropped in these hours of local time [deleteWhen].
    delete_when: tuple[int, ...] = (4,)
    # The oldest segments are dropped beyond this size; None for no such limit.
    max_log_bytes: int | None = None
    # Beyond this part of the disk expired segments are dropped at any hour [diskMaxUsedSpaceRatio].
    max_used_ratio: float = 0.75
    # Beyond this one the oldest are dropped whatever their age [diskSpaceCleanForciblyRatio], if that is allowed
    # [cleanFileForciblyEnable].
    forced_used_ratio: float = 0.85
    clean_forcibly: bool = True
    # Beyond this one messages are refused [diskSpaceWarningLevelRatio].
    full_used_ratio: float = 0.90
    # Less free disk than this counts as beyond the forced ratio, less than half of it as beyond the last one.
    min_free_bytes: int = 2 * GIB
    # A put dispatches by itself when this many messages wait; bounds memory.
    max_undispatched: int = 131_072

    @classmethod
    def embedded(cls, folder: Path, *, flush: Literal["async", "sync"] = "async") -> Self:
        """Return a store for one machine: smaller files, so that an empty store is small and recovery short.

        Others use the disk too, so it may be fuller than with RocketMQ before messages are dropped or refused.
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
