"""Writes a small file at each change, in a thread: the requests of brokers and of a controller go on meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import orjson


class Writer:
    """Keeps a file as a tree is. Changes that come during one writing share the next one; belongs to one loop."""

    def __init__(self, file: Path, tree: Callable[[], object]) -> None:
        """`tree` returns what the file is to hold, as JSON."""
        self._file = file
        self._tree = tree
        self._waiting: list[asyncio.Future[None]] = []
        self._writing: asyncio.Task[None] | None = None

    async def written(self) -> None:
        """Return once what the tree is now is on the disk; raises OSError if it could not be written."""
        written = asyncio.get_running_loop().create_future()
        self._waiting.append(written)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write(), name=f"write {self._file.name}")
        await written

    async def close(self) -> None:
        """Let what is being written end."""
        if self._writing is not None:
            await self._writing

    async def _write(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            failed: Exception | None = None
            try:
                data = orjson.dumps(self._tree(), option=orjson.OPT_INDENT_2)
                await asyncio.to_thread(_replace, self._file, data)
            except Exception as error:  # noqa: BLE001 - each of those that wait raises it
                failed = error
            for each in waiting:
                if each.done():  # whoever waited has gone
                    continue
                if failed is None:
                    each.set_result(None)
                else:
                    each.set_exception(failed)
        self._writing = None


def _replace(file: Path, data: bytes) -> None:
    """Replace a file; the old one stays until the new one is on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(file.name + ".tmp")
    with draft.open("wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    draft.replace(file)
