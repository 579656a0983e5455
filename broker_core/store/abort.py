"""The mark of an open store; if it exists when a store is opened, the store was not closed (store/README.md#abort)."""

from __future__ import annotations

import os
from pathlib import Path

from broker_core.store.layout import ABORT
from broker_core.store.mapped_file import FULL_ERRORS, sync_folder


def is_set(folder: Path) -> bool:
    """Return whether the last writer stopped without closing the store."""
    return (folder / ABORT).exists()


def set_mark(folder: Path) -> None:
    """Write the mark, with the process id if the disk has room for it, and sync it."""
    try:
        (folder / ABORT).write_text(f"{os.getpid()}\n", encoding="ascii")
    except OSError as error:
        # The file exists, which is enough: a store on a full disk can be opened, read and reduced in size.
        if error.errno not in FULL_ERRORS or not is_set(folder):
            raise
    sync_folder(folder)


def clear(folder: Path) -> None:
    """Remove the mark: everything is closed and on the disk."""
    (folder / ABORT).unlink(missing_ok=True)
    sync_folder(folder)
