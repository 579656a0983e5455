"""A replica whose log was cut, as a timer sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Cut:
    """The log lost what was written behind `begin` before the present epoch."""

    begin: int
    epoch: int = 2

    def is_settled(self) -> bool:
        return True

    def members(self) -> frozenset[int]:
        return frozenset()

    def has_kept(self, epoch: int, log_offset: int) -> bool:
        return epoch == self.epoch or log_offset <= self.begin

    def has_lease(self) -> bool:
        return True

    def watch_lease(self, watcher: Callable[[], None]) -> None:
        """It never ends."""
