"""The real store as the disk of a replica: files on a file system in memory, killed and cut off from power.

Each record takes 256 bytes and a segment 4 KiB, of which the last 256 stay blank, so that half a record is what the
checks call a unit, and log offsets are units times 128.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from struct import Struct
from typing import Any, Final, NamedTuple

from broker_core.broker.replication.messages import Identity
from broker_core.broker.replication.replica_log import ReplicaLog
from broker_core.broker.replication.replica_store import QueueEnds
from broker_core.protocol.ha_epochs import EpochStart
from broker_core.protocol.message import Message
from broker_core.store import Incoming, MessageStore, StoreConfig, abort
from broker_core.store.config import KIB
from broker_core.store.epochs import EpochFile
from broker_core.store.errors import StoreFull
from broker_core.store.layout import COMMIT_LOG
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.broker_core.replication.simulation.checks import NO_QUEUE, Checks, Violation
from tests.broker_core.replication.simulation.disk import QUEUES, TOPIC
from tests.support.stores import incoming

UNIT: Final = 128
SEGMENT: Final = 4 * KIB
_BODY: Final = Struct(">qq")
_PADDING: Final = 256 - 88 - 1 - len(TOPIC) - 2 - _BODY.size
_QUEUE: Final = Struct(">i")
_LONG: Final = Struct(">q")
_BLANK: Final = b"\xcb\xd4\x31\x94"
_BEGIN_MS: Final = 1_700_000_000_000
_SYNCED_AT_ONCE: Final = ("abort", "checkpoint", "epochFileCheckpoint", "epochFileCheckpoint.bak")


class RealUnit(NamedTuple):
    """One half of a record, or of a blank."""

    epoch: int
    message: int
    queue: int
    queue_offset: int
    half: int
    stored_at: float
    raw: bytes


class RealDisk:
    """The folder of one replica, and what of it is surely on the disk."""

    unit = UNIT

    def __init__(self, number: int, checks: Checks, folder: Path) -> None:
        self.number = number
        self.checks = checks
        self.log: list[Any] = []
        """What the log holds, in units; None where retention has removed it."""
        self.identity: Identity | None = None
        self.is_full = False
        self.is_broken = False
        self.slow = 0.0
        self.boot = 1
        self.was_power_lost = False
        self.store: MessageStore | None = None
        self.read_upto = [0] * QUEUES
        self._folder = folder
        self._lives = 0
        self._synced: Path | None = None
        folder.mkdir()

    @property
    def folder(self) -> Path:
        return self._folder / f"life {self._lives}"

    @property
    def config(self) -> StoreConfig:
        return StoreConfig(
            self.folder,
            commit_log_file_size=SEGMENT,
            consume_queue_file_units=16,
            index_slots=4,
            index_entries=40,
            reserve_bytes=SEGMENT,
            max_used_ratio=1.0,
            forced_used_ratio=1.0,
            full_used_ratio=1.0,
            min_free_bytes=0,
            is_replica=True,
        )

    def note_boot(self) -> None:
        """Let the store take this for the machine's run."""
        path = self._folder / "boot_id"
        path.write_text(f"boot-{self.number}-{self.boot}\n", encoding="ascii")
        abort.BOOT_ID = path  # type: ignore[misc]

    def open(self) -> MessageStore:
        self.note_boot()
        self.store = MessageStore.open(self.config, now=None)
        self.was_power_lost = self.store.recovered.was_power_lost
        self.is_broken = False
        self.note_synced()
        return self.store

    def note_synced(self) -> None:
        """Note that all of now is on the disk."""
        if self._synced is not None:
            shutil.rmtree(self._synced)
        self._synced = self._folder / "synced"
        shutil.copytree(self.folder, self._synced)

    def kill(self) -> None:
        """End the process: the system keeps what it wrote."""
        self._next_life(lambda folder: shutil.copytree(self.folder, folder))

    def lose_power(self, random: Random) -> None:
        """Lose what was not flushed, all of it or a part; the next boot is another one."""
        assert self._synced is not None
        synced, kind = self._synced, random.randrange(4)
        flushed = self.store.flushed_log_offset if self.store is not None else 0
        end = len(self.log) * UNIT

        def left(folder: Path) -> None:
            shutil.copytree(self.folder if kind == 0 else synced, folder)
            for name in _SYNCED_AT_ONCE:
                if (self.folder / name).exists():
                    shutil.copy2(self.folder / name, folder / name)
            if kind > 1:  # the log came further than queues and index
                shutil.rmtree(folder / COMMIT_LOG)
                shutil.copytree(self.folder / COMMIT_LOG, folder / COMMIT_LOG)
            if kind > 2 and end > flushed:
                _zero(folder / COMMIT_LOG, random.randint(int(flushed), end), end)

        self._next_life(left)
        self.boot += 1

    def _next_life(self, copy: Callable[[Path], object]) -> None:
        before, store, self.store = self.folder, self.store, None
        folder = self._folder / f"life {self._lives + 1}"
        copy(folder)
        if store is not None:
            store.close()
            shutil.rmtree(before)
        self._lives += 1

    def fail(self, random: Random) -> None:
        """End the process of a store that could not flush."""
        self.kill()

    def wipe(self) -> None:
        """Put the folder aside; the identity stays."""
        self._lives += 1
        self.log, self.read_upto = [], [0] * QUEUES
        self.folder.mkdir()
        self.note_synced()

    def check_sound(self) -> None:
        """Close the store, and look at all of it."""
        if self.store is None:
            return
        self.note_boot()
        self.store.close()
        self.store = None
        with StoreReader.open(self.folder, self.config) as reader:
            findings = verify(reader)
        if findings.faults:
            raise Violation(f"I15: the store of {self.number} is not sound: {findings.told}")

    @property
    def begin(self) -> int:
        return int(self.store.begin_log_offset) // UNIT if self.store is not None else 0


