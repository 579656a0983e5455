"""The replication stream with epochs: what a slave and a master in failover mode write, and how it is read.

Bytes and rules: protocol/README.md#stream-with-epochs. Nothing here knows a socket: a reader is fed with what has
arrived, keeps the part of a message that is not complete, and raises MalformedStream for bytes that no peer sends; the
connection is then to be closed, and the reader not to be fed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

from broker_core.protocol.errors import MalformedStream

MAX_DATA: Final = 4 * 1024 * 1024  # bytes of the log in one frame
MAX_EPOCHS: Final = 65536  # entries in one handshake of a master

_STATE_HANDSHAKE: Final = 1
_STATE_TRANSFER: Final = 2

_SLAVE_HANDSHAKE: Final = Struct(">ihhIi")  # state, newest segment only, learner, ticket, id
_REPORT: Final = Struct(">iq")
_MASTER_HANDSHAKE: Final = Struct(">iiqi")  # state, size of the entries, end, epoch
_EPOCH: Final = Struct(">iq")
_DATA: Final = Struct(">iiqiqq")  # state, size, log offset, epoch, its start, confirm offset


class EpochStart(NamedTuple):
    """An epoch and the log offset at which it begins."""

    number: int
    start: int


class SlaveHandshake(NamedTuple):
    """First message of a slave."""

    broker_id: int
    ticket: int = 0
    """What the master's answer to the request before the stream named; 0 without one."""
    is_learner: bool = False
    is_newest_only: bool = False


class Report(NamedTuple):
    """The log offset up to which a slave has the log."""

    log_offset: int


class MasterHandshake(NamedTuple):
    """Answer to a slave's handshake."""

    epoch: int
    end: int
    epochs: tuple[EpochStart, ...]


class Data(NamedTuple):
    """Bytes of the log; none: a heartbeat at the next offset."""

    log_offset: int
    epoch: int
    epoch_start: int
    confirm: int
    data: bytes = b""


FromSlave: TypeAlias = SlaveHandshake | Report
FromMaster: TypeAlias = MasterHandshake | Data


def encode_slave_handshake(handshake: SlaveHandshake) -> bytes:
    """Return the 16 bytes with which a slave begins."""
    newest, learner = int(handshake.is_newest_only), int(handshake.is_learner)
    return _SLAVE_HANDSHAKE.pack(_STATE_HANDSHAKE, newest, learner, handshake.ticket, handshake.broker_id)


def encode_report(report: Report) -> bytes:
    """Return the 12 bytes that tell where a slave's log ends."""
    return _REPORT.pack(_STATE_TRANSFER, report.log_offset)


def encode_master_handshake(handshake: MasterHandshake) -> bytes:
    """Return the 20 + 12 n bytes of a master that knows n epochs. Raises MalformedStream if a slave would refuse it."""
    _check_epochs(handshake.epochs, handshake.end, handshake.epoch)
    size = len(handshake.epochs) * _EPOCH.size
    head = _MASTER_HANDSHAKE.pack(_STATE_HANDSHAKE, size, handshake.end, handshake.epoch)
    return head + b"".join(_EPOCH.pack(*each) for each in handshake.epochs)


def encode_data_head(data: Data, size: int) -> bytes:
    """Return the 36 bytes before `size` bytes of the log; `data.data` is not looked at."""
    return _DATA.pack(_STATE_TRANSFER, size, data.log_offset, data.epoch, data.epoch_start, data.confirm)


def encode_data(data: Data) -> bytes:
    """Return a whole frame: the 36 bytes and the data."""
    return encode_data_head(data, len(data.data)) + data.data


class _Kept:
    """Bytes that have arrived and are not read yet."""

    __slots__ = ("_at", "_bytes")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._at = 0

    def add(self, data: bytes | memoryview) -> None:
        if self._at:
            del self._bytes[: self._at]
            self._at = 0
        self._bytes += data

    def has(self, size: int) -> bool:
        return len(self._bytes) - self._at >= size

    def unpack(self, form: Struct) -> tuple[int, ...]:
        return form.unpack_from(self._bytes, self._at)

    def take(self, size: int) -> bytes:
        begin = self._at
        self._at += size
        return bytes(self._bytes[begin : self._at])

    def skip(self, size: int) -> None:
        self._at += size


