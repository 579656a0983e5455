"""Replaces a small file as a whole: whoever reads it finds the old content or the new one, after a crash as well."""

from __future__ import annotations

import os
from pathlib import Path

from broker_core.store.errors import StoreFull
from broker_core.store.layout import NEW_PREFIX
from broker_core.store.mapped_file import FULL_ERRORS, sync_folder


def replace_file(path: Path, data: bytes) -> None:
    """Give a file this content, which is on the disk when this returns.

    Raises StoreFull if the disk has no room for it, and the old file stays; OSError for what else a disk does.
    """
    beside = path.with_name(f"{NEW_PREFIX}{path.name}")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        if error.errno in FULL_ERRORS:
            raise StoreFull(path, len(data)) from error
        raise
