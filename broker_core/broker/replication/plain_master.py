"""A master at one connection of a slave, in the stream of RocketMQ 4.9 (broker/replication/README.md#static-master).

No socket and no clock: it is fed with what has arrived and asked for what is to be written, each time with the present
time in ms of a clock that never goes back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from broker_core.broker.config import ReplicationSettings
from broker_core.errors import GantryError
from broker_core.protocol.ha_plain import ReportReader, encode_frame_head
from broker_core.store.errors import NotInLog

Parts = tuple[bytes | memoryview, ...]
"""What is written together."""

NOTHING: Final[Parts] = ()


class StreamEnded(GantryError):
    """Raised when the connection is to be closed; the text is the reason."""


class ReadableLog(Protocol):
    """The part of a store that is used here."""

    @property
    def segment_bytes(self) -> int:
        """The size of a segment."""

    @property
    def appended_log_offset(self) -> int:
        """The end of the log."""

    def read_log(self, log_offset: int, most: int) -> memoryview:
        """Return at most `most` bytes of one segment from there on; raise NotInLog."""


class PlainMaster:
    """One connection: what the slave has, and what it is sent next."""

    def __init__(self, log: ReadableLog, settings: Callable[[], ReplicationSettings], *, now: int) -> None:
        """`settings` returns the present ones; now is when the slave connected."""
        self._log = log
        self._settings = settings
        self._reports = ReportReader()
        self._heard = self._wrote = now
        self._next: int | None = None
        self.began_at: int | None = None
        """The log offset of the first byte that this connection is sent."""
        self.acked: int | None = None
        """Up to where the slave has the log; None before its first report."""
        self.sent_bytes = 0
        """Of the log, over this connection."""

    def receive(self, data: bytes, now: int) -> bool:
        """Take what has arrived; return whether it was a report. Raises StreamEnded."""
        self._heard = now
        report = self._reports.feed(data)
        # As in RocketMQ, a slave may have nothing to say yet.
        if report is None or (self._next is None and report < 0):
            return False
        if self._next is None:
            self._next = self.began_at = self._begin_at(report)
        elif not 0 <= report <= self._next:
            raise StreamEnded(f"it acknowledged the log up to {report}, and was sent what is before {self._next}")
        self.acked = report
        return True

    def _begin_at(self, report: int) -> int:
        end = self._log.appended_log_offset
        if report > end:
            raise StreamEnded(f"it reported a log that ends at {report}, and this one ends at {end}")
        return report or end - end % self._log.segment_bytes

    def next_parts(self, now: int) -> Parts:
        """Return the next frame: bytes of the log, or a heartbeat when it is time for one. Raises StreamEnded."""
        if self._next is None:
            return NOTHING
        settings = self._settings()
        try:
            data = self._log.read_log(self._next, settings.batch_bytes)
        except NotInLog as error:
            raise StreamEnded(f"it cannot go on: {error}") from error
        if not data and now - self._wrote < settings.heartbeat_ms:
            return NOTHING
        head = encode_frame_head(self._next, len(data))
        self._wrote = now
        self._next += len(data)
        self.sent_bytes += len(data)
        return (head, data) if data else (head,)

    def check(self, now: int) -> None:
        """Raise StreamEnded if the slave has been silent for too long."""
        if now - self._heard >= self._settings().silence_ms:
            raise StreamEnded(f"nothing came for {now - self._heard} ms")
