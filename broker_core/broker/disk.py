"""Flushing to the disk: in a Python thread, or in the compiled thread, which needs no interpreter while it waits.

A Python thread needs the interpreter lock before it can start a flush and again before it can report the result; while
the thread of the loop is busy, each may take milliseconds. The compiled thread starts at once and signals the end
through a file descriptor that the loop watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Protocol

from broker_core.native import native
from broker_core.native.functions import Syncer
from broker_core.store import MessageStore
from broker_core.store.durable import FlushPlan
from broker_core.store.errors import FlushFailed

Done = Callable[[BaseException | None], None]
"""Called on the loop when a flush has ended, with its error or None."""


class Disk(Protocol):
    """Flushes appended data to the disk; one flush at a time."""

    def flush(self, done: Done) -> None:
        """Start a flush of everything appended so far."""

    def look(self) -> None:
        """Call `done` now if the flush has ended, rather than in the next turn of the loop."""

    def close(self) -> None:
        """Release threads; no flush may be running."""


class ThreadedDisk:
    """Flushes in a Python thread."""

    def __init__(self, flush: Callable[[], object], executor: Executor) -> None:
        self._flush = flush
        self._executor = executor
        self._loop = asyncio.get_running_loop()

    def flush(self, done: Done) -> None:
        """Start a flush of everything appended so far."""

        def report(flushed: Future[object]) -> None:
            self._loop.call_soon_threadsafe(done, flushed.exception())

        self._executor.submit(self._flush).add_done_callback(report)

    def look(self) -> None:
        """Do nothing: the loop is notified as soon as Python is."""

    def close(self) -> None:
        """Leave the executor to its owner."""


class CompiledDisk:
    """Flushes in the compiled thread; a flush of more than the data of one file is left to a Python thread."""

    def __init__(self, store: MessageStore, syncer: Syncer, otherwise: Disk) -> None:
        self._store = store
        self._syncer = syncer
        self._otherwise = otherwise
        self._loop = asyncio.get_running_loop()
        self._out: tuple[FlushPlan, Done] | None = None
        self._loop.add_reader(syncer.fileno(), self.look)

    def flush(self, done: Done) -> None:
        """Start a flush of everything appended so far."""
        plan = self._store.plan_flush()
        if plan is None:
            self._otherwise.flush(done)
            return
        try:
            self._syncer.begin(plan.path)
        except OSError as error:
            self._loop.call_soon(done, self._store.note_refused(error))
            return
        self._out = plan, done

    def look(self) -> None:
        """Call `done` now if the flush has ended."""
        if self._out is None or not self._syncer.is_done():
            return
        plan, done = self._out
        self._out = None
        failure: BaseException | None = None
        try:
            self._store.note_flushed(plan, self._syncer.end())
        except OSError as error:
            failure = self._store.note_refused(error)
        except FlushFailed as error:
            failure = error
        done(failure)

    def close(self) -> None:
        """End the compiled thread."""
        self._loop.remove_reader(self._syncer.fileno())
        self._syncer.close()
        self._otherwise.close()


def disk_of(store: MessageStore, executor: Executor) -> Disk:
    """Return the way to flush `store`; `executor` has one thread."""
    threaded = ThreadedDisk(store.flush, executor)
    return CompiledDisk(store, native.Syncer(), threaded) if native else threaded
