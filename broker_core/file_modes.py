"""Whether other users of the machine can read a file."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path


def open_to_others(files: Iterable[Path]) -> list[Path]:
    """Return those of the files that every user can read; one that is not there is none."""
    return [file for file in files if file.exists() and file.stat().st_mode & stat.S_IROTH]
