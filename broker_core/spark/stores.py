"""The open stores of a worker, kept between tasks (spark/README.md#what-a-worker-keeps)."""

from __future__ import annotations

import json
import mmap
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from broker_core.spark.errors import StoreUnreadable
from broker_core.store.columns import Ints
from broker_core.store.errors import StoreError
from broker_core.store.layout import COMMIT_LOG, queue_folder
from broker_core.store.reader import StoreReader

_MOST_OPEN: Final = 4
_POPULATE_READ: Final = 22

# The kernel's clock for files advances in steps of some ms.
_CLOCK_STEP_NS: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open store, and the identity of its folder."""

    store: StoreReader
    folder: tuple[int, int]
    """Device and inode of the folder of its log."""
    at_ns: int

    def is_still(self, root: Path, topic: str, queue_id: int) -> bool:
        """Return whether the same files are still there: a folder may be replaced under its name."""
        log, queue = root / COMMIT_LOG, queue_folder(root, topic, queue_id)
        try:
            stats = [folder.stat() for folder in (log, queue)]
        except OSError:
            return False
        # A folder's times change with the names in it, but not when its files are written.
        newest = max(stat.st_ctime_ns for stat in stats)
        return (stats[0].st_dev, stats[0].st_ino) == self.folder and newest < self.at_ns - _CLOCK_STEP_NS


# Global, because each task of this worker creates a new reader.
_open: OrderedDict[Path, _Opened] = OrderedDict()


def open_store(root: Path) -> StoreReader:
    """Return the store in its current state; raise StoreUnreadable if the folder has no readable store."""
    return _open_now(root).store


def _open_now(root: Path) -> _Opened:
    try:
        at_ns, stat = time.time_ns(), (root / COMMIT_LOG).stat()
        return _Opened(StoreReader.open(root, spare_index=True), (stat.st_dev, stat.st_ino), at_ns)
    except FileNotFoundError as error:
        raise StoreUnreadable(f"store {root}: it is not a store: there is no folder {COMMIT_LOG}") from error
    except (StoreError, OSError) as error:
        raise StoreUnreadable(f"store {root}: {error}") from error


def open_store_with(root: Path, topic: str, queue_id: int, end: int) -> StoreReader:
    """Return the store, opened after the queue reached `end`; the cached one if it is new enough."""
    kept = _open.get(root)
    if kept is None or not kept.is_still(root, topic, queue_id) or kept.store.range(topic, queue_id)[1] < end:
        # The previous store is not closed: batches that refer to its mappings may still be in use.
        kept = _open[root] = _open_now(root)
    _open.move_to_end(root)
    while len(_open) > _MOST_OPEN:
        _open.popitem(last=False)
    return kept.store


def topics_of(store: StoreReader) -> set[str]:
    """Return the topics that have messages or are in the broker's configuration."""
    return {topic for topic, _ in store.queues()} | set(_configured(store))


def queues_of(store: StoreReader, topic: str) -> set[int]:
    """Return the queues of a topic that have messages or are in the broker's configuration."""
    configured = _configured(store).get(topic, 0)
    return {queue_id for _, queue_id in store.queues(topic)} | set(range(configured))


def _configured(store: StoreReader) -> dict[str, int]:
    """Return the number of read queues of each topic in the broker's configuration."""
    try:
        content = json.loads((store.config.folder / "config" / "topics.json").read_bytes())
        return {topic: config.get("readQueueNums", 0) for topic, config in content["topicConfigTable"].items()}
    except (OSError, ValueError, KeyError):
        return {}


def record_sizes(store: StoreReader, units: NDArray[Any]) -> Ints:
    """Return the bytes of the records that units name; 0 for a unit that by its size names none."""
    sizes = units["size"].astype(np.int64)
    # A filler states 2 GiB, and so may a damaged unit.
    return np.where((sizes > 0) & (sizes <= store.segment_size), sizes, 0)


def populate(view: memoryview, begin: int, end: int) -> None:
    """Load a range of a mapping into memory at once, if the kernel supports it."""
    mapping = view.obj
    if isinstance(mapping, mmap.mmap):
        aligned = begin - begin % mmap.PAGESIZE
        with suppress(OSError):
            mapping.madvise(_POPULATE_READ, aligned, min(end, len(mapping)) - aligned)
