"""The file that names the messages a replay did not copy (spark/README.md#job-folder)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from broker_core.job_folder import JobFolder
from broker_core.spark.checkpoint import LeftOut

FILE: Final = "failures.jsonl"
MOST: Final = 100_000
"""The file names at most so many; all are counted."""
_MOST_WAITING: Final = 10_000
"""So many are kept in memory until the next checkpoint is written, and no more."""


class LeftOutFile:
    """Names each message once over all runs of a job, in the order in which they were met; thread-safe."""

    def __init__(self, folder: JobFolder, is_passed: Callable[[LeftOut], bool]) -> None:
        """Continue the file of earlier runs, without messages that no checkpoint has passed: they are read again."""
        self._folder, self._lock = folder, threading.Lock()
        self._waiting: list[LeftOut] = []
        known = list(folder.lines(FILE, LeftOut))
        passed = [each for each in known if is_passed(each)]
        if len(passed) < len(known):
            folder.replace_lines(FILE, passed)
        self.count = len(passed)
        """How many it names."""

    def add(self, messages: Sequence[LeftOut]) -> None:
        """Take messages for the file; `flush` writes them."""
        with self._lock:
            room = MOST - self.count - len(self._waiting)
            self._waiting += messages[:room]
            if len(self._waiting) >= _MOST_WAITING:
                self._write()

    def flush(self) -> None:
        """Write what was added: it is on disk when this returns, so that a checkpoint may count it."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        if self._waiting:
            self._folder.append_lines(FILE, self._waiting)
            self.count += len(self._waiting)
            self._waiting = []

    def first(self, kind: str, most: int) -> list[LeftOut]:
        """Return the first messages of one kind in the file."""
        return list(islice((each for each in self._folder.lines(FILE, LeftOut) if each.kind == kind), most))