class RealStore:
    """The store of one life of a replica: what the broker itself uses."""

    segment_bytes = SEGMENT

    def __init__(self, disk: RealDisk, *, is_sync: bool) -> None:
        self.disk = disk
        self.is_sync = is_sync
        self._store = disk.open()
        epochs = EpochFile(disk.folder)
        epochs.cut(self._store.appended_log_offset + 1)
        self._log = ReplicaLog(self._store, epochs, waits_for_disk=is_sync, most_held_bytes=1 << 30)
        self._cuts = 0
        del disk.log[:]
        self._note_log()
        disk.checks.opened(disk.number, disk.log, self.confirm // UNIT)
        disk.read_upto = [int(self._store.min_offset(TOPIC, queue)) for queue in range(QUEUES)]
        self._log.set_confirm(self.confirm)
        self._read_queues()

    # The verbs

    @property
    def begin(self) -> int:
        return self._log.begin

    @property
    def end(self) -> int:
        return self._log.end

    @property
    def whole_end(self) -> int:
        return self._log.whole_end

    @property
    def safe_end(self) -> int:
        return self._log.safe_end

    @property
    def epochs(self) -> Sequence[EpochStart]:
        return self._log.epochs

    @property
    def confirm(self) -> int:
        return self._log.confirm

    def set_confirm(self, upto: int) -> None:
        before = self.confirm
        if upto % (2 * UNIT):
            raise Violation(f"I6: store {self.disk.number} confirms {upto}, inside a record")
        self.disk.checks.confirmed(self.disk.number, self.disk.log, before // UNIT, upto // UNIT)
        self._log.set_confirm(upto)
        self._read_queues()

    def queue_ends(self, log_offset: int) -> QueueEnds:
        return self._log.queue_ends(log_offset)

    def begin_behind(self, ends: QueueEnds) -> None:
        self._check_disk()
        self._log.begin_behind(ends)
        self.disk.read_upto = [int(self._store.min_offset(TOPIC, queue)) for queue in range(QUEUES)]
        self.disk.note_synced()

    def append_raw(self, log_offset: int, data: bytes) -> None:
        self._check_disk()
        at = log_offset // UNIT
        try:
            self._log.append_raw(log_offset, data)
        finally:
            self._note_log()
        for offset in range(at, len(self.disk.log)):
            self.disk.checks.copied(self.disk.number, offset, self.disk.log[offset], self._units([self.epochs[-1]])[0])

    def cut(self, log_offset: int) -> None:
        if log_offset < self.confirm and not self.disk.checks.is_loss_accepted:
            raise Violation(f"I8: store {self.disk.number} is cut to {log_offset}, confirmed up to {self.confirm}")
        self._log.cut(log_offset)
        del self.disk.log[self.end // UNIT :]
        for queue in range(QUEUES):
            self.disk.read_upto[queue] = min(self.disk.read_upto[queue], int(self._store.max_offset(TOPIC, queue)))
        self.disk.note_synced()

    def finish_tail(self) -> None:
        self._check_disk()
        self._log.finish_tail()
        del self.disk.log[self.end // UNIT :]

    def roll_epoch(self, number: int, start: int) -> None:
        self._check_disk()
        before = [each for each in self._units(self.epochs) if each.start != start // UNIT]
        end = self.end // UNIT
        self.disk.checks.rolled(self.disk.number, before, EpochStart(number, start // UNIT), end)
        self._log.roll_epoch(number, start)

    # What the rim does with it

    def put(self, epoch: int, message: int, now: float) -> int:
        """Append a record; return where it ends. `now` is the wall clock's, which may jump."""
        self._check_disk()
        at = len(self.disk.log)
        body = _BODY.pack(epoch, message) + b"." * _PADDING
        stored_at = max(int(now * 1000) + _BEGIN_MS, self._store.newest_store_time)
        self._store.put(_incoming(body, message % QUEUES, stored_at))
        self._note_log()
        *blanks, first, second = self.disk.log[at:]
        checks, last = self.disk.checks, self._units([self.epochs[-1]])[0]
        for offset, blank in enumerate(blanks, at):
            checks.written[epoch, offset] = blank
        checks.put(self.disk.number, at + len(blanks), [first, second], last)
        return self.end

    def read(self, log_offset: int, size: int) -> bytes:
        return bytes(self._store.read_log(log_offset, size))

    def begin_flush(self) -> Callable[[], None]:
        """Return what waits for the disk."""

        def end_flush() -> None:
            self.disk.note_boot()
            if self.disk.is_broken:
                raise self._store.note_refused(OSError("the disk reported a failed flush"))
            self._cuts += 1
            if self._cuts % 4:
                self._store.flush()
            else:
                self._store.checkpoint()
            self.disk.note_synced()

        return end_flush

    def expire(self, needed_from: int | None) -> None:
        """Remove the first segment, if nobody needs it."""
        self._store.hold_from("slaves", needed_from)
        self._store.reconfigure(replace(self.disk.config, max_log_bytes=max(0, self.end - self.begin - 1)))
        self._store.drop_expired(_BEGIN_MS)
        self._store.reconfigure(self.disk.config)
        begin = self.begin // UNIT
        self.disk.log[:begin] = [None] * begin

    # What it holds

    def _units(self, epochs: Sequence[EpochStart]) -> list[EpochStart]:
        return [EpochStart(each.number, each.start // UNIT) for each in epochs]

    def _note_log(self) -> None:
        """Read what came since the last time."""
        log, begin = self.disk.log, self.begin // UNIT
        if len(log) < begin:
            log.extend([None] * (begin - len(log)))
        while (len(log) + 1) * UNIT <= self.end:
            at = len(log) * UNIT
            first = at // (2 * UNIT) * 2 * UNIT
            log.append(self._unit(at, self.read(first, UNIT), self.read(at, UNIT)))

    def _unit(self, at: int, head: bytes, raw: bytes) -> RealUnit:
        if head[4:8] == _BLANK:
            epoch = max((each.number for each in self.epochs if each.start <= at), default=0)
            return RealUnit(epoch, 0, NO_QUEUE, 0, 0, 0.0, raw)
        epoch, message = _BODY.unpack_from(head, 88)
        (queue,), (queue_offset,), (stored_at,) = (
            _QUEUE.unpack_from(head, 12),
            _LONG.unpack_from(head, 20),
            _LONG.unpack_from(head, 56),
        )
        return RealUnit(epoch, message, queue, queue_offset, at // UNIT % 2, stored_at, raw)

    def _read_queues(self) -> None:
        """Look at what readers see now."""
        self._store.dispatch()
        for queue in range(QUEUES):
            upto = self.disk.read_upto
            upto[queue] = max(upto[queue], int(self._store.min_offset(TOPIC, queue)))
            for message in self._messages(queue, upto[queue]):
                self.disk.checks.read(self.disk.number, queue, upto[queue], message)
                upto[queue] += 1

    def _messages(self, queue: int, first: int) -> Iterator[int]:
        while first < self._store.max_offset(TOPIC, queue):
            got = self._store.get(TOPIC, queue, first, max_messages=32, max_bytes=1 << 20)
            if not got.records:
                raise Violation(f"I3: store {self.disk.number} has no message {first} in queue {queue}")
            for record in got.records:
                _, message = _BODY.unpack_from(record, 88)
                (at,) = _LONG.unpack_from(record, 20)
                if at != first:
                    raise Violation(f"I3: queue {queue} of store {self.disk.number} has {at} where {first} is due")
                (place,) = _LONG.unpack_from(record, 28)
                if place >= self.confirm:
                    raise Violation(f"I2: store {self.disk.number} shows {place}, confirmed up to {self.confirm}")
                first += 1
                yield message

    def _check_disk(self) -> None:
        self.disk.note_boot()
        if self.disk.is_full:
            raise StoreFull(self.disk.folder, 1)


def _incoming(body: bytes, queue: int, now: int) -> Incoming:
    return incoming(Message(TOPIC, body), queue_id=queue, now=now)


def _zero(log: Path, begin: int, end: int) -> None:
    """Let a part of a log that was not flushed be as if it was never written."""
    for path in log.iterdir():
        start = int(path.name)
        first, last = max(begin - start, 0), min(end - start, SEGMENT)
        if first < last:
            with path.open("r+b") as file:
                file.seek(first)
                file.write(bytes(last - first))
