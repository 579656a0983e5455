"""The mark of an open store; if it exists when a store is opened, the store was not closed (store/README.md#abort).

::

    4711                                      the process
    6d3a1b0e-…                                what Linux calls this run of the machine; missing if data may be lost

A killed process loses nothing of what it wrote: the system has it, as long as the machine runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from broker_core.store.errors import StoreFull
from broker_core.store.layout import ABORT
from broker_core.store.mapped_file import sync_folder
from broker_core.store.replacing import replace_file

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def is_set(folder: Path) -> bool:
    """Return whether the last writer stopped without closing the store."""
    return (folder / ABORT).exists()


def tells_power_loss(folder: Path) -> bool:
    """Return whether the last writer may have lost what it wrote: it did not close, and this machine ran anew since.

    So it is if the mark names no run: a flush had failed, an earlier loss was not told yet, or another broker set it.
    """
    if not is_set(folder):
        return False
    boot_id = _boot_id()
    return boot_id is None or boot_id not in (folder / ABORT).read_text(encoding="ascii", errors="replace").split()


def set_mark(folder: Path, *, is_lossy: bool = False) -> None:
    """Write the mark, with process and run of the machine, and sync it.

    `is_lossy` leaves the run out: the store counts as one that lost data until it is closed, or the mark set anew. On a
    full disk a mark that is there tells the same as before, or that data may be lost. Raises StoreFull without one.
    """
    boot_id = None if is_lossy else _boot_id()
    try:
        replace_file(folder / ABORT, f"{os.getpid()}\n{boot_id or ''}\n".encode("ascii"))
    except StoreFull:
        # With one the store counts as open, which is enough: it can be read on a full disk, and reduced in size.
        if not is_set(folder):
            raise
        if is_lossy:
            os.truncate(folder / ABORT, 0)


def clear(folder: Path) -> None:
    """Remove the mark: everything is closed and on the disk."""
    (folder / ABORT).unlink(missing_ok=True)
    sync_folder(folder)


def _boot_id() -> str | None:
    """Return what identifies this run of the machine; None where the system does not tell."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip() or None
    except FileNotFoundError:
        return None
