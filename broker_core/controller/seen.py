"""The highest revision of the engine that this controller saw, in `seen.json` (controller/README.md#set-back)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import orjson

from broker_core.errors import GantryError

FILE_NAME: Final = "seen.json"
NOTED_SECONDS: Final = 1.0
"""How often a new revision is written at most; an engine that goes back by less than that shows by its replicas."""


class SeenDamaged(GantryError):
    """Raised for a file that does not hold what this controller saw."""


class Seen:
    """What an earlier run saw. While the engine counts as set back, the file stays as it is."""

    def __init__(self, file: Path) -> None:
        """Read `file` if it is there; raises SeenDamaged."""
        self._file = file
        self._revision, self.is_marked = _read(file)
        self._noted_at = float("-inf")

    @property
    def revision(self) -> int:
        """The highest revision that was noted."""
        return self._revision

    def shows_set_back(self, revision: int) -> bool:
        """Return whether the engine at `revision` may be older than what it told, or an operator said so."""
        return self.is_marked or revision < self._revision

    def note(self, revision: int, now: float) -> None:
        """Note a revision, at most once in `NOTED_SECONDS`; raises OSError. Waits for the disk."""
        if revision > self._revision and now - self._noted_at >= NOTED_SECONDS:
            self._noted_at = now
            self._write(revision, is_marked=self.is_marked)

    def confirm(self, revision: int) -> None:
        """Note that nothing newer than `revision` was told to anybody; raises OSError. Waits for the disk."""
        self._write(revision, is_marked=False)

    def mark(self) -> None:
        """Note that the engine was restored from a copy; raises OSError. Waits for the disk."""
        self._write(self._revision, is_marked=True)

    def _write(self, revision: int, *, is_marked: bool) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        draft = self._file.with_name(self._file.name + ".tmp")
        with draft.open("wb") as opened:
            opened.write(orjson.dumps({"revision": revision, "set_back": is_marked}))
            opened.flush()
            os.fsync(opened.fileno())
        draft.replace(self._file)
        self._revision, self.is_marked = revision, is_marked


def _read(file: Path) -> tuple[int, bool]:
    try:
        tree: Any = orjson.loads(file.read_bytes())
        revision, is_marked = tree["revision"], tree["set_back"]
    except FileNotFoundError:
        return 0, False
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise _damaged(file) from error
    if type(revision) is not int or type(is_marked) is not bool:
        raise _damaged(file)
    return revision, is_marked


def _damaged(file: Path) -> SeenDamaged:
    return SeenDamaged(
        f"{file} does not say which decisions this controller saw: remove it and start once with --set-back"
    )
