"""What a good stop left, so that the next open notices a queue that somebody removed meanwhile.

Apache RocketMQ goes on behind the newest message that any queue knows, so a single queue that is gone stays gone there
(store-format.md 5.1). The file says where the units of each queue began and ended. It counts only as long as nobody
else closed the store since: whoever does writes the checkpoint anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.layout import CHECKPOINT
from broker_core.store.mapped_file import FULL_ERRORS

NAME: Final = "closed"


def write(folder: Path, queues: Iterable[ConsumeQueue]) -> None:
    """Write down the queues of a store whose checkpoint was written for the last time; a full disk goes without."""
    spans = {
        f"{queue.topic}/{queue.queue_id}": [queue.first_kept, queue.max_offset] for queue in queues if queue.max_offset
    }
    text = json.dumps({"checkpoint": _written_at(folder), "queues": spans}, separators=(",", ":"))
    try:
        (folder / NAME).write_text(text, encoding="utf-8")
    except OSError as error:
        forget(folder)
        if error.errno not in FULL_ERRORS:
            raise


def find_short(folder: Path, queues: Mapping[tuple[str, int], ConsumeQueue]) -> list[tuple[str, int]]:
    """Return topic and queue id of each queue that has fewer units than it had when the store was closed."""
    try:
        tree = json.loads((folder / NAME).read_bytes())
        if tree["checkpoint"] != _written_at(folder):
            return []
        known = [_known(name, span) for name, span in tree["queues"].items()]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # It is a help and not the truth: without it the store opens as any other.
        return []
    return [key for key, begin, end in known if _is_short(queues.get(key), begin, end)]


def _known(name: str, span: list[int]) -> tuple[tuple[str, int], int, int]:
    topic, _, queue_id = name.rpartition("/")
    begin, end = span
    return (topic, int(queue_id)), int(begin), int(end)


def _is_short(queue: ConsumeQueue | None, begin: int, end: int) -> bool:
    return queue is None or queue.first_kept > begin or queue.max_offset < end


def forget(folder: Path) -> None:
    """Remove the file: from now on the store changes."""
    (folder / NAME).unlink(missing_ok=True)


def _written_at(folder: Path) -> int:
    """Return when the checkpoint was written, in ns."""
    return (folder / CHECKPOINT).stat().st_mtime_ns
