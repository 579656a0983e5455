"""What the file engine asks of the disk, step by step: tests stop between any two (controller/README.md#file)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """Steps that wait for the disk and raise OSError."""

    def read(self, path: Path) -> bytes | None:
        """Return what a file holds; None if there is none."""
        ...

    def write(self, path: Path, data: bytes) -> None:
        """Write a new file, which may not be on the disk yet."""
        ...

    def sync(self, path: Path) -> None:
        """Bring a file to the disk."""
        ...

    def rename(self, path: Path, to: Path) -> None:
        """Replace `to` by `path`, which may not be on the disk yet."""
        ...

    def sync_folder(self, folder: Path) -> None:
        """Bring the names of a folder's files to the disk."""
        ...


class RealDisk:
    """The machine's."""

    def read(self, path: Path) -> bytes | None:
        """Return what a file holds; None if there is none."""
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None

    def write(self, path: Path, data: bytes) -> None:
        """Write a new file, which may not be on the disk yet."""
        path.write_bytes(data)

    def sync(self, path: Path) -> None:
        """Bring a file to the disk."""
        _sync(path)

    def rename(self, path: Path, to: Path) -> None:
        """Replace `to` by `path`, which may not be on the disk yet."""
        path.replace(to)

    def sync_folder(self, folder: Path) -> None:
        """Bring the names of a folder's files to the disk."""
        _sync(folder)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