class SlaveStreamReader:
    """Reads what a slave sends: one handshake, then reports."""

    __slots__ = ("_is_greeted", "_kept")

    def __init__(self) -> None:
        self._kept = _Kept()
        self._is_greeted = False

    def feed(self, data: bytes | memoryview) -> Iterator[FromSlave]:
        """Yield the messages that `data` completes. Raises MalformedStream."""
        self._kept.add(data)
        if not self._is_greeted:
            if not self._kept.has(_SLAVE_HANDSHAKE.size):
                return
            yield self._read_handshake()
            self._is_greeted = True
        while self._kept.has(_REPORT.size):
            yield self._read_report()

    def _read_handshake(self) -> SlaveHandshake:
        state, newest, learner, ticket, broker_id = self._kept.unpack(_SLAVE_HANDSHAKE)
        _check(state == _STATE_HANDSHAKE, f"a slave began with state {state}")
        _check(newest in (0, 1) and learner in (0, 1), f"flags {newest} and {learner} of a slave")
        _check(broker_id > 0, f"a slave with id {broker_id}")
        self._kept.skip(_SLAVE_HANDSHAKE.size)
        return SlaveHandshake(broker_id, ticket, bool(learner), bool(newest))

    def _read_report(self) -> Report:
        state, log_offset = self._kept.unpack(_REPORT)
        _check(state == _STATE_TRANSFER, f"a slave's report has state {state}")
        _check(log_offset >= 0, f"a slave reported {log_offset}")
        self._kept.skip(_REPORT.size)
        return Report(log_offset)


class MasterStreamReader:
    """Reads what a master sends: one handshake, then data and heartbeats."""

    __slots__ = ("_is_greeted", "_kept")

    def __init__(self) -> None:
        self._kept = _Kept()
        self._is_greeted = False

    def feed(self, data: bytes | memoryview) -> Iterator[FromMaster]:
        """Yield the messages that `data` completes. Raises MalformedStream."""
        self._kept.add(data)
        while True:
            message = self._read_data() if self._is_greeted else self._read_handshake()
            if message is None:
                return
            self._is_greeted = True
            yield message

    def _read_handshake(self) -> MasterHandshake | None:
        if not self._kept.has(_MASTER_HANDSHAKE.size):
            return None
        state, size, end, epoch = self._kept.unpack(_MASTER_HANDSHAKE)
        _check(state == _STATE_HANDSHAKE, f"a master began with state {state}")
        _check(0 <= size <= MAX_EPOCHS * _EPOCH.size and size % _EPOCH.size == 0, f"{size} bytes of epochs")
        if not self._kept.has(_MASTER_HANDSHAKE.size + size):
            return None
        self._kept.skip(_MASTER_HANDSHAKE.size)
        epochs = tuple(EpochStart(*each) for each in _EPOCH.iter_unpack(self._kept.take(size)))
        _check_epochs(epochs, end, epoch)
        return MasterHandshake(epoch, end, epochs)

    def _read_data(self) -> Data | None:
        if not self._kept.has(_DATA.size):
            return None
        state, size, log_offset, epoch, epoch_start, confirm = self._kept.unpack(_DATA)
        _check(state == _STATE_TRANSFER, f"a master's frame has state {state}")
        _check(0 <= size <= MAX_DATA, f"a frame of {size} bytes")
        _check(
            epoch > 0 and 0 <= epoch_start <= log_offset, f"epoch {epoch} from {epoch_start}, data from {log_offset}"
        )
        _check(confirm >= 0, f"a confirm offset of {confirm}")
        if not self._kept.has(_DATA.size + size):
            return None
        self._kept.skip(_DATA.size)
        return Data(log_offset, epoch, epoch_start, confirm, self._kept.take(size))


def _check_epochs(epochs: tuple[EpochStart, ...], end: int, epoch: int) -> None:
    """Raise MalformedStream unless both numbers rise strictly and nothing lies beyond the end or the present epoch."""
    number, start = 0, -1
    for each in epochs:
        _check(each.number > number and each.start > start, f"epoch {each} behind {number} from {start}")
        number, start = each
    _check(epoch > 0 and number <= epoch, f"a master of epoch {epoch} knows epoch {number}")
    _check(end >= 0 and start <= end, f"a log that ends at {end} has an epoch from {start}")


def _check(holds: bool, what: str) -> None:
    if not holds:
        raise MalformedStream(what)
