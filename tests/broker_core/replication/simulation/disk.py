"""A disk with a log: what a replica's store is to the simulation, and what is left of it after a crash.

The log is a list of units; two units are one record, so that a log can end in half a record, as a real one can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from broker_core.broker.replication.messages import Identity
from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store.consume_queue import QueueEnd
from broker_core.store.errors import FlushFailed, StoreFull
from tests.broker_core.replication.simulation.checks import Checks, Violation

SEGMENT = 16
QUEUES = 3
TOPIC = "T"


class Unit(NamedTuple):
    """One half of a record."""

    epoch: int
    message: int
    queue: int
    queue_offset: int
    half: int
    stored_at: float


class Disk:
    """What survives: the log up to what is flushed, or all of it if only the process dies."""

    unit = 1
    """How much of a log offset one entry of `log` takes."""

    def __init__(self, number: int, checks: Checks) -> None:
        self.number = number
        self.log: list[Any] = []  # units; None where retention has removed them
        self.begin = 0
        self.next_at_begin = [0] * QUEUES
        """The next offset of each queue where the log begins: the last file of a queue is never removed."""
        self.log_epochs: list[EpochStart] = []
        self.flushed = 0
        self.saved_confirm = 0
        self.dispatched = 0
        self.identity: Identity | None = None
        self.boot = 1
        self.mark: int | None = None  # the boot in which the store was opened, and not closed since
        self.is_full = False
        self.is_broken = False  # a flush has failed
        self.slow = 0.0  # seconds that a flush may take
        self.checks = checks

    def lose_power(self, random: Random) -> None:
        """Lose a part of what was not flushed; the next boot is another one."""
        kept = random.choice((self.flushed, len(self.log), random.randint(self.flushed, len(self.log))))
        del self.log[kept:]
        self.dispatched = random.randint(min(self.saved_confirm, self.dispatched), self.dispatched) // 2 * 2
        self.boot += 1

    @property
    def was_power_lost(self) -> bool:
        return self.mark is not None and (self.mark != self.boot or self.is_broken)

    def kill(self) -> None:
        """End the process: nothing is lost."""

    def fail(self, random: Random) -> None:
        """End the process of a store that could not flush; what was not flushed may be gone."""
        del self.log[random.randint(self.flushed, len(self.log)) :]

    def check_sound(self) -> None:
        """Look at what is checked only when all is over: nothing here."""

    def wipe(self) -> None:
        """Put the folder aside; the identity stays."""
        self.log, self.log_epochs = [], []
        self.begin = self.flushed = self.saved_confirm = self.dispatched = 0
        self.next_at_begin = [0] * QUEUES


class DiskStore:
    """The store of one life of a replica (`ReplicaStore`)."""

    segment_bytes = SEGMENT

    def __init__(self, disk: Disk, *, is_sync: bool) -> None:
        """Open it: epochs beyond the end go, and what was dispatched or saved as confirmed is confirmed."""
        self.disk = disk
        self.is_sync = is_sync
        disk.is_broken = False
        self._cuts = 0
        if len(disk.log) <= disk.begin:  # nothing is left of what was copied from there on
            disk.log.clear()
            disk.begin = 0
        disk.log_epochs = [each for each in disk.log_epochs if each.start <= len(disk.log)]
        self._confirm = min(max(disk.saved_confirm, disk.dispatched), self.whole_end)
        disk.saved_confirm = min(disk.saved_confirm, self._confirm)
        disk.dispatched = min(disk.dispatched, self._confirm)
        disk.flushed = len(disk.log)  # recovery syncs what it found
        self.next_offsets = [0] * QUEUES
        self._number_queues()
        disk.checks.opened(disk.number, disk.log, self._confirm)

    # The verbs

    @property
    def begin(self) -> int:
        return self.disk.begin

    @property
    def end(self) -> int:
        return len(self.disk.log)

    @property
    def whole_end(self) -> int:
        return len(self.disk.log) // 2 * 2

    @property
    def safe_end(self) -> int:
        return min(self.whole_end, self.disk.flushed) // 2 * 2 if self.is_sync else self.whole_end

    @property
    def epochs(self) -> Sequence[EpochStart]:
        return self.disk.log_epochs

    @property
    def confirm(self) -> int:
        return self._confirm

    def set_confirm(self, upto: int) -> None:
        self.disk.checks.confirmed(self.disk.number, self.disk.log, self._confirm, upto)
        self._confirm = self.disk.dispatched = upto

    def queue_ends(self, log_offset: int) -> QueueEnds:
        disk = self.disk
        behind = {unit.queue for unit in disk.log[log_offset : disk.dispatched] if unit is not None}
        ends = [self._next_offsets(log_offset)[queue] for queue in range(QUEUES)]
        return {
            (TOPIC, queue): QueueEnd(end, log_offset - 2, 2)
            for queue, end in enumerate(ends)
            if end and queue not in behind
        }

    def begin_behind(self, ends: QueueEnds) -> None:
        self._check_disk()
        self.disk.next_at_begin = [0] * QUEUES
        for (_, queue), end in ends.items():
            self.disk.next_at_begin[queue] = end.next_offset
        self._number_queues()

    def append_raw(self, log_offset: int, data: Any) -> None:
        self._check_disk()
        if not self.disk.log and log_offset % SEGMENT == 0:
            self.disk.log.extend([None] * log_offset)
            self.disk.begin = self.disk.flushed = log_offset
        if log_offset != self.end:
            raise Violation(f"store {self.disk.number}: data for {log_offset} at the end {self.end}")
        for at, unit in enumerate(data, log_offset):
            self.disk.checks.copied(self.disk.number, at, unit, self.disk.log_epochs[-1])
        self.disk.log.extend(data)

    def cut(self, log_offset: int) -> None:
        self._cuts += 1
        if log_offset < self._confirm and not self.disk.checks.is_loss_accepted:
            raise Violation(f"I8: store {self.disk.number} is cut to {log_offset}, confirmed up to {self._confirm}")
        self._confirm = min(self._confirm, log_offset)
        self.disk.dispatched = min(self.disk.dispatched, log_offset)
        self.disk.saved_confirm = min(self.disk.saved_confirm, log_offset)
        del self.disk.log[log_offset:]
        self.disk.log_epochs = [each for each in self.disk.log_epochs if each.start < log_offset]
        self.disk.flushed = log_offset
        if log_offset <= self.disk.begin:
            self.disk.log.clear()
            self.disk.begin = self.disk.flushed = 0
        self._number_queues()

    def finish_tail(self) -> None:
        self._check_disk()
        self._cuts += 1
        del self.disk.log[self.whole_end :]
        self.disk.flushed = min(self.disk.flushed, self.end)
        self._number_queues()

    def roll_epoch(self, number: int, start: int) -> None:
        self._check_disk()
        epochs = self.disk.log_epochs
        if epochs and epochs[-1].start == start:
            epochs.pop()
        self.disk.checks.rolled(self.disk.number, epochs, EpochStart(number, start), self.end)
        epochs.append(EpochStart(number, start))

    # What the rim does with it

    def put(self, epoch: int, message: int, now: float) -> int:
        """Append a record; return where it ends. `now` is the wall clock's, which may jump."""
        self._check_disk()
        queue = message % QUEUES
        at = self.next_offsets[queue]
        self.next_offsets[queue] += 1
        stored_at = max(now, self.disk.log[-1].stored_at) if self.disk.log and self.disk.log[-1] else now
        units = [Unit(epoch, message, queue, at, half, stored_at) for half in (0, 1)]
        self.disk.checks.put(self.disk.number, self.end, units, self.disk.log_epochs[-1])
        self.disk.log.extend(units)
        return self.end

    def read(self, log_offset: int, size: int) -> Any:
        """Return a part of the log."""
        return tuple(self.disk.log[log_offset : log_offset + size])

    def begin_flush(self) -> Callable[[], None]:
        """Return what notes that all of now is on the disk, unless the log was cut meanwhile."""
        end, confirm, cuts = self.end, self._confirm, self._cuts

        def end_flush() -> None:
            if self.disk.is_broken:
                raise FlushFailed("the disk reported a failed flush")
            if cuts == self._cuts:
                self.disk.flushed = max(self.disk.flushed, end)
                self.disk.saved_confirm = max(self.disk.saved_confirm, confirm)

        return end_flush

    def expire(self, needed_from: int | None) -> None:
        """Remove the first segment, if it is not written to, and is neither needed nor unconfirmed."""
        disk = self.disk
        upto = disk.begin - disk.begin % SEGMENT + SEGMENT
        if upto <= min(disk.flushed - 1, disk.dispatched, self.end if needed_from is None else needed_from):
            disk.next_at_begin = self._next_offsets(upto)
            disk.log[disk.begin : upto] = [None] * (upto - disk.begin)
            disk.begin = upto

    def _number_queues(self) -> None:
        self.next_offsets = self._next_offsets(self.end)

    def _next_offsets(self, log_offset: int) -> list[int]:
        """Return the next offset of each queue as of a log offset."""
        found = list(self.disk.next_at_begin)
        for unit in self.disk.log[:log_offset]:
            if unit is not None and unit.half:
                found[unit.queue] = unit.queue_offset + 1
        return found

    def _check_disk(self) -> None:
        if self.disk.is_broken:
            raise FlushFailed("the disk reported a failed flush")
        if self.disk.is_full:
            raise StoreFull(Path("disk"), 1)
