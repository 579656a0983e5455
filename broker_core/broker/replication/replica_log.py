"""The store of a replica: the log, its epochs, and what readers see of it (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store import MessageStore
from broker_core.store.epochs import EpochFile


class ReplicaLog:
    """A `ReplicaStore` of an open store; with `waits_for_disk` only what is flushed is acknowledged."""

    def __init__(self, store: MessageStore, epochs: EpochFile, *, waits_for_disk: bool) -> None:
        self._store = store
        self._epochs = epochs
        self._waits_for_disk = waits_for_disk
        self._confirm = int(store.confirmed_log_offset)

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
        return min(whole, self._store.flushed_log_offset) if self._waits_for_disk else whole

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

    def append_raw(self, log_offset: int, data: bytes) -> None:
        self._store.append_raw(log_offset, data)

    def cut(self, log_offset: int) -> None:
        self._store.cut(log_offset)
        self._epochs.cut(log_offset)

    def finish_tail(self) -> None:
        self._store.take_over()

    def roll_epoch(self, number: int, start: int) -> None:
        self._epochs.add(number, start)
        self._epochs.drop_before(self._store.begin_log_offset)
