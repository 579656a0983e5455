"""The mark of an open store; a store that has it when it is opened was not closed (store/README.md#abort)."""

from __future__ import annotations

import os
from pathlib import Path

from broker_core.store.layout import ABORT
from broker_core.store.mapped_file import FULL_ERRORS, sync_folder


def is_set(folder: Path) -> bool:
    """Say whether the last writer stopped without closing the store."""
    return (folder / ABORT).exists()


def set_mark(folder: Path) -> None:
    """Write the mark, with the process id if the disk has room for it, and wait until it is on the disk."""
    try:
        (folder / ABORT).write_text(f"{os.getpid()}\n", encoding="ascii")
    except OSError as error:
        # The file is there, and that is what counts: a store on a full disk can be opened, read and made smaller.
        if error.errno not in FULL_ERRORS or not is_set(folder):
            raise
    sync_folder(folder)


def clear(folder: Path) -> None:
    """Remove the mark: everything is closed and on the disk."""
    (folder / ABORT).unlink(missing_ok=True)
    sync_folder(folder)
