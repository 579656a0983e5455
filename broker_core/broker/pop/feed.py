"""The newest changes of leases, for the broker's slaves (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

from collections import deque
from typing import Final

KEPT_BYTES: Final = 4 * 1024 * 1024
"""Some 100,000 changes; a slave that lacks more gets all leases."""


class LeaseFeed:
    """Numbers the changes that the journal records, and keeps the newest once somebody asks for them."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._is_kept = False
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self.count = 0
        """How many changes there were since the start."""

    def note(self, frame: bytes) -> None:
        """Keep an encoded change that was recorded."""
        self.count += 1
        if not self._is_kept:
            return
        self._frames.append(frame)
        self._bytes += len(frame)
        while self._bytes > self._kept_bytes:
            self._bytes -= len(self._frames.popleft())

    def begin(self) -> None:
        """Keep the changes from now on."""
        self._is_kept = True

    def since(self, count: int) -> bytes | None:
        """Return the encoded changes after the first `count`; None if they are not kept."""
        wanted = self.count - count
        if wanted > len(self._frames):
            return None
        return b"".join(self._frames[each] for each in range(-wanted, 0))
