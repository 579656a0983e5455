"""The interface of the store: put, dispatch, flush, close; `get`, `search` and other queries are in `queries.py`.

One thread calls everything but `flush` and `checkpoint`, which a second thread may call at the same time: they release
the interpreter lock while they wait for the disk, and change only files and two positions.

A message is appended by `put`, readable after `dispatch`, durable when `flushed_log_offset` has passed its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from types import TracebackType
from typing import Self

from broker_core.protocol.errors import MalformedBatch, MessageError
from broker_core.protocol.frame import Frame
from broker_core.protocol.message import LogOffset, QueueOffset
from broker_core.protocol.topics import is_topic_name
from broker_core.store import abort, closed, purges, retention
from broker_core.store.appended import AppendedBatch, AppendedRecord
from broker_core.store.appender import Appender
from broker_core.store.commit_log import LogWalk
from broker_core.store.config import StoreConfig
from broker_core.store.consume_queue import ConsumeQueue, QueueEnd
from broker_core.store.cutting import CutPoint, cut_derived, find_cut_point, undispatched
from broker_core.store.dispatcher import Arrived, Pending
from broker_core.store.errors import (
    MessageUnstorable,
    StoreClosed,
    StoreError,
    StoreFollows,
    StoreFull,
    TooFarBehind,
    TooManyQueues,
)
from broker_core.store.extending import BitsOf
from broker_core.store.following import Following, raise_next_offsets
from broker_core.store.guard import Guard
from broker_core.store.incoming import Incoming
from broker_core.store.layout import COMMIT_LOG
from broker_core.store.queries import StoreQueries
from broker_core.store.queue_search import log_offset_behind
from broker_core.store.recovery import Recovered, recover
from broker_core.store.send_plan import NOTHING_STORED, SendPlan, StoredSends
from broker_core.store.stats import StoreStats, measure
from broker_core.store.syncing import Syncing


def _nothing_is_needed() -> None:
    return None


class MessageStore:
    """One open store folder."""

    def __init__(self, config: StoreConfig, guard: Guard, recovered: Recovered) -> None:
        """Use the parts that `open` recovered."""
        self._log = recovered.log
        self._queues = recovered.queues
        self._index = recovered.index
        # All queries.
        self._queries = queries = StoreQueries(recovered.log, recovered.queues, recovered.index)
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
        self.config = config
        self.recovered = recovered
        # The most queues there may be, since each keeps a file open.
        self.max_queues: int | None = None
        self._guard = guard
        self._dispatcher = recovered.dispatcher
        self._appender = Appender(recovered.log, max_message_size=config.max_message_size)
        # What every put needs, without a second look-up.
        self._by_key = recovered.queues.by_key
        self._pending = self._appender.pending
        self._max_undispatched = config.max_undispatched
        # Records that end behind it are not dispatched.
        self._limit: int | None = None
        self._appender.store_time = recovered.dispatcher.store_time
        self._following = Following(recovered.log, self._appender, recovered.dispatcher)
        self._arrived: dict[ConsumeQueue, int] = {}
        # All that waits for the disk.
        self._syncing = syncing = Syncing(recovered, self._appender, config.folder, self._refuse)
        self.flush = syncing.flush
        self.plan_flush = syncing.plan_flush
        self.note_flushed = syncing.note_flushed
        self.note_refused = syncing.note_refused
        self.note_confirmed = syncing.note_confirmed
        self.checkpoint = syncing.checkpoint
        # Returns the log offset from which on segments must stay; None: as far as others are concerned, all may go.
        self.needed_from: Callable[[], int | None] = _nothing_is_needed
        self._holds = retention.Holds()
        # Why the store accepts no more messages; None while it does.
        self._refusal: StoreError | None = None
        if config.is_replica:
            self._wait_for_role()

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

    def _wait_for_role(self) -> None:
        """Dispatch what is confirmed and put nothing, until `limit_dispatch` and `take_over` say more."""
        self._pending += undispatched(self._log, self._queues, self._dispatcher)
        if self._pending:
            self._appender.store_time = self._pending[-1].store_timestamp
        self._limit = self._syncing.confirmed
        self._following.is_on = True
        self._limit_puts()

    # -- writing ------------------------------------------------------------------------------------------------------

    def put(self, incoming: Incoming) -> AppendedRecord:
        """Append a message to the log and give it its queue offset.

        Raises MessageUnstorable for what the format or the limits do not allow, StoreFull, FlushFailed, StoreClosed, in
        a replica StoreFollows and TooFarBehind; nothing is stored then. A prepared or rolled back transaction message
        gets queue offset 0 and enters no queue.
        """
        place = incoming.topic, incoming.queue_id
        queue = self._by_key.get(place) or self._make_queue(*place)
        if self._refusal is not None or len(self._pending) >= self._max_undispatched:
            self._make_ready()
        try:
            return self._appender.append_one(queue, incoming)
        except (MessageError, UnicodeEncodeError) as error:
            raise MessageUnstorable(str(error)) from error

    def put_sends(self, plan: SendPlan, frames: list[Frame], at: int, until: int, now: int) -> StoredSends:
        """Append the messages of the first frames from `at` on that are plain sends to existing queues; raises nothing.

        It stops where `put` would have to make room or to refuse; `now` in ms.
        """
        until = min(until, at + self._max_undispatched - len(self._pending))
        if self._refusal is not None or until <= at:
            return NOTHING_STORED
        return self._appender.append_sends(plan, frames, at, until, self._by_key, now)

    def put_batch(self, incoming: Incoming) -> AppendedBatch:
        """Append the messages of a batch to one queue, all or none, with consecutive offsets and in one segment.

        Raises what `put` raises, MalformedBatch, and MessageUnstorable for transaction messages
        (store/README.md#batches).
        """
        place = incoming.topic, incoming.queue_id
        queue = self._by_key.get(place) or self._make_queue(*place)
        self._make_ready()
        try:
            return self._appender.append_batch(queue, incoming)
        except MalformedBatch:
            raise
        except (MessageError, UnicodeEncodeError) as error:
            raise MessageUnstorable(str(error)) from error

    def check_room(self, records: int) -> None:
        """Raise what `put` would raise for want of room or of the right to put, unless so many records can be put."""
        if self._refusal is not None or len(self._pending) + records > self._max_undispatched:
            self._make_ready(records)

    def _make_queue(self, topic: str, queue_id: int) -> ConsumeQueue:
        if self._refusal is not None:
            raise self._refusal
        if not is_topic_name(topic):
            raise MessageUnstorable(f"topic {topic!r}: 1 to 127 characters of a-z A-Z 0-9 _ - % | are allowed")
        if self.max_queues is not None and len(self._by_key) >= self.max_queues:
            raise TooManyQueues(topic, queue_id, self.max_queues)
        return self._queues.get_or_make(topic, queue_id)

    def _make_ready(self, records: int = 1) -> None:
        if self._refusal is not None:
            raise self._refusal
        if self._following.is_on:
            raise StoreFollows(self.config.folder)
        if len(self._pending) + records > self._max_undispatched:
            self._dispatch_pending()
            if self._limit is not None and len(self._pending) + records > self._max_undispatched:
                raise TooFarBehind(len(self._pending), self._limit)

    # -- following a master -------------------------------------------------------------------------------------------

    def append_raw(self, log_offset: int, data: bytes | memoryview) -> None:
        """Append bytes of a master's log, which may be any part of a record; whole records wait for `dispatch`.

        Until `take_over` no message may be put (StoreFollows). The first bytes of an empty store begin a segment.
        Raises NotTheEnd for bytes that do not continue the log, LogDamaged for what is no record, and what `put` raises
        for the disk. What comes before the damage, or before the disk was full, is kept: `appended_log_offset` tells
        where to go on (store/README.md#following).
        """
        if self._refusal is not None:
            raise self._refusal
        try:
            self._following.append(log_offset, data)
        finally:
            self._lower_flushed()
            self._limit_puts()

    def queue_ends(self, log_offset: int) -> dict[tuple[str, int], QueueEnd]:
        """Return where the queues end of which no confirmed message lies at a log offset or behind it.

        By topic and queue id. Nothing in the log from there on tells of them (store/README.md#queues-before-a-copy).
        """
        if self._pending:
            self._dispatch_pending()
        return self._queues.tips_before(log_offset)

    def begin_behind(self, ends: Mapping[tuple[str, int], QueueEnd]) -> None:
        """Let an empty store go on behind these queues, and no others; they are on the disk when this returns.

        Raises ValueError for a store with records, StoreFull, MessageUnstorable for a bad name, and FlushFailed.
        """
        deque(self.making_queues(ends), maxlen=0)
        self._syncing.sync_queues()

    def making_queues(self, ends: Mapping[tuple[str, int], QueueEnd]) -> Iterator[None]:
        """Do what takes long of `begin_behind` for thousands of queues: each step makes a few, in about 10 ms.

        Anything may happen in between; `begin_behind` must follow, and does what is left. Raises what that raises.
        """
        if self._refusal is not None:
            raise self._refusal
        if self._log.end > 0:
            raise ValueError(f"the log has records up to {self._log.end}")
        self._log.clear()
        yield from self._queues.begin_behind(ends)

    def take_over(self) -> None:
        """End following: what is put from now on comes behind all records of the log, dispatched or not.

        A half record at the end is removed. Each queue goes on behind the last of its records, and `newest_store_time`
        is that of the last one.
        """
        self._following.stop()
        self._lower_flushed()
        # What was confirmed of a half record is gone: others may follow there.
        self._syncing.lower_confirmed(self.appended_log_offset)
        self._limit_puts()

    def _lower_flushed(self) -> None:
        if self.flushed_log_offset > self._log.end:
            self._syncing.lower_flushed(self._log.end, self._appender.store_time)

    def cut(self, log_offset: int) -> None:
        """Drop everything from `log_offset` on: records, units, keys, and what waits for `dispatch`; next offsets fall.

        It is zeroed, and on the disk when this returns. A record that `log_offset` is inside of goes whole, so
        `appended_log_offset` may be lower afterwards; an offset at the end or beyond changes nothing. No view into the
        log may be in use (store/README.md#cutting). Raises ValueError before the first record, StoreFull, after which
        nothing is cut, and FlushFailed.
        """
        if self._refusal is not None:
            raise self._refusal
        if log_offset < self._log.begin:
            raise ValueError(f"the log begins at {self._log.begin}: it cannot be cut at {log_offset}")
        if log_offset >= self._log.end:
            return
        try:
            self._cut_at(find_cut_point(self._log, self._queues, self._pending, log_offset))
        except OSError as error:
            raise self.note_refused(error) from error
        self.checkpoint()

    def _cut_at(self, point: CutPoint) -> None:
        self._syncing.lower(point)
        folder = self.config.folder
        self._following.cut(point.end)
        cut_derived(self._log, self._queues, self._index, self._dispatcher, point)
        self._appender.store_time = point.store_time
        self._pending[:] = undispatched(self._log, self._queues, self._dispatcher)
        if not self._following.is_on:
            raise_next_offsets(self._pending)
        self._arrived = {queue: begin for queue, begin in self._arrived.items() if begin < queue.max_offset}
        self._queries.forget_sums()
        purged = purges.read(folder)
        if (kept := self._kept_purges()) != purged:
            purges.write(folder, kept)
        self._log.files.sync(point.end)

    @property
    def confirmed_log_offset(self) -> LogOffset:
        """The log offset before which records are confirmed, as was noted last, or before the store was opened."""
        return self._syncing.confirmed

    @property
    def followed_log_offset(self) -> LogOffset:
        """The log offset behind the last whole record; what is appended behind it is the first part of one."""
        return LogOffset(self._following.end)

    def _limit_puts(self) -> None:
        """Let puts go on until so many messages wait; while a master is followed each asks first, and none may."""
        self._max_undispatched = 0 if self._following.is_on else self.config.max_undispatched

    # -- dispatching --------------------------------------------------------------------------------------------------

    def dispatch(self) -> list[Arrived]:
        """Make what was put readable; return the queues that got messages since the last call.

        Costs nothing when there is nothing to do. Raises StoreFull; the next call goes on where this one stopped.
        """
        if self._pending:
            self._dispatch_pending()
        arrived = [
            Arrived(queue.topic, queue.queue_id, QueueOffset(begin), QueueOffset(queue.max_offset))
            for queue, begin in self._arrived.items()
        ]
        self._arrived.clear()
        return arrived

    def limit_dispatch(self, upto: int | None) -> None:
        """Dispatch no record that ends behind this log offset; None: all of them, as at first.

        What is dispatched stays so. The next `dispatch` goes on when the limit has risen; a batch waits for its last
        message. When `max_undispatched` wait, `put` raises TooFarBehind, and `put_sends` stores nothing.
        """
        self._limit = upto

    def waits(self, topic: str) -> bool:
        """Return whether a message of a topic is in the log and not dispatched."""
        return any(pending.queue.topic == topic for pending in self._pending)

    def _dispatch_pending(self) -> None:
        ready = self._pending if self._limit is None else self._pending_until(self._limit)
        for queue in {pending.queue for pending in ready}:
            self._arrived.setdefault(queue, queue.max_offset)
        try:
            self._dispatcher.dispatch(ready)
        except StoreFull:
            # The next put asks for room first, since an accepted message must become readable soon.
            self._max_undispatched = 0
            raise
        self._limit_puts()
        del self._pending[: len(ready)]

    def _pending_until(self, log_offset: int) -> list[Pending]:
        return self._pending[: bisect_right(self._pending, log_offset, key=attrgetter("end"))]

    # -- figures ------------------------------------------------------------------------------------------------------

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

    def drop_expired(self, now: int, *, at_any_hour: bool = False) -> retention.Dropped:
        """Remove old segments and the queue units and index entries that point to them; `now` in ms.

        Expired ones go in the hours set for it, or `at_any_hour`; none that is needed (`needed_from`). What is held
        (`hold_from`) or not dispatched stays, too. Returns what was removed, and whether the disk has room for more
        messages. Raises FlushFailed.
        """
        kept = retention.Retention(self._log, self.config, self._needed_or_held_from)
        return retention.drop_expired(
            kept, self._queues, self._index, now, at_any_hour=at_any_hour, keep_units=self._syncing.keep_units
        )

    def hold_from(self, holder: str, log_offset: int | None, *, most_bytes: int | None = None) -> None:
        """Keep the segments that `holder` has still to copy, from `log_offset` on; None lets them go.

        A holder that is further than `most_bytes` behind the end of the log holds nothing, until it is nearer.
        """
        self._holds.hold(holder, log_offset, most_bytes)

    def _needed_or_held_from(self) -> int | None:
        others = (self.needed_from(), self._holds.needed_from(self._log.end))
        # What is in no queue yet exists only in the log.
        return min(each for each in (self._dispatcher.position, *others) if each is not None)

    def held_back(self, now: int) -> LogOffset | None:
        """Return the end of the first segment if it would go, but for records that are still needed."""
        kept = self._retention
        goes = kept.first_goes(now, retention.measure_disk(self.config.folder), at_any_hour=False)
        return LogOffset(kept.first_end) if goes and kept.first_is_needed else None

    @property
    def _retention(self) -> retention.Retention:
        return retention.Retention(self._log, self.config, self.needed_from)

    def note_loss_told(self) -> None:
        """Note that a loss of power (`recovered.was_power_lost`) is written down elsewhere; a kill loses nothing more.

        Until then each opening tells it again, so that a second crash does not hide it. Raises OSError.
        """
        if self._refusal is None:
            abort.set_mark(self.config.folder)

    def _refuse(self, error: StoreError) -> None:
        self._refusal = error

    # -- what goes, and other changes ---------------------------------------------------------------------------------

    def reconfigure(self, config: StoreConfig) -> None:
        """Apply new limits, periods and delay levels; the folder and file sizes stay."""
        self.config = config
        self._limit_puts()
        self._appender.max_body = config.max_message_size
        self._dispatcher.delay_levels_ms = config.delay_levels_ms

    def filter_bits_by(self, bits_of: BitsOf) -> None:
        """Keep filter bits of what is dispatched from now on, if the queues are extended."""
        if self._queues.extender is not None:
            self._queues.extender.bits_of = bits_of

    def delete_topic(self, topic: str) -> int:
        """Remove the queues of a topic and return how many there were; a topic made again begins at queue offset 0."""
        if self._pending:
            self._dispatch_pending()
        was_purged = bool(self._queues.purged)
        # What is held back of it belongs to no queue any more.
        self._pending[:] = [pending for pending in self._pending if pending.queue.topic != topic]
        count = self._queues.delete_topic(topic)
        if was_purged:
            purges.write(self.config.folder, self._kept_purges())
        return count

    def purge(self, topic: str, before: Mapping[int, int]) -> dict[int, QueueOffset]:
        """Make the messages before a queue offset unreadable, by queue id; return the new minimum of these queues.

        It lasts, also beyond a kill, once this returns. Maximum and next offsets stay; an offset behind the maximum
        means the maximum, one before the minimum changes nothing, and queues without messages are left out. The log
        gives the room back when retention drops its segments. Raises OSError, StoreFull and what `put` raises; nothing
        is purged then.
        """
        if self._refusal is not None:
            raise self._refusal
        if self._pending:
            self._dispatch_pending()
        queues = {queue_id: queue for queue_id in before if (queue := self._queues.find(topic, queue_id))}
        places = {
            (topic, queue_id): place
            for queue_id, queue in queues.items()
            if (place := log_offset_behind(queue, min(before[queue_id], queue.max_offset))) > queue.purged_before
        }
        if places:
            purges.write(self.config.folder, {**self._kept_purges(), **places})
        for (_, queue_id), place in places.items():
            queues[queue_id].purge(place)
        return {queue_id: QueueOffset(queue.min_offset) for queue_id, queue in queues.items()}

    def _kept_purges(self) -> dict[tuple[str, int], int]:
        """Return the purges of which retention has not dropped everything."""
        return {key: at for key, at in self._queues.purged.items() if at > self._log.begin}

    def close(self) -> None:
        """Flush everything and unlock the folder; the next open needs no recovery."""
        if isinstance(self._refusal, StoreClosed):
            return
        try:
            if self._refusal is None:
                self._following.drop_half()
                self._dispatch_pending()
                self._index.sync()
                self.checkpoint()
                index_files = [file.path.name for file in self._index.files]
                closed.write(self.config.folder, self._queues, log_begin=self._log.begin, index_files=index_files)
                abort.clear(self.config.folder)
        finally:
            self._refusal = StoreClosed(f"the store {self.config.folder} is closed")
            for part in (self._log, self._queues, self._index):
                part.close()
            self._guard.release()

    def __enter__(self) -> Self:
        """Return the open store."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()
