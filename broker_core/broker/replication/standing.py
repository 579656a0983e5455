"""What a broker knows of its mastership beyond its role (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

from typing import Protocol


class Source(Protocol):
    """A replica whose role controllers decide."""

    @property
    def epoch(self) -> int:
        """The newest epoch known."""

    @property
    def begin(self) -> int:
        """The log offset at which that epoch began here."""

    def is_settled(self) -> bool:
        """Whether this is the master, and all that earlier masters left in its log is confirmed."""

    def members(self) -> frozenset[int]:
        """The connected members of the in-sync set, while this is the master, without itself."""

    def has_kept(self, epoch: int, log_offset: int) -> bool:
        """Whether the log still has what was written in an epoch, up to a log offset; epoch 0: before the first one."""


class Standing:
    """Asked at the moment of use; a broker without controllers is settled, and keeps its whole log."""

    def __init__(self) -> None:
        self.source: Source | None = None

    @property
    def epoch(self) -> int:
        """The newest epoch known; 0 without controllers."""
        return 0 if self.source is None else self.source.epoch

    @property
    def begin(self) -> int | None:
        """The log offset from which on all is written by this master; None without controllers."""
        return None if self.source is None else self.source.begin

    def is_settled(self) -> bool:
        """Return whether all that earlier masters left in the log is confirmed, so that readers see it."""
        return self.source is None or self.source.is_settled()

    def members(self) -> frozenset[int]:
        """Return the connected members of the in-sync set without this broker, while it is the master."""
        return frozenset() if self.source is None else self.source.members()

    def has_kept(self, epoch: int, log_offset: int) -> bool:
        """Return whether the log still has what this broker wrote in an epoch, up to a log offset."""
        return self.source is None or self.source.has_kept(epoch, log_offset)
