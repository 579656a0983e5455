"""The store times up to which everything is certainly on the disk (store/README.md#checkpoint).

::

    0  commit log int64 | 8  consume queues int64 | 16  finished index files int64 | zeros up to 4096

Recovery after a crash begins in a segment that starts before all three.
"""

from __future__ import annotations

import os
import struct
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

from broker_core.store.layout import CHECKPOINT

_TIMES: Final = struct.Struct(">qqq")
_FILE_BYTES: Final = 4096
# In Apache RocketMQ the store times of records put concurrently by several threads may differ by this much.
_SAFETY_MS: Final = 3000


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Store times (ms) up to which log, queues and finished index files are on the disk; 0 for nothing."""

    log: int = 0
    queues: int = 0
    index: int = 0

    @property
    def recover_from(self) -> int:
        """The store time from which records must be dispatched again."""
        return min(max(0, min(self.log, self.queues) - _SAFETY_MS), self.index)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the checkpoint of a store; a missing or too short one covers nothing."""
    path = folder / CHECKPOINT
    data = path.read_bytes() if path.is_file() else b""
    return Checkpoint(*_TIMES.unpack_from(data)) if len(data) >= _TIMES.size else Checkpoint()


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write and sync the checkpoint; it fits in one sector, so a crash leaves the old or the new one."""
    descriptor = os.open(folder / CHECKPOINT, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.fstat(descriptor).st_size != _FILE_BYTES:
            os.truncate(descriptor, _FILE_BYTES)
        os.pwrite(descriptor, _TIMES.pack(*astuple(checkpoint)), 0)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
