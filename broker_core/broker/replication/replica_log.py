"""The store of a replica: the log, its epochs, and what readers see of it (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from broker_core.broker.replication.messages import Accepted, Refused
from broker_core.broker.replication.queues_before import make_queues
from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store import MessageStore
from broker_core.store.epochs import EpochFile
from broker_core.store.errors import StoreError

_HOLDER: Final = "replicas"


class ReplicaLog:
    """A `ReplicaStore` of an open store; with `waits_for_disk` only what is flushed is acknowledged."""

    def __init__(self, store: MessageStore, epochs: EpochFile, *, waits_for_disk: bool, most_held_bytes: int) -> None:
        """Of the log, at most `most_held_bytes` are kept for replicas that copy it."""
        self._store = store
        self._most_held_bytes = most_held_bytes
        self._epochs = epochs
        self._waits_for_disk = waits_for_disk
        self._confirm = int(store.confirmed_log_offset)
        # A flush may end inside a record that comes in parts: which whole ones it has is known by where they ended.
        self._whole_ends: deque[int] = deque()
        self._safe_end = min(self.whole_end, int(store.flushed_log_offset))
        self._led_from: int | None = None
        self.cut_bytes = 0
        """What was cut since the start, of what nobody had confirmed."""

    @property
    def begin(self) -> int:
        return self._store.begin_log_offset

    @property
    def end(self) -> int:
        return self._store.appended_log_offset

    @property
    def whole_end(self) -> int:
        return self._store.followed_log_offset

    @property
    def safe_end(self) -> int:
        whole = self.whole_end
        if not self._waits_for_disk:
            return whole
        flushed = int(self._store.flushed_log_offset)
        if flushed >= whole or (self._led_from is not None and flushed >= self._led_from):
            self._whole_ends.clear()
            self._safe_end = min(flushed, whole)
        while self._whole_ends and self._whole_ends[0] <= flushed:
            self._safe_end = self._whole_ends.popleft()
        return self._safe_end

    @property
    def segment_bytes(self) -> int:
        return self._store.segment_bytes

    @property
    def epochs(self) -> Sequence[EpochStart]:
        return self._epochs.entries

    @property
    def confirm(self) -> int:
        return self._confirm

    def set_confirm(self, upto: int) -> None:
        self._confirm = upto
        self._store.note_confirmed(upto)
        self._store.limit_dispatch(upto)

    def queue_ends(self, log_offset: int) -> QueueEnds:
        return self._store.queue_ends(log_offset)

    async def make_queues(self, answer: Accepted | Refused, on_part: Callable[[], None]) -> None:
        """Make what `begin_behind` will want where a master accepts an empty log; `on_part` is called after each part.

        What cannot be made it leaves to that, which tells why.
        """
        if self.end == 0 and isinstance(answer, Accepted):
            with suppress(StoreError, OSError):
                await make_queues(self._store, answer.queue_ends, on_part=on_part)

    def begin_behind(self, ends: QueueEnds) -> None:
        self._store.begin_behind(ends)

    def append_raw(self, log_offset: int, data: bytes) -> None:
        self._led_from = None
        self._store.append_raw(log_offset, data)
        if self._waits_for_disk:
            self._whole_ends.append(self.whole_end)

    def cut(self, log_offset: int) -> None:
        end = self.end
        self._store.cut(log_offset)
        self.cut_bytes += end - self.end
        self._whole_ends.clear()
        self._safe_end = min(self._safe_end, self.whole_end)
        if self._confirm > self.end:  # an unclean replica, after an operator accepted a loss
            self._confirm = self.end
            self._store.limit_dispatch(self._confirm)
        self._epochs.cut(log_offset)

    def finish_tail(self) -> None:
        self._store.take_over()
        self._led_from = self.end
        self._epochs.cut(self.end + 1)  # of a cut for which the disk had no room

    def tidy(self, needed_from: int | None) -> None:
        """Keep what the streams still need from a log offset on; forget epochs of which the log has nothing more."""
        self._store.hold_from(_HOLDER, needed_from, most_bytes=self._most_held_bytes)
        epochs = self._epochs.entries
        if len(epochs) > 1 and epochs[1].start <= self.begin:
            self._epochs.drop_before(self.begin)

    def roll_epoch(self, number: int, start: int) -> None:
        self._epochs.add(number, start)
        self._epochs.drop_before(self._store.begin_log_offset)
