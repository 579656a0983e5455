"""The interface of the store: opening, closing, figures; the rest is in its parts.

::

    queries    what is read            writing    put, dispatch
    syncing    flush, checkpoint       dropping   retention, topics, purges
    copying    a master's log, cut

One thread calls everything but `flush` and `checkpoint`, which a second thread may call at the same time: they release
the interpreter lock while they wait for the disk, and change only files and two positions.

A message is appended by `put`, readable after `dispatch`, durable when `flushed_log_offset` has passed its end.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from broker_core.protocol.message import LogOffset
from broker_core.store import abort, closed
from broker_core.store.appender import Appender
from broker_core.store.commit_log import LogWalk
from broker_core.store.config import StoreConfig
from broker_core.store.copying import Copying
from broker_core.store.dropping import Dropping
from broker_core.store.errors import StoreClosed
from broker_core.store.extending import BitsOf
from broker_core.store.following import Following
from broker_core.store.guard import Guard
from broker_core.store.layout import COMMIT_LOG
from broker_core.store.queries import StoreQueries
from broker_core.store.recovery import Recovered, recover
from broker_core.store.stats import StoreStats, measure
from broker_core.store.syncing import Syncing
from broker_core.store.writing import Writing


class MessageStore:
    """One open store folder."""

    def __init__(self, config: StoreConfig, guard: Guard, recovered: Recovered) -> None:
        """Use the parts that `open` recovered."""
        self.config = config
        self.recovered = recovered
        self._is_of_others = bool(recovered.used_elsewhere)
        self._guard = guard
        self._log = recovered.log
        self._queues = recovered.queues
        self._index = recovered.index
        self._dispatcher = recovered.dispatcher
        self._appender = appender = Appender(recovered.log, max_message_size=config.max_message_size)
        appender.store_time = recovered.dispatcher.store_time
        self._following = following = Following(recovered.log, appender, recovered.dispatcher)
        self._queries = StoreQueries(recovered.log, recovered.queues, recovered.index)
        self._writing = writing = Writing(recovered, config, appender, following)
        self._syncing = syncing = Syncing(recovered, appender, config.folder, writing.refuse)
        self._dropping = Dropping(recovered, config, writing, syncing)
        copying = Copying(
            recovered, writing=writing, syncing=syncing, appender=appender, following=following, on_cut=self._note_cut
        )
        # A call goes to its part at once: every message costs some.
        self._offer_queries(self._queries)
        self._offer_writing(writing)
        self._offer_syncing(syncing)
        self._offer_dropping(self._dropping)
        self._offer_copying(copying)
        if config.is_replica:
            copying.wait_for_role()

    @classmethod
    def open(cls, config: StoreConfig, *, now: int | None) -> Self:
        """Lock the folder, recover its files and return the open store.

        Drops what has expired at `now`, in ms; nothing for None, where the caller has still to say what it needs.
        Raises StoreLocked when another has it open, Corrupt when its files contradict each other, StoreFull.
        """
        guard = Guard.take(config.folder)
        try:
            # So that readers of the files take a store without messages for one.
            (config.folder / COMMIT_LOG).mkdir(exist_ok=True)
            store = cls(config, guard, recover(config))
            # What recovery kept may not be on the disk yet: the previous process may have been killed.
            store.checkpoint()
        except BaseException:
            guard.release()
            raise
        if now is not None:
            store.drop_expired(now)
        return store

    def _offer_queries(self, queries: StoreQueries) -> None:
        self.get = queries.get
        self.ranges = queries.ranges
        self.min_offset = queries.min_offset
        self.max_offset = queries.max_offset
        self.kept_bytes = queries.kept_bytes
        self.offset_by_time = queries.offset_by_time
        self.first_from = queries.first_from
        self.last_until = queries.last_until
        self.store_time = queries.store_time
        self.place_before = queries.place_before
        self.tags_code = queries.tags_code
        self.units = queries.units
        self.read_log = queries.read_log
        self.find = queries.find
        self.find_raw = queries.find_raw
        self.find_named = queries.find_named
        self.search = queries.search
        self.queues = queries.queues
        self.damage = queries.damage

    def _offer_writing(self, writing: Writing) -> None:
        self.put = writing.put
        self.put_sends = writing.put_sends
        self.put_batch = writing.put_batch
        self.check_room = writing.check_room
        self.dispatch = writing.dispatch
        self.limit_dispatch = writing.limit_dispatch
        self.waits = writing.waits
        self.undispatched = writing.undispatched

    def _offer_syncing(self, syncing: Syncing) -> None:
        self.flush = syncing.flush
        self.plan_flush = syncing.plan_flush
        self.note_flushed = syncing.note_flushed
        self.note_refused = syncing.note_refused
        self.note_confirmed = syncing.note_confirmed
        self.checkpoint = syncing.checkpoint

    def _offer_dropping(self, dropping: Dropping) -> None:
        self.drop_expired = dropping.drop_expired
        self.hold_from = dropping.hold_from
        self.held_back = dropping.held_back
        self.delete_topic = dropping.delete_topic
        self.detach_topic = dropping.detach_topic
        self.purge = dropping.purge

    def _offer_copying(self, copying: Copying) -> None:
        self.append_raw = copying.append_raw
        self.queue_ends = copying.queue_ends
        self.begin_behind = copying.begin_behind
        self.making_queues = copying.making_queues
        self.take_over = copying.take_over
        self.cut = copying.cut

    # -- figures ------------------------------------------------------------------------------------------------------

    @property
    def confirmed_log_offset(self) -> LogOffset:
        """The log offset before which records are confirmed, as was noted last, or before the store was opened."""
        return self._syncing.confirmed

    @property
    def followed_log_offset(self) -> LogOffset:
        """The log offset behind the last whole record; what is appended behind it is the first part of one."""
        return LogOffset(self._following.end)

    @property
    def segment_bytes(self) -> int:
        """The size of each segment of the log."""
        return self._log.files.file_size

    @property
    def begin_log_offset(self) -> LogOffset:
        """The log offset of the first record."""
        return LogOffset(self._log.begin)

    @property
    def appended_log_offset(self) -> LogOffset:
        """The log offset behind the last record."""
        return LogOffset(self._log.end)

    @property
    def dispatched_log_offset(self) -> LogOffset:
        """The log offset up to which all records are in their queues and the index."""
        return LogOffset(self._dispatcher.position)

    @property
    def newest_store_time(self) -> int:
        """The store time (ms) of the last record, dispatched or not; 0 without one."""
        return self._appender.store_time

    @property
    def flushed_log_offset(self) -> LogOffset:
        """The log offset up to which all records are on the disk."""
        return self._syncing.flushed

    @property
    def flush_ns(self) -> int:
        """How long the last flush with data took."""
        return self._syncing.flush_ns

    @property
    def mapped_queue_files(self) -> int:
        """The number of consume queue files that are mapped: those read or written since the start."""
        return self._queues.mapped_files

    def stats(self) -> StoreStats:
        """Return sizes and counts of this moment."""
        return measure(self._log, self._queues, self._index, self._dispatcher, flushed=self.flushed_log_offset)

    def walk(self, begin: int) -> LogWalk:
        """Return a walk over the records from log offset `begin` on, where one begins; from the first one if later."""
        return self._log.walk(max(begin, self._log.begin), check_crc=False)

    def note_loss_told(self) -> None:
        """Note that a loss of power (`recovered.was_power_lost`) is written down elsewhere; a kill loses nothing more.

        Until then each opening tells it again, so that a second crash does not hide it. Raises OSError.
        """
        if self._writing.refusal is None:
            abort.set_mark(self.config.folder)

    def take_as_own(self) -> None:
        """Note that what another broker wrote (`recovered.used_elsewhere`) is told, or counts from now on."""
        self._is_of_others = False
        closed.forget(self.config.folder)

    def _note_cut(self) -> None:
        self._queries.forget_sums()
        self._dropping.lower_purges()

    # -- changes ------------------------------------------------------------------------------------------------------

    @property
    def max_queues(self) -> int | None:
        """The most queues there may be, since each keeps a file open; None: as many as wanted."""
        return self._writing.max_queues

    @max_queues.setter
    def max_queues(self, most: int | None) -> None:
        self._writing.max_queues = most

    @property
    def needed_from(self) -> Callable[[], int | None]:
        """Returns the log offset from which on segments must stay; None: as far as others are concerned, all may go."""
        return self._dropping.needed_from

    @needed_from.setter
    def needed_from(self, needed_from: Callable[[], int | None]) -> None:
        self._dropping.needed_from = needed_from

    def reconfigure(self, config: StoreConfig) -> None:
        """Apply new limits, periods and delay levels; the folder and file sizes stay."""
        self.config = config
        self._writing.reconfigure(config)
        self._dropping.config = config
        self._appender.max_body = config.max_message_size
        self._dispatcher.delay_levels_ms = config.delay_levels_ms

    def filter_bits_by(self, bits_of: BitsOf) -> None:
        """Keep filter bits of what is dispatched from now on, if the queues are extended."""
        if self._queues.extender is not None:
            self._queues.extender.bits_of = bits_of

    def close(self) -> None:
        """Flush everything and unlock the folder; the next open needs no recovery."""
        if isinstance(self._writing.refusal, StoreClosed):
            return
        try:
            if self._writing.refusal is None:
                self._following.drop_half()
                self._writing.dispatch_pending()
                self._index.sync()
                self.checkpoint()
                self._note_closed()
        finally:
            self._writing.refuse(StoreClosed(f"the store {self.config.folder} is closed"))
            for part in (self._log, self._queues, self._index):
                part.close()
            self._guard.release()

    def _note_closed(self) -> None:
        folder, is_replica = self.config.folder, self.config.is_replica
        if self._is_of_others:  # what tells it stays
            abort.clear(folder)
            return
        is_told = closed.write(
            folder,
            self._queues,
            log_begin=self._log.begin,
            log_end=self._log.end,
            index_files=[file.path.name for file in self._index.files],
        )
        # A replica that finds neither takes its store for one that another broker closed.
        if is_told or not is_replica:
            abort.clear(folder)

    def __enter__(self) -> Self:
        """Return the open store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()
