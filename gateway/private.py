"""Keeps the data folder private to its owner: it contains messages, password hashes and secrets.

``python -m gateway.private FOLDER`` removes the access of other users, as `make up` does at its start.
"""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

UMASK: Final = 0o077
"""Set by every process of Gantry, so that other users cannot read the files that it creates."""

# What Gantry creates in its data folder; other files there stay unchanged.
_OURS: Final = (
    "broker", "broker-?", "cache", "jobs", "namesrv", "redis", "spark", "beat-schedule*", "changes.lock", "gantry.lock",
    "gantry.sqlite3*", "quickstart.token", "secret.key", "tools.yml",
)  # fmt: skip
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def make_private(folder: Path) -> None:
    """Remove all permissions of group and others from the data folder and from Gantry's files in it.

    Raises PermissionError if another user owns one of them.
    """
    _restrict(str(folder), folder.lstat().st_mode)
    for pattern in _OURS:
        for path in folder.glob(pattern):
            _restrict(str(path), path.lstat().st_mode)
            if path.is_dir() and not path.is_symlink():
                for each in _below(str(path)):
                    _restrict(each.path, each.stat(follow_symlinks=False).st_mode)


def _below(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for each in entries:
            yield each
            if each.is_dir(follow_symlinks=False):
                yield from _below(each.path)


def _restrict(path: str, mode: int) -> None:
    if mode & _OTHERS and not stat.S_ISLNK(mode):
        os.chmod(path, stat.S_IMODE(mode) & ~_OTHERS)  # noqa: PTH101 - tens of thousands of files in a large store


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Remove the access of other users to a data folder.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    make_private(parser.parse_args().folder)
