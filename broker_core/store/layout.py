"""Names and paths of all files of a store (store/README.md#files).

::

    ROOT/commitlog/<20 digits>                          segments, each named by its first log offset
    ROOT/consumequeue/<topic>/<queue id>/<20 digits>    units of one queue, named by the first byte's position
    ROOT/consumequeue_ext/<topic>/<queue id>/<20 digits>   what a queue keeps beside its units, if it is extended
    ROOT/index/<17 digits>                              hash files, named by their time of creation
    ROOT/checkpoint  ROOT/abort  ROOT/lock  ROOT/purged  ROOT/epochFileCheckpoint
    ROOT/new-<n>                                        a file being created; renamed when it has its full length
    ROOT/gone-<n>                                       the folder of a deleted topic, while its files are removed
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

COMMIT_LOG: Final = "commitlog"
CONSUME_QUEUE: Final = "consumequeue"
EXTENSION: Final = "consumequeue_ext"
INDEX: Final = "index"
CHECKPOINT: Final = "checkpoint"
ABORT: Final = "abort"
LOCK: Final = "lock"
PURGED: Final = "purged"
EPOCHS: Final = "epochFileCheckpoint"
NEW_PREFIX: Final = "new-"
GONE_PREFIX: Final = "gone-"

UNIT_BYTES: Final = 20
LATEST_MS: Final = 253_370_764_800_000  # the beginning of the year 9999 in the earliest time zone

_MAX_NAME_BYTES: Final = 255
_SEGMENT: Final = re.compile(r"\d{20}")
_INDEX: Final = re.compile(r"\d{17}")


def segment_name(offset: int) -> str:
    """Return the name of the file whose first byte is at `offset`."""
    return f"{offset:020d}"


def segment_files(folder: Path) -> list[Path]:
    """Return the segments in `folder` in order; files with other names are ignored."""
    return [path for path, _ in sized_segments(folder)]


def sized_segments(folder: Path) -> list[tuple[Path, int]]:
    """Return the segments in `folder` in order, each with its size in bytes; files with other names are ignored."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.name, entry.stat().st_size) for entry in entries if _SEGMENT.fullmatch(entry.name))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [(folder / name, size) for name, size in found]


def index_files(folder: Path) -> list[Path]:
    """Return the index files in `folder`, oldest first; files with other names are ignored."""
    return _matching(folder, _INDEX)


def index_name(now: int) -> str:
    """Return the name of an index file created at `now` (ms): local time, yyyyMMddHHmmssSSS.

    A time outside the calendar, from a damaged record, gets the nearest possible name.
    """
    now = min(max(now, 0), LATEST_MS)
    moment = datetime.fromtimestamp(now / 1000).astimezone()
    return f"{moment:%Y%m%d%H%M%S}{now % 1000:03d}"


def queue_folders(root: Path, kind: str = CONSUME_QUEUE) -> Iterator[tuple[str, int, Path]]:
    """Yield topic, queue id and folder of each consume queue, or each extension; other folders are ignored."""
    for topic in _subfolders(root / kind):
        for queue in _subfolders(topic):
            if queue.name.isdecimal():
                yield topic.name, int(queue.name), queue


def count_files(root: Path) -> int:
    """Return how many files an open store keeps open."""
    queues = sum(len(segment_files(folder)) for _, _, folder in queue_folders(root))
    queues += sum(len(segment_files(folder)) for _, _, folder in queue_folders(root, EXTENSION))
    return queues + len(segment_files(root / COMMIT_LOG)) + len(index_files(root / INDEX))


def queue_folder(root: Path, topic: str, queue_id: int) -> Path:
    """Return the folder of one consume queue."""
    return root / CONSUME_QUEUE / topic / str(queue_id)


def extension_folder(root: Path, topic: str, queue_id: int) -> Path:
    """Return the folder of what one queue keeps beside its units."""
    return root / EXTENSION / topic / str(queue_id)


def is_folder_name(topic: str) -> bool:
    """Return whether a topic found in a record can be the name of a folder; other brokers may allow unusual topics."""
    return 0 < len(topic.encode()) <= _MAX_NAME_BYTES and topic not in (".", "..") and not set(topic) & {"/", "\0"}


def _matching(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in names]
