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
from broker_core.store.layout import CHECKPOINT
from broker_core.store.mapped_file import FULL_ERRORS

NAME: Final = "closed"


@dataclass(frozen=True, slots=True)
class CleanClose:
    """Queues by topic and queue id, the beginning of the log, and the names of the index files, oldest first."""

    log_begin: int = -1
    spans: Mapping[tuple[str, int], ClosedQueue] = field(default_factory=dict)
    index_files: Sequence[str] = ()


def write(folder: Path, queues: Iterable[ConsumeQueue], *, log_begin: int, index_files: Sequence[str]) -> None:
    """Write what a store has after its last checkpoint; on a full disk nothing is written."""
    spans = {f"{queue.topic}/{queue.queue_id}": queue.span for queue in queues if queue.max_offset}
    tree = {"checkpoint": _written_at(folder), "log_begin": log_begin, "queues": spans, "index": index_files}
    text = json.dumps(tree, separators=(",", ":"))
    try:
        (folder / NAME).write_text(text, encoding="utf-8")
    except OSError as error:
        forget(folder)
        if error.errno not in FULL_ERRORS:
            raise


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
