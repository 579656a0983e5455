"""What a replica needs of its store (broker/replication/README.md#automatic-failover)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store.consume_queue import QueueEnd

QueueEnds: TypeAlias = Mapping[tuple[str, int], QueueEnd]
"""By topic and queue id: where queues end of which a log has no message."""


class ReplicaStore(Protocol):
    """The log and its epochs. Every method raises StoreError when the disk does not do what it should."""

    @property
    def begin(self) -> int:
        """Where the log begins."""

    @property
    def end(self) -> int:
        """Where the log ends, a half record at the end included."""

    @property
    def whole_end(self) -> int:
        """Where the last whole record ends. Nothing less than whole records is confirmed, so that a half can be cut."""

    @property
    def safe_end(self) -> int:
        """Up to where the log may be acknowledged: `whole_end`, with synchronous flush not more than is flushed."""

    @property
    def segment_bytes(self) -> int:
        """Size of a segment of the log."""

    @property
    def epochs(self) -> Sequence[EpochStart]:
        """The epochs of the log, strictly rising in both numbers."""

    @property
    def confirm(self) -> int:
        """Up to where the log is confirmed; readers see nothing behind it."""

    def set_confirm(self, upto: int) -> None:
        """Keep a confirm offset and let readers see up to there."""

    def queue_ends(self, log_offset: int) -> QueueEnds:
        """Return where the queues end of which no confirmed message lies at a log offset or behind it."""

    def begin_behind(self, ends: QueueEnds) -> None:
        """Let an empty log go on behind these queues and no others; synced when it returns."""

    def append_raw(self, log_offset: int, data: bytes) -> None:
        """Append a part of the master's log at its place."""

    def cut(self, log_offset: int) -> None:
        """Make the log end there, with all that was made from it and its epochs; synced when it returns."""

    def finish_tail(self) -> None:
        """Cut a half record at the end, and number the queues over all records, confirmed or not."""

    def roll_epoch(self, number: int, start: int) -> None:
        """Write down that an epoch begins there; synced when it returns. One that began there too is replaced."""
