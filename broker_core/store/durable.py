"""How far a log is on the disk, and what brings it there (store/README.md#flush).

A second thread may flush while the first one appends; the interpreter lock is released while it waits for the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from broker_core.protocol.message import LogOffset
from broker_core.store import abort
from broker_core.store.appender import Appender
from broker_core.store.commit_log import CommitLog
from broker_core.store.errors import FlushFailed, StoreFull


class FlushedUpTo(NamedTuple):
    """How far the log is durable: the log offset, and the store time (ms) of the last record before it."""

    log_offset: LogOffset
    store_timestamp: int


class Durable:
    """How far one state of the log is durable. A cut makes another: a flush that began before it moves the old one."""

    __slots__ = ("upto",)

    def __init__(self, upto: FlushedUpTo) -> None:
        self.upto = upto

    def reach(self, upto: FlushedUpTo) -> None:
        """Record that the log is durable up to there; another thread may have recorded more."""
        if upto.log_offset > self.upto.log_offset:
            self.upto = upto


class FlushPlan(NamedTuple):
    """The file whose data a flush waits for, and how far which state of the log is durable then."""

    path: Path
    upto: FlushedUpTo
    durable: Durable


class Flusher:
    """Flushes one log; once that has failed it never tries again."""

    def __init__(self, log: CommitLog, appender: Appender, folder: Path, refuse: Callable[[FlushFailed], None]) -> None:
        """`refuse` is called when a flush has failed: the store is to accept nothing more."""
        self._log = log
        self._appender = appender
        self._folder = folder
        self._refuse = refuse
        self._failed: FlushFailed | None = None
        self.durable = Durable(FlushedUpTo(LogOffset(log.begin), 0))
        self.took_ns = 0
        """How long the last flush with data took."""

    def flush(self) -> FlushedUpTo:
        """Wait until everything appended so far is on the disk; see `MessageStore.flush`."""
        self._check()
        durable = self.durable
        # The time first: it may be older than the end, but never newer.
        stored = self._appender.store_time
        end = self._log.end
        if end > durable.upto.log_offset:
            self.took_ns = self._sync(durable.upto.log_offset)
            self._check()  # the other thread may have seen the error of the same pages
            durable.reach(FlushedUpTo(LogOffset(end), stored))
        return durable.upto

    def plan(self) -> FlushPlan | None:
        """Return what `flush` would wait for; see `MessageStore.plan_flush`."""
        if self._failed is not None:
            return None
        end, begin = self._log.end, self.durable.upto.log_offset
        if end <= begin or not self._log.files.is_named or (file := self._log.files.only_from(begin)) is None:
            return None
        return FlushPlan(file.path, FlushedUpTo(LogOffset(end), self._appender.store_time), self.durable)

    def note_done(self, plan: FlushPlan, took_ns: int) -> None:
        """Record that a plan is on the disk; raises FlushFailed if another flush has failed in the meantime."""
        self.took_ns = took_ns
        self._check()
        plan.durable.reach(plan.upto)

    def note_failed(self, error: OSError) -> FlushFailed:
        """Record that a flush failed, and return the error to raise."""
        self._failed = failed = FlushFailed(f"{self._folder}: {error}")
        self._refuse(failed)
        try:
            abort.set_mark(self._folder, is_lossy=True)
        except (OSError, StoreFull) as worse:
            failed.add_note(f"the mark that says so could not be written: {worse}")
        return failed

    def lower(self, end: int, store_time: int) -> None:
        """Let nothing behind `end` count as durable: it is dropped, and other bytes may come to its place."""
        upto = self.durable.upto
        flushed = FlushedUpTo(min(upto.log_offset, LogOffset(end)), min(upto.store_timestamp, store_time))
        self.durable = Durable(flushed)

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _sync(self, begin: int) -> int:
        try:
            return self._log.files.sync(begin)
        except OSError as error:
            raise self.note_failed(error) from error
