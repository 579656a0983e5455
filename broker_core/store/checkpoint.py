"""How far everything is certainly on the disk (store/README.md#checkpoint).

::

    0    commit log int64 | 8    consume queues int64 | 16   finished index files int64: store times
    32   log offset up to which records are confirmed int64, as in RocketMQ 5
    256  commit log int64 | 264  consume queues int64 | 272  finished index files int64 | 280  log offset int64

Recovery after a crash begins in a segment that starts before all three times and the log offset, which is right where
times are not. It counts only with the times it was written with: another broker writes times alone.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from broker_core.store.errors import StoreFull
from broker_core.store.layout import CHECKPOINT, NEW_PREFIX
from broker_core.store.mapped_file import FULL_ERRORS, sync_folder

_TIMES: Final = struct.Struct(">qqq")
_OURS: Final = struct.Struct(">qqqq")
_CONFIRMED: Final = struct.Struct(">q")
_CONFIRMED_AT: Final = 32
_OURS_AT: Final = 256
_UNKNOWN: Final = -1
_FILE_BYTES: Final = 4096
# In Apache RocketMQ the store times of records put concurrently by several threads may differ by this much.
_SAFETY_MS: Final = 3000


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Store times (ms) up to which log, queues and finished index files are on the disk; 0 for nothing.

    `covered` is the log offset before which all records are, in all three; None if only times were written. `confirmed`
    is the one before which all members of a replica's in-sync set have them.
    """

    log: int = 0
    queues: int = 0
    index: int = 0
    covered: int | None = None
    confirmed: int = 0

    @property
    def recover_from(self) -> int:
        """The store time from which records must be dispatched again."""
        return min(max(0, min(self.log, self.queues) - _SAFETY_MS), self.index)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Return the checkpoint of a store; a missing or too short one covers nothing."""
    path = folder / CHECKPOINT
    data = path.read_bytes() if path.is_file() else b""
    if len(data) < _TIMES.size:
        return Checkpoint()
    log, queues, index = times = _TIMES.unpack_from(data)
    data = data.ljust(_FILE_BYTES, b"\0")
    *copies, covered = _OURS.unpack_from(data, _OURS_AT)
    (confirmed,) = _CONFIRMED.unpack_from(data, _CONFIRMED_AT)
    return Checkpoint(log, queues, index, covered if tuple(copies) == times and covered > _UNKNOWN else None, confirmed)


def write_checkpoint(folder: Path, checkpoint: Checkpoint, *, if_still: Callable[[], bool] = lambda: True) -> None:
    """Write and sync the checkpoint; what a crash leaves half written shows in the copies of the times.

    `if_still` is asked when the file is open. If it becomes untrue before the file is replaced (`replace_checkpoint`),
    nothing can be written over the new one, by another thread either. Raises StoreFull and OSError.
    """
    _write_if_room(folder / CHECKPOINT, checkpoint, if_still)


def replace_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write and sync a new file in place of the checkpoint; raises StoreFull, and the old one stays."""
    new = folder / f"{NEW_PREFIX}{CHECKPOINT}"
    _write_if_room(new, checkpoint, lambda: True)
    new.rename(folder / CHECKPOINT)
    sync_folder(folder)


def _write_if_room(path: Path, checkpoint: Checkpoint, if_still: Callable[[], bool]) -> None:
    try:
        _write(path, checkpoint, if_still)
    except OSError as error:
        if error.errno in FULL_ERRORS:
            raise StoreFull(path, _FILE_BYTES) from error
        raise


def _write(path: Path, checkpoint: Checkpoint, if_still: Callable[[], bool]) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not if_still():
            return
        if os.fstat(descriptor).st_size != _FILE_BYTES:
            os.truncate(descriptor, _FILE_BYTES)
        times = checkpoint.log, checkpoint.queues, checkpoint.index
        covered = _UNKNOWN if checkpoint.covered is None else checkpoint.covered
        os.pwrite(descriptor, _TIMES.pack(*times), 0)
        os.pwrite(descriptor, _CONFIRMED.pack(checkpoint.confirmed), _CONFIRMED_AT)
        os.pwrite(descriptor, _OURS.pack(*times, covered), _OURS_AT)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)
