"""Waits for the disk: what is on it, and the checkpoint that says so (store/README.md#checkpoint).

A second thread may call `flush` and `checkpoint` while the owner of the store goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from broker_core.protocol.message import LogOffset
from broker_core.store.appender import Appender
from broker_core.store.checkpoint import Checkpoint, read_checkpoint, replace_checkpoint, write_checkpoint
from broker_core.store.cutting import CutPoint, lowered
from broker_core.store.durable import FlushedUpTo, Flusher, FlushPlan
from broker_core.store.errors import FlushFailed
from broker_core.store.recovery import Recovered


class Syncing:
    """Brings an open store to the disk."""

    def __init__(
        self, recovered: Recovered, appender: Appender, folder: Path, refuse: Callable[[FlushFailed], None]
    ) -> None:
        """`refuse` is called when the disk has failed: the store is to accept nothing more."""
        self._queues = recovered.queues
        self._index = recovered.index
        self._dispatcher = recovered.dispatcher
        self._folder = folder
        self._flusher = Flusher(recovered.log, appender, folder, refuse)
        # The log offset up to which the queues have all records, and are on the disk.
        self._queues_synced = 0
        self.confirmed = LogOffset(recovered.confirmed)

    # -- the log

    @property
    def flushed(self) -> LogOffset:
        """The log offset up to which all records are on the disk."""
        return self._flusher.durable.upto.log_offset

    def flush(self) -> FlushedUpTo:
        """Wait until everything appended so far is on the disk. One other thread may call it.

        Raises FlushFailed when the disk reports an error, and at each later call: the system may have discarded what
        it could not write, and a second attempt would succeed without it. The store then accepts no more messages.
        """
        return self._flusher.flush()

    def plan_flush(self) -> FlushPlan | None:
        """Return what `flush` would wait for, for a caller that waits otherwise.

        None if that is not one file, or if a flush has failed: `flush` then does the rest, or raises.
        """
        return self._flusher.plan()

    def note_flushed(self, plan: FlushPlan, took_ns: int) -> None:
        """Record that a plan is on the disk; raises FlushFailed if another flush has failed in the meantime."""
        self._flusher.note_done(plan, took_ns)

    @property
    def flush_ns(self) -> int:
        """How long the last flush with data took."""
        return self._flusher.took_ns

    def note_refused(self, error: OSError) -> FlushFailed:
        """Record that a flush failed: the store accepts no more messages. Returns the error to raise."""
        return self._flusher.note_failed(error)

    # -- the queues

    def sync_queues(self) -> None:
        """Wait until all units are on the disk; raises FlushFailed."""
        try:
            self._queues.sync()
        except OSError as error:
            raise self.note_refused(error) from error

    def keep_units(self, before: int) -> None:
        """Wait until the units of the records before a log offset are on the disk; raises FlushFailed."""
        if self._queues_synced < before:
            position = self._dispatcher.position
            self.sync_queues()
            self._queues_synced = position

    # -- the checkpoint

    def note_confirmed(self, upto: int) -> None:
        """Note that the records before `upto` are on all members of the in-sync set; a lower one changes nothing.

        The next `checkpoint` saves it (store/README.md#confirmed-records).
        """
        self.confirmed = max(self.confirmed, LogOffset(upto))

    def checkpoint(self) -> Checkpoint:
        """Flush log, queues and finished index files, and save how far they are on the disk: where recovery begins.

        Call it about every minute, from the thread that flushes or from the owner's. Raises what `flush` raises, also
        for an error of queues and index: a later checkpoint must not pass over what is lost of them.
        """
        durable = self._flusher.durable
        # The log offset first: the owner may go on meanwhile, and what is covered may be older but never newer.
        position, dispatched, confirmed = self._dispatcher.position, self._dispatcher.store_time, self.confirmed
        flushed = self.flush()
        try:
            self._queues.sync()
            if durable is self._flusher.durable:  # nothing was cut meanwhile
                self._queues_synced = position
            covered = self._index.finish(dispatched, position)
        except OSError as error:
            raise self.note_refused(error) from error
        checkpoint = Checkpoint(flushed.store_timestamp, dispatched, self._index.finished_time, covered, confirmed)
        write_checkpoint(self._folder, checkpoint, if_still=lambda: durable is self._flusher.durable)
        return checkpoint

    # -- the end of the log goes

    def lower_flushed(self, end: int, store_time: int) -> None:
        """Let nothing behind `end` count as being on the disk."""
        self._flusher.lower(end, store_time)

    def lower_confirmed(self, end: int) -> None:
        """Let nothing behind `end` count as confirmed."""
        self.confirmed = min(self.confirmed, LogOffset(end))

    def lower(self, point: CutPoint) -> None:
        """Let nothing behind a cut count for anything, before it is cut. Raises StoreFull, OSError."""
        self.lower_flushed(point.end, point.store_time)
        replace_checkpoint(self._folder, lowered(read_checkpoint(self._folder), point, self._index))
        self.lower_confirmed(point.end)
        self._queues_synced = min(self._queues_synced, point.end)
