"""A store in memory for the tests of replicas: bytes, and two bytes are a record."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store.consume_queue import QueueEnd


class MemoryStore:
    """What a replica needs of its store (`ReplicaStore`)."""

    segment_bytes = 64

    def __init__(self, log: bytes = b"", epochs: Sequence[EpochStart] = (), confirm: int = 0, begin: int = 0) -> None:
        self.log = bytearray(log)
        self.begin = begin
        self._epochs = list(epochs)
        self._confirm = confirm
        self.flushed: int | None = None  # None: asynchronous flush
        self.queues_before: dict[tuple[str, int], QueueEnd] = {}

    @property
    def end(self) -> int:
        return self.begin + len(self.log)

    @property
    def whole_end(self) -> int:
        return self.end // 2 * 2

    @property
    def safe_end(self) -> int:
        return self.whole_end if self.flushed is None else min(self.whole_end, self.flushed)

    @property
    def epochs(self) -> Sequence[EpochStart]:
        return self._epochs

    @property
    def confirm(self) -> int:
        return self._confirm

    def set_confirm(self, upto: int) -> None:
        self._confirm = upto

    def queue_ends(self, log_offset: int) -> QueueEnds:
        return self.queues_before if log_offset else {}

    def begin_behind(self, ends: QueueEnds) -> None:
        assert not self.log
        self.queues_before = dict(ends)

    def append_raw(self, log_offset: int, data: bytes) -> None:
        if not self.log:
            self.begin = log_offset
        assert log_offset == self.end
        self.log += data

    def cut(self, log_offset: int) -> None:
        del self.log[log_offset - self.begin :]
        self._epochs = [each for each in self._epochs if each.start < log_offset]

    def finish_tail(self) -> None:
        del self.log[self.whole_end - self.begin :]

    def roll_epoch(self, number: int, start: int) -> None:
        if self._epochs and self._epochs[-1].start == start:
            self._epochs.pop()
        self._epochs.append(EpochStart(number, start))
