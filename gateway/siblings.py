"""The gateway processes behind one port: each has a number, and tells the others its part of ``/metrics``.

A scrape reaches any one of them. It asks the others at their Unix sockets, in a folder that `gateway.up` makes for the
time of its run: a locked file for each number, and a socket beside it.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

FOLDER_VARIABLE: Final = "GANTRY_SIBLINGS_DIR"
MOST_WORKERS: Final = 64
_SECONDS: Final = 1.0

_log = logging.getLogger(__name__)


class Siblings:
    """This process among its siblings, between `start` and `stop`; without a folder it is the only one."""

    def __init__(self, folder: Path | None, page: Callable[[], bytes]) -> None:
        self._folder = folder
        self._page = page
        self._lock: int | None = None
        self._server: asyncio.Server | None = None
        self.number = 1

    async def start(self) -> None:
        """Take the lowest free number and serve the page to the others; raises OSError without a free one."""
        if self._folder is not None:
            self.number, self._lock = _claim(self._folder)
            socket = _socket(self._folder, self.number)
            socket.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._serve, socket)

    async def stop(self) -> None:
        """Serve no more, and give the number back."""
        if self._server is not None:
            self._server.close()
        if self._lock is not None:
            os.close(self._lock)

    async def pages(self) -> dict[int, bytes | None]:
        """Return the page of each process by its number; None for one that does not answer within a second."""
        others = [number for number in self._numbers() if number != self.number]
        asked = await asyncio.gather(*(self._ask(number) for number in others))
        return {self.number: self._page(), **dict(zip(others, asked, strict=True))}

    def _numbers(self) -> list[int]:
        return [] if self._folder is None else sorted(int(file.stem) for file in self._folder.glob("*.lock"))

    async def _ask(self, number: int) -> bytes | None:
        assert self._folder is not None
        try:
            async with asyncio.timeout(_SECONDS):
                reader, writer = await asyncio.open_unix_connection(_socket(self._folder, number))
                try:
                    return await reader.read() or None
                finally:
                    writer.close()
        except OSError as error:  # TimeoutError is one of them
            _log.warning("metrics: gateway process %d does not answer: %s", number, error or "it is late")
            return None

    async def _serve(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._page())
        await writer.drain()
        writer.close()


def _claim(folder: Path) -> tuple[int, int]:
    """Return the lowest number that no living process has, and the descriptor that holds it until it is closed."""
    for number in range(1, MOST_WORKERS + 1):
        lock = os.open(folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return number, lock
    raise OSError(f"{MOST_WORKERS} gateway processes run already")


def _socket(folder: Path, number: int) -> Path:
    return folder / f"{number}.sock"
