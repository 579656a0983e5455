"""The bytes that all connections of a process hold together, and what happens when they are too many.

A connection holds the piece of a frame that is not whole, requests that handlers work on, requests it has not begun
with, and answers its peer has not taken. Each of these has its own limit; a thousand connections that reach it at
once do not fit into a machine. Small holdings are not counted: they are bounded by the number of connections.
"""

from __future__ import annotations

from typing import Final, Protocol

SMALL: Final = 64 * 1024
"""Bytes up to which a connection's holdings are not counted."""


class Holder(Protocol):
    """What holds bytes and can be closed to free them."""

    def __hash__(self) -> int: ...

    @property
    def held_bytes(self) -> int:
        """What it holds at this moment."""

    def abort(self, reason: str) -> None:
        """Close it, which frees everything that it holds."""


class Memory:
    """How much is held, and by which connection. Over the limit, the connection that holds most is closed."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._holders: dict[Holder, int] = {}

    def hold(self, holder: Holder, size: int) -> None:
        """Note what a connection holds now, 0 for nothing; may abort connections, also this one."""
        self.used += size - self._holders.pop(holder, 0)
        if size:
            self._holders[holder] = size
            if self.used > self.limit:
                self._make_room()

    def reserve(self, size: int) -> bool:
        """Take room for something else, to be given back by `release`; say whether there was room."""
        if self.used + size > self.limit:
            return False
        self.used += size
        return True

    def release(self, size: int) -> None:
        """Give back what was reserved."""
        self.used -= size

    def _make_room(self) -> None:
        for holder in self._holders:  # a peer may have taken much since it was noted
            now = min(holder.held_bytes, self._holders[holder])
            self.used += now - self._holders[holder]
            self._holders[holder] = now
        while self.used > self.limit and self._holders:
            largest = max(self._holders, key=self._holders.__getitem__)
            held = self._holders.pop(largest)
            self.used -= held
            largest.abort(f"limit memory_bytes={self.limit} reached: this connection holds {held} of them")
