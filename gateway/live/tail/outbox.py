"""What waits to be sent to one viewer: at most so many messages; what does not fit is dropped and said."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from console.moments import rfc3339
from gateway.live.tail.frames import DroppedFrame, DropReason, Frame, MessageFrame

MOST_WAITING: Final = 1_000


class Gap:
    """Messages of one reason that were not shown, until a frame says so."""

    def __init__(self, reason: DropReason) -> None:
        self.reason = reason
        self.n = 0
        self._first: int | None = None
        self._last: int | None = None

    def add(self, n: int, stored_at: int | None) -> None:
        """Count `n` messages stored at a moment (ms), or at an unknown one."""
        self.n += n
        if stored_at is not None:
            self._first = stored_at if self._first is None else min(self._first, stored_at)
            self._last = stored_at if self._last is None else max(self._last, stored_at)

    def frame(self) -> DroppedFrame:
        """Return the frame about them."""
        begin = None if self._first is None else rfc3339(self._first)
        to = None if self._last is None else rfc3339(self._last)
        return DroppedFrame(n=self.n, reason=self.reason, begin=begin, to=to)


class Outbox:
    """Frames in order; the oldest messages make room for newer ones while the client reads too slowly."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._frames: deque[tuple[Frame, int | None]] = deque()
        self._messages = 0
        self._lost = Gap("slow_client")
        self._filled = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    def put(self, frame: Frame, stored_at: int | None = None) -> int:
        """Add a frame; return how many messages were dropped for it."""
        self._frames.append((frame, stored_at))
        self._filled.set()
        if not isinstance(frame, MessageFrame):
            return 0
        self._messages += 1
        if self._messages >= self._most:
            self._has_room.clear()
        return self._make_room() if self._messages > self._most else 0

    async def room(self) -> None:
        """Wait until a message fits."""
        await self._has_room.wait()

    async def get(self) -> Frame:
        """Return the next frame, when there is one."""
        await self._filled.wait()
        if self._lost.n:
            gap, self._lost = self._lost, Gap("slow_client")
            return gap.frame()
        frame, _ = self._frames.popleft()
        self._messages -= isinstance(frame, MessageFrame)
        self._has_room.set()
        if not self._frames:
            self._filled.clear()
        return frame

    def _make_room(self) -> int:
        index = next(i for i, (frame, _) in enumerate(self._frames) if isinstance(frame, MessageFrame))
        _, stored_at = self._frames[index]
        del self._frames[index]
        self._messages -= 1
        self._lost.add(1, stored_at)
        return 1
