"""The output of a connection: collected during one turn of the loop, then written at once.

::

    put ─► parts ─┬─ flush, or the end of this turn of the loop ─► one writev ─► socket
                  └─ many commands or bytes are collected ───────► the rest of it ─► transport

A transport keeps what it is given until the turn ends. So the socket is written to directly while the transport holds
nothing, and the peer works on the first answers while the others are made. A transport over TLS hands out no socket.

The transport reports when its buffer is full. `is_full` is then true, and calls wait for room.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Final

from broker_core.protocol.command import Command

_WRITE_SIZE: Final = 32 * 1024  # collected bytes that are written at once: the peer reads them while more follow
_HEADER_GUESS: Final = 256  # an estimate of the bytes of a header, to know when to write
_WRITE_COMMANDS: Final = (
    24  # collected commands that are written at once: fewer cost more in system calls than they gain
)
_MOST_PARTS: Final = 1024  # of one writev (IOV_MAX)
_NO_SOCKET: Final = -1


class Outbox:
    """Writes the commands of one connection."""

    __slots__ = (
        "_commands",
        "_descriptor",
        "_is_collecting",
        "_loop",
        "_on_backlog",
        "_parts",
        "_room",
        "_size",
        "_transport",
        "is_full",
        "last_write",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, on_backlog: Callable[[], None]) -> None:
        """`on_backlog` is called after each write while the peer does not read."""
        self.is_full = False
        self.last_write = 0.0  # in the loop's time
        self._loop = loop
        self._on_backlog = on_backlog
        self._transport: asyncio.WriteTransport | None = None
        self._parts: list[bytes | memoryview] = []
        self._size = 0
        self._commands = 0
        self._descriptor = _NO_SOCKET
        self._is_collecting = False  # a `flush` will follow
        self._room: asyncio.Future[None] | None = None

    @property
    def unread_bytes(self) -> int:
        """Bytes written but not read by a slow peer; 0 while the buffer is not full."""
        return self._transport.get_write_buffer_size() if self.is_full and self._transport is not None else 0

    def open(self, transport: asyncio.WriteTransport, *, full_from_bytes: int) -> None:
        """Write to `transport` from now on."""
        self._transport = transport
        transport.set_write_buffer_limits(high=full_from_bytes)
        socket = transport.get_extra_info("socket")
        if socket is not None:
            self._descriptor = socket.fileno()

    def put(self, command: Command) -> None:
        """Write a command at the end of this turn of the loop, together with the others of this turn."""
        self._parts += command.encode_parts()
        self._collected(1, command.body_size + _HEADER_GUESS)

    def put_frames(self, frames: bytes, count: int) -> None:
        """Write so many frames in one piece, when `put` would."""
        self._parts.append(frames)
        self._collected(count, len(frames))

    def _collected(self, commands: int, size: int) -> None:
        self._commands += commands
        self._size += size
        if self._commands >= _WRITE_COMMANDS or self._size >= _WRITE_SIZE:
            self._write()
        if not self._is_collecting:
            self._is_collecting = True
            self._loop.call_soon(self.flush)

    def collect(self) -> None:
        """Hold back commands from now on: the caller calls `flush` in this turn of the loop."""
        self._is_collecting = True

    def flush(self) -> None:
        """Write what is collected."""
        self._is_collecting = False
        self._write()

    async def wait_for_room(self, deadline: float) -> bool:
        """Wait while the buffer is full; return False if it still is at `deadline`, in the loop's time."""
        while self.is_full:
            if self._room is None:
                self._room = self._loop.create_future()
            done, _ = await asyncio.wait([self._room], timeout=max(0.0, deadline - self._loop.time()))
            if not done:
                return False
        return True

    def give_room(self) -> None:
        """Wake the calls that wait for room."""
        self.is_full = False
        if self._room is not None:
            self._room.set_result(None)
            self._room = None

    def close(self) -> None:
        """Write nothing more: the connection has closed."""
        self._transport = None
        self._parts.clear()
        self.give_room()

    def _write(self) -> None:
        parts, transport = self._parts, self._transport
        if not parts or transport is None:
            return
        self._parts = []
        self._size = self._commands = 0
        self.last_write = self._loop.time()
        # Behind what the transport holds, and not into a descriptor that it may have closed.
        if self._descriptor != _NO_SOCKET and not (transport.get_write_buffer_size() or transport.is_closing()):
            parts = self._write_now(parts)
        if parts:
            transport.writelines(parts)
        if self.is_full:
            self._on_backlog()

    def _write_now(self, parts: list[bytes | memoryview]) -> list[bytes | memoryview]:
        """Write what the socket takes at once; return the rest."""
        try:
            written = os.writev(self._descriptor, parts[:_MOST_PARTS])
        except OSError:
            # It takes nothing now, or the peer has gone: the transport writes again, and finds out which.
            return parts
        for at, part in enumerate(parts):
            if written < len(part):
                return [memoryview(part)[written:], *parts[at + 1 :]]
            written -= len(part)
        return []
