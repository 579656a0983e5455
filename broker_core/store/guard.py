"""One writer per folder, by the lock that Apache RocketMQ also uses (store/README.md#lock).

It is taken before anything is read or changed; RocketMQ takes it only after its recovery. A POSIX record lock belongs
to the whole process, so a list of folders excludes a second store in this process.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final, Self

from broker_core.store.errors import StoreFull, StoreLocked
from broker_core.store.layout import LOCK
from broker_core.store.mapped_file import FULL_ERRORS

_TEXT: Final = b"lock"
_held: set[Path] = set()


class Guard:
    """Holds the lock of one folder until it is released or the process ends."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        """Hold a lock obtained by `take`."""
        self._folder = folder
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path) -> Self:
        """Lock `folder`, creating it if needed; raise StoreLocked at once if it is already locked, StoreFull."""
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        if folder in _held:
            raise StoreLocked(folder, "this process")
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
        except OSError as error:
            os.close(descriptor)
            raise StoreLocked(folder, "another process") from error
        try:
            os.pwrite(descriptor, _TEXT, 0)
        except OSError as error:
            os.close(descriptor)
            if error.errno in FULL_ERRORS:
                raise StoreFull(folder / LOCK, len(_TEXT)) from error
            raise
        _held.add(folder)
        return cls(folder, descriptor)

    def release(self) -> None:
        """Release the folder."""
        _held.discard(self._folder)
        os.close(self._descriptor)
