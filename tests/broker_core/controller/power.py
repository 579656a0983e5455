"""A disk that stops at any step, and may then hold anything that a real one may hold after a loss of power."""

from __future__ import annotations

from pathlib import Path
from random import Random


class Stopped(Exception):
    """The machine has stopped."""


class PowerDisk:
    """Counts steps down to the last one; `after_power_loss` returns what is left."""

    def __init__(self, steps: int | None = None, files: dict[Path, bytes] | None = None) -> None:
        """Stop at the step after `steps`; never if that is None."""
        self._steps = steps
        self._data: list[bytes] = list((files or {}).values())
        self._synced = [True] * len(self._data)
        self._names = {path: number for number, path in enumerate(files or {})}
        self._durable = [dict(self._names)]  # what the folder may look like, the last one surely reached first

    def read(self, path: Path) -> bytes | None:
        number = self._names.get(path)
        return None if number is None else self._data[number]

    def write(self, path: Path, data: bytes) -> None:
        self._step()
        self._data.append(data)
        self._synced.append(False)
        self._names[path] = len(self._data) - 1
        self._durable.append(dict(self._names))

    def sync(self, path: Path) -> None:
        self._step()
        self._synced[self._names[path]] = True

    def rename(self, path: Path, to: Path) -> None:
        self._step()
        self._names[to] = self._names.pop(path)
        self._durable.append(dict(self._names))

    def sync_folder(self, folder: Path) -> None:
        self._step()
        self._durable = [dict(self._names)]

    def after_power_loss(self, random: Random) -> PowerDisk:
        """Return a disk with one of the contents that this one may have now."""
        names = random.choice(self._durable)
        return PowerDisk(files={path: self._left(number, random) for path, number in names.items()})

    def after_kill(self) -> PowerDisk:
        """Return a disk with what the system held when only the process ended."""
        return PowerDisk(files={path: self._data[number] for path, number in self._names.items()})

    def _left(self, number: int, random: Random) -> bytes:
        data = self._data[number]
        return data if self._synced[number] else data[: random.randint(0, len(data))]

    def _step(self) -> None:
        if self._steps is not None:
            if self._steps == 0:
                raise Stopped
            self._steps -= 1
