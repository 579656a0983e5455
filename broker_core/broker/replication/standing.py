"""What a broker knows of its mastership beyond its role (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

from collections.abc import Callable
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

    def has_lease(self) -> bool:
        """Whether this is surely the only master at this moment."""

    def watch_lease(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever this master knows, for the first time or again, that it is the only one."""


class Standing:
    """Asked at the moment of use; a broker without controllers is settled, and keeps its whole log."""

    def __init__(self, source: Source | None = None) -> None:
        """`source` is None without controllers."""
        self._source = source

    @property
    def epoch(self) -> int:
        """The newest epoch known; 0 without controllers."""
        return 0 if self._source is None else self._source.epoch

    @property
    def begin(self) -> int | None:
        """The log offset from which on all is written by this master; None without controllers."""
        return None if self._source is None else self._source.begin

    def is_settled(self) -> bool:
        """Return whether all that earlier masters left in the log is confirmed, so that readers see it."""
        return self._source is None or self._source.is_settled()

    def members(self) -> frozenset[int]:
        """Return the connected members of the in-sync set without this broker, while it is the master."""
        return frozenset() if self._source is None else self._source.members()

    def has_kept(self, epoch: int, log_offset: int) -> bool:
        """Return whether the log still has what this broker wrote in an epoch, up to a log offset."""
        return self._source is None or self._source.has_kept(epoch, log_offset)

    def is_sure(self) -> bool:
        """Return whether no other broker can be the master if this one is. A lease ends unnoticed: ask at each use."""
        return self._source is None or self._source.has_lease()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever a master becomes sure."""
        if self._source is not None:
            self._source.watch_lease(watcher)
