"""The stores that a worker has open: kept from task to task, since opening and first touches cost (spark.md 2.5)."""

from __future__ import annotations

import json
import mmap
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from typing import Final

from broker_core.spark.errors import StoreUnreadable
from broker_core.store.errors import StoreError
from broker_core.store.reader import StoreReader

_MOST_OPEN: Final = 4
_POPULATE_READ: Final = 22

_open: OrderedDict[Path, StoreReader] = OrderedDict()


def open_store(root: Path) -> StoreReader:
    """Return the store as it is now; raise StoreUnreadable if the folder holds none that can be read."""
    try:
        return StoreReader.open(root)
    except (StoreError, OSError) as error:
        raise StoreUnreadable(f"store {root}: {error}") from error


def open_store_with(root: Path, topic: str, queue_id: int, end: int) -> StoreReader:
    """Return the store, opened at a time when the queue reached `end`; the kept one if it is new enough."""
    kept = _open.get(root)
    if kept is None or kept.range(topic, queue_id)[1] < end:
        # The one before is not closed: batches that still lie in its mappings may be on their way.
        kept = _open[root] = open_store(root)
    _open.move_to_end(root)
    while len(_open) > _MOST_OPEN:
        _open.popitem(last=False)
    return kept


def topics_of(store: StoreReader) -> set[str]:
    """Return the topics that have messages or that the broker's configuration names."""
    with_messages = {topic for topic, _ in store.queues()}
    try:
        configured = json.loads((store.config.folder / "config" / "topics.json").read_bytes())["topicConfigTable"]
    except (OSError, ValueError, KeyError):
        return with_messages
    return with_messages | set(configured)


def populate(view: memoryview, begin: int, end: int) -> None:
    """Bring a span of a mapping into memory in one go, where the kernel can."""
    mapping = view.obj
    if isinstance(mapping, mmap.mmap):
        aligned = begin - begin % mmap.PAGESIZE
        with suppress(OSError):
            mapping.madvise(_POPULATE_READ, aligned, min(end, len(mapping)) - aligned)
