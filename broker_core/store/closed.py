"""The file written by a clean stop: the end of each queue, so that the next open need not search for it.

It also reveals queues and index files that were removed in the meantime. Apache RocketMQ continues after the newest
message that any queue knows, so there a removed queue is not rebuilt (store/README.md#dispatch). The file is valid only
until another process closes the store, which rewrites the checkpoint.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker_core.store.consume_queue import ClosedQueue, ConsumeQueue
from broker_core.store.errors import StoreFull
from broker_core.store.layout import CHECKPOINT
from broker_core.store.replacing import replace_file

NAME: Final = "closed"
NO_END: Final = -1


@dataclass(frozen=True, slots=True)
class CleanClose:
    """Queues by topic and queue id, the beginning of the log, and the names of the index files, oldest first."""

    log_begin: int = -1
    spans: Mapping[tuple[str, int], ClosedQueue] = field(default_factory=dict)
    index_files: Sequence[str] = ()


def write(
    folder: Path, queues: Iterable[ConsumeQueue], *, log_begin: int, log_end: int, index_files: Sequence[str]
) -> bool:
    """Write what a store has after its last checkpoint, and sync it; return whether the disk had room for that."""
    spans = {f"{queue.topic}/{queue.queue_id}": queue.span for queue in queues if queue.max_offset}
    tree = {
        "checkpoint": _written_at(folder),
        "log_begin": log_begin,
        "log_end": log_end,
        "queues": spans,
        "index": index_files,
    }
    try:
        replace_file(folder / NAME, json.dumps(tree, separators=(",", ":")).encode("utf-8"))
    except StoreFull:
        forget(folder)
        return False
    return True


def end_told(folder: Path) -> int | None:
    """Return where the log ended at the last clean stop of this broker; None if nothing tells, as in earlier files."""
    try:
        return int(json.loads((folder / NAME).read_bytes())["log_end"])
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def is_there(folder: Path) -> bool:
    """Return whether there is a file, whatever is in it."""
    return (folder / NAME).exists()


def note_other(folder: Path) -> int:
    """Note for good that another broker closed the store; return the end that this tells. Raises StoreFull."""
    replace_file(folder / NAME, json.dumps({"log_end": NO_END}).encode("utf-8"))
    return NO_END


def read(folder: Path) -> CleanClose:
    """Return the data of the last clean stop; nothing if there is no file, or it is out of date.

    It only saves time: without it the store opens normally.
    """
    try:
        tree = json.loads((folder / NAME).read_bytes())
        if tree["checkpoint"] != _written_at(folder):
            return CleanClose()
        spans = dict(_known(name, span) for name, span in tree["queues"].items())
        return CleanClose(int(tree["log_begin"]), spans, [str(name) for name in tree.get("index", ())])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return CleanClose()


def find_short(closed: CleanClose, queues: Mapping[tuple[str, int], ConsumeQueue]) -> list[tuple[str, int]]:
    """Return topic and queue id of each queue that has fewer units than when the store was closed."""
    return [key for key, span in closed.spans.items() if _is_short(queues.get(key), span)]


def _known(name: str, span: list[int]) -> tuple[tuple[str, int], ClosedQueue]:
    topic, _, queue_id = name.rpartition("/")
    first_kept, end, min_offset, max_physical = map(int, span)
    return (topic, int(queue_id)), ClosedQueue(first_kept, end, min_offset, max_physical)


def _is_short(queue: ConsumeQueue | None, span: ClosedQueue) -> bool:
    return queue is None or queue.first_kept > span.first_kept or queue.max_offset < span.end


def forget(folder: Path) -> None:
    """Remove the file: from now on the store changes."""
    (folder / NAME).unlink(missing_ok=True)


def _written_at(folder: Path) -> list[int]:
    """Return when the checkpoint was written, in ns, and a checksum of it.

    Apache RocketMQ writes it through a map, of which a file system in memory notes no time.
    """
    path = folder / CHECKPOINT
    return [path.stat().st_mtime_ns, zlib.crc32(path.read_bytes())]
