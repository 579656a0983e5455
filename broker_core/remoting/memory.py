"""The total of bytes held by all connections of a process, and its limit.

A connection holds an incomplete frame, requests that handlers are working on, requests not started yet, and answers
that its peer has not read. Each of these has its own limit, but a thousand connections at their limits would exceed
the memory of a machine. Small amounts are not counted: the number of connections bounds them.
"""

from __future__ import annotations

from typing import Final, Protocol

SMALL: Final = 64 * 1024
"""A connection that holds no more bytes than this is not counted."""


class MemoryHolder(Protocol):
    """An object that holds bytes and can be closed to free them."""

    def __hash__(self) -> int: ...

    @property
    def held_bytes(self) -> int:
        """The bytes that it holds at the moment."""

    def abort(self, reason: str) -> None:
        """Close it, which frees all its bytes."""


class ConnectionMemory:
    """The bytes held by each connection. Above the limit, the connection that holds most is closed."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._holders: dict[MemoryHolder, int] = {}

    def hold(self, holder: MemoryHolder, size: int) -> None:
        """Record how many bytes a connection holds, 0 for none; may abort connections, including this one."""
        self.used += size - self._holders.pop(holder, 0)
        if size:
            self._holders[holder] = size
            if self.used > self.limit:
                self._make_room()

    def reserve(self, size: int) -> bool:
        """Reserve bytes for another use, until `release`; return whether there was room."""
        if self.used + size > self.limit:
            return False
        self.used += size
        return True

    def release(self, size: int) -> None:
        """Free reserved bytes."""
        self.used -= size

    def _make_room(self) -> None:
        for holder in self._holders:  # the peer may have read much since the figure was recorded
            now = min(holder.held_bytes, self._holders[holder])
            self.used += now - self._holders[holder]
            self._holders[holder] = now
        while self.used > self.limit and self._holders:
            largest = max(self._holders, key=self._holders.__getitem__)
            held = self._holders.pop(largest)
            self.used -= held
            largest.abort(f"limit memory_bytes={self.limit} reached: this connection holds {held} of them")
