"""Who waits for the disk: a thread of Python's, or the compiled one that needs no interpreter for it.

A thread of Python's must have the interpreter before it can ask the disk, and again before it can report the result;
while the loop's thread is at work that may be milliseconds later, each time. The compiled one begins at once, and the
loop hears of its end like of a socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Protocol

from broker_core.native import native
from broker_core.native.functions import Syncer
from broker_core.store import MessageStore
from broker_core.store.message_store import FlushPlan

Done = Callable[[BaseException | None], None]
"""Called on the loop when a flush is over, with what went wrong."""


class Disk(Protocol):
    """Brings to the disk what was appended; one flush at a time."""

    def flush(self, done: Done) -> None:
        """Begin a flush of everything there is."""

    def look(self) -> None:
        """Call `done` now if the flush is over, rather than in the next turn of the loop."""

    def close(self) -> None:
        """Let go of threads; no flush is under way."""


class ThreadedDisk:
    """Flushes in a thread of Python's."""

    def __init__(self, flush: Callable[[], object], executor: Executor) -> None:
        self._flush = flush
        self._executor = executor
        self._loop = asyncio.get_running_loop()

    def flush(self, done: Done) -> None:
        """Begin a flush of everything there is."""

        def report(flushed: Future[object]) -> None:
            self._loop.call_soon_threadsafe(done, flushed.exception())

        self._executor.submit(self._flush).add_done_callback(report)

    def look(self) -> None:
        """Do nothing: the loop hears of it as soon as Python does."""

    def close(self) -> None:
        """Leave the executor to its owner."""


class CompiledDisk:
    """Flushes in the compiled thread; what is more than the data of one file it leaves to Python's."""

    def __init__(self, store: MessageStore, syncer: Syncer, otherwise: Disk) -> None:
        self._store = store
        self._syncer = syncer
        self._otherwise = otherwise
        self._loop = asyncio.get_running_loop()
        self._out: tuple[FlushPlan, Done] | None = None
        self._loop.add_reader(syncer.fileno(), self.look)

    def flush(self, done: Done) -> None:
        """Begin a flush of everything there is."""
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
        """Call `done` now if the flush is over."""
        if self._out is None or not self._syncer.is_done():
            return
        plan, done = self._out
        self._out = None
        try:
            self._store.note_flushed(plan, self._syncer.end())
        except OSError as error:
            done(self._store.note_refused(error))
        else:
            done(None)

    def close(self) -> None:
        """End the compiled thread."""
        self._loop.remove_reader(self._syncer.fileno())
        self._syncer.close()
        self._otherwise.close()


def disk_of(store: MessageStore, executor: Executor) -> Disk:
    """Return who waits for the disk of `store`; `executor` has one thread."""
    threaded = ThreadedDisk(store.flush, executor)
    return CompiledDisk(store, native.Syncer(), threaded) if native else threaded
