"""The data folder is its owner's alone: messages, password hashes and secrets lie in it.

``python -m gateway.private FOLDER`` closes what lies open, as `make up` does at its start.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

UMASK: Final = 0o077
"""For every process of Gantry, whatever it was started with: nobody else reads what it makes."""

# What Gantry makes in its data folder; somebody's own files beside it are not ours to change.
_OURS: Final = (
    "broker", "jobs", "redis", "spark", "beat-schedule*", "gantry.lock", "gantry.sqlite3*", "quickstart.token",
    "secret.key",
)  # fmt: skip
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_private(folder: Path) -> None:
    """Take from group and others what they may with the data folder and all that is Gantry's in it.

    Raises PermissionError when another user owns some of it.
    """
    _take(str(folder), folder.lstat().st_mode)
    for pattern in _OURS:
        for path in folder.glob(pattern):
            _take(str(path), path.lstat().st_mode)
            if path.is_dir() and not path.is_symlink():
                for each in _below(str(path)):
                    _take(each.path, each.stat(follow_symlinks=False).st_mode)


def _below(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for each in entries:
            yield each
            if each.is_dir(follow_symlinks=False):
                yield from _below(each.path)


def _take(path: str, mode: int) -> None:
    if mode & _OTHERS and not stat.S_ISLNK(mode):
        os.chmod(path, stat.S_IMODE(mode) & ~_OTHERS)  # noqa: PTH101 - tens of thousands of files in a large store


if __name__ == "__main__":
    make_private(Path(sys.argv[1]))
