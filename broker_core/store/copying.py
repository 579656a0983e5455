"""An open store whose log is a copy of a master's, or may become one (store/README.md#following)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping

from broker_core.store.appender import Appender
from broker_core.store.consume_queue import QueueEnd
from broker_core.store.cutting import CutPoint, cut_derived, find_cut_point, undispatched
from broker_core.store.following import Following, raise_next_offsets
from broker_core.store.recovery import Recovered
from broker_core.store.syncing import Syncing
from broker_core.store.writing import Writing


class Copying:
    """Follows a master, and makes the log that of its own again."""

    def __init__(
        self,
        recovered: Recovered,
        *,
        writing: Writing,
        syncing: Syncing,
        appender: Appender,
        following: Following,
        on_cut: Callable[[], None],
    ) -> None:
        """`on_cut` is called when the end of the log has gone, before that is on the disk; it raises OSError."""
        self._log = recovered.log
        self._queues = recovered.queues
        self._index = recovered.index
        self._dispatcher = recovered.dispatcher
        self._writing = writing
        self._syncing = syncing
        self._appender = appender
        self._pending = appender.pending
        self._following = following
        self._on_cut = on_cut

    def wait_for_role(self) -> None:
        """Dispatch what is confirmed and put nothing, until `limit_dispatch` and `take_over` say more."""
        self._pending += undispatched(self._log, self._queues, self._dispatcher)
        if self._pending:
            self._appender.store_time = self._pending[-1].store_timestamp
        self._writing.limit = self._syncing.confirmed
        self._following.is_on = True
        self._writing.limit_puts()

    def append_raw(self, log_offset: int, data: bytes | memoryview) -> None:
        """Append bytes of a master's log, which may be any part of a record; whole records wait for `dispatch`.

        Until `take_over` no message may be put (StoreFollows). The first bytes of an empty store begin a segment.
        Raises NotTheEnd for bytes that do not continue the log, LogDamaged for what is no record, and what `put` raises
        for the disk. What comes before the damage, or before the disk was full, is kept: `appended_log_offset` tells
        where to go on (store/README.md#following).
        """
        self._writing.check()
        try:
            self._following.append(log_offset, data)
        finally:
            self._lower_flushed()
            self._writing.limit_puts()

    def queue_ends(self, log_offset: int) -> dict[tuple[str, int], QueueEnd]:
        """Return where the queues end of which no confirmed message lies at a log offset or behind it.

        By topic and queue id. Nothing in the log from there on tells of them (store/README.md#queues-before-a-copy).
        """
        self._writing.settle()
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
        self._writing.check()
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
        self._syncing.lower_confirmed(self._log.end)
        self._writing.limit_puts()

    def _lower_flushed(self) -> None:
        if self._syncing.flushed > self._log.end:
            self._syncing.lower_flushed(self._log.end, self._appender.store_time)

    def cut(self, log_offset: int) -> None:
        """Drop everything from `log_offset` on: records, units, keys, and what waits for `dispatch`; next offsets fall.

        It is zeroed, and on the disk when this returns. A record that `log_offset` is inside of goes whole, so
        `appended_log_offset` may be lower afterwards; an offset at the end or beyond changes nothing. No view into the
        log may be in use (store/README.md#cutting). Raises ValueError before the first record, StoreFull, after which
        nothing is cut, and FlushFailed.
        """
        self._writing.check()
        if log_offset < self._log.begin:
            raise ValueError(f"the log begins at {self._log.begin}: it cannot be cut at {log_offset}")
        if log_offset >= self._log.end:
            return
        try:
            self._cut_at(find_cut_point(self._log, self._queues, self._pending, log_offset))
        except OSError as error:
            raise self._syncing.note_refused(error) from error
        self._syncing.checkpoint()

    def _cut_at(self, point: CutPoint) -> None:
        self._syncing.lower(point)
        self._following.cut(point.end)
        cut_derived(self._log, self._queues, self._index, self._dispatcher, point)
        self._appender.store_time = point.store_time
        self._pending[:] = undispatched(self._log, self._queues, self._dispatcher)
        if not self._following.is_on:
            raise_next_offsets(self._pending)
        self._writing.note_cut()
        self._on_cut()
        self._log.files.sync(point.end)
