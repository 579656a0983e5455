"""Where the messages of purged queues begin (store/README.md#purge).

A purge names the log offset before which the messages of a queue are gone. Records of a queue lie in the log in the
order of their queue offsets, so this stays right when the queue is rebuilt, and says nothing about a topic of the same
name that is created later: its records come after that place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from broker_core.store.errors import Corrupt
from broker_core.store.layout import NEW_PREFIX, PURGED
from broker_core.store.mapped_file import sync_folder

Purged = Mapping[tuple[str, int], int]
"""Topic and queue id → the log offset before which its messages are purged."""

_SCRATCH: Final = f"{NEW_PREFIX}{PURGED}"


def read(folder: Path) -> dict[tuple[str, int], int]:
    """Return what was purged of a store; raise Corrupt for a file that this module did not write."""
    try:
        tree = json.loads((folder / PURGED).read_bytes())
        return {(topic, int(queue_id)): int(at) for topic, queues in tree.items() for queue_id, at in queues.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise Corrupt(folder / PURGED, f"it does not say what was purged: {error}") from error


def write(folder: Path, purged: Purged) -> None:
    """Replace the file; its new content is on the disk when this returns. Raises OSError, and the old one stays."""
    tree: dict[str, dict[str, int]] = {}
    for (topic, queue_id), at in sorted(purged.items()):
        tree.setdefault(topic, {})[str(queue_id)] = at
    beside = folder / _SCRATCH
    with beside.open("w", encoding="utf-8") as file:
        json.dump(tree, file, separators=(",", ":"))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / PURGED)
    sync_folder(folder)
