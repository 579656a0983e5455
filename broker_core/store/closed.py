"""The file that a good stop leaves: where each queue ended, so that the next open need not search for it.

It also shows which queue somebody removed meanwhile. Apache RocketMQ goes on behind the newest message that any
queue knows, so a single queue that is gone stays gone there (store/README.md#dispatch). The file counts only as long as
nobody else closed the store since: whoever does writes the checkpoint anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker_core.store.consume_queue import ConsumeQueue, Span
from broker_core.store.layout import CHECKPOINT
from broker_core.store.mapped_file import FULL_ERRORS

NAME: Final = "closed"


@dataclass(frozen=True, slots=True)
class Closed:
    """Queues by topic and queue id, and where the log began."""

    log_begin: int = -1
    spans: Mapping[tuple[str, int], Span] = field(default_factory=dict)


def write(folder: Path, queues: Iterable[ConsumeQueue], *, log_begin: int) -> None:
    """Write down the queues of a store whose checkpoint was written for the last time; a full disk goes without."""
    spans = {f"{queue.topic}/{queue.queue_id}": queue.span for queue in queues if queue.max_offset}
    tree = {"checkpoint": _written_at(folder), "log_begin": log_begin, "queues": spans}
    text = json.dumps(tree, separators=(",", ":"))
    try:
        (folder / NAME).write_text(text, encoding="utf-8")
    except OSError as error:
        forget(folder)
        if error.errno not in FULL_ERRORS:
            raise


def read(folder: Path) -> Closed:
    """Return what the last good stop left; nothing if there is no file, or it is out of date.

    It is a help and not the truth: without it the store opens as any other.
    """
    try:
        tree = json.loads((folder / NAME).read_bytes())
        if tree["checkpoint"] != _written_at(folder):
            return Closed()
        spans = dict(_known(name, span) for name, span in tree["queues"].items())
        return Closed(int(tree["log_begin"]), spans)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Closed()


def find_short(closed: Closed, queues: Mapping[tuple[str, int], ConsumeQueue]) -> list[tuple[str, int]]:
    """Return topic and queue id of each queue that has fewer units than it had when the store was closed."""
    return [key for key, span in closed.spans.items() if _is_short(queues.get(key), span)]


def _known(name: str, span: list[int]) -> tuple[tuple[str, int], Span]:
    topic, _, queue_id = name.rpartition("/")
    first_kept, end, min_offset, max_physical = map(int, span)
    return (topic, int(queue_id)), Span(first_kept, end, min_offset, max_physical)


def _is_short(queue: ConsumeQueue | None, span: Span) -> bool:
    return queue is None or queue.first_kept > span.first_kept or queue.max_offset < span.end


def forget(folder: Path) -> None:
    """Remove the file: from now on the store changes."""
    (folder / NAME).unlink(missing_ok=True)


def _written_at(folder: Path) -> int:
    """Return when the checkpoint was written, in ns."""
    return (folder / CHECKPOINT).stat().st_mtime_ns
