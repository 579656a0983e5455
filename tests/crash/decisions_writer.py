"""Writes decisions, tells each one that was answered, and kills its own process at a given step of the disk."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from broker_core.controller.decisions import Kept
from broker_core.controller.disk import RealDisk
from broker_core.controller.file_decisions import FileDecisions


class Deadly(RealDisk):
    """Kills this process before a step."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def write(self, path: Path, data: bytes) -> None:
        self._step()
        super().write(path, data)

    def sync(self, path: Path) -> None:
        self._step()
        super().sync(path)

    def rename(self, path: Path, to: Path) -> None:
        self._step()
        super().rename(path, to)

    def sync_folder(self, folder: Path) -> None:
        self._step()
        super().sync_folder(folder)

    def _step(self) -> None:
        self._steps -= 1
        if self._steps < 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def write(folder: Path, steps: int) -> None:
    """Write one text after the other."""
    engine = FileDecisions.open(folder, disk=Deadly(steps))
    _, names = await engine.read()
    kept: Kept | None = names.get("b")
    number = int(kept.text) if kept else 0
    while True:
        number += 1
        kept = await engine.put("b", kept, f"{number}")
        print(number, flush=True)


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2])))
