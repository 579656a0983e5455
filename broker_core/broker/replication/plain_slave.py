"""A slave of RocketMQ 4.9's stream, without sockets: bytes in, reports out (broker/README.md#following-a-master).

One object is one connection. It appends what arrives to the log and says how far the log reaches: at once, after what
was appended, and every five seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from broker_core.errors import GantryError
from broker_core.protocol.ha_plain import Frame, FrameReader, encode_report

REPORT_MS: Final = 5_000
"""A slave that has nothing new to say reports so often, as the master closes a silent connection."""


class FollowError(GantryError):
    """A reason why a master cannot be followed at the moment; the text is for operators."""


class OtherPlace(FollowError):
    """Raised when the master sends from a place that does not continue this log."""

    def __init__(self, sent: int, wanted: int) -> None:
        super().__init__(f"the master sends its log from {sent} on, and this log goes on at {wanted}")


class MasterSilent(FollowError):
    """Raised when no byte came for too long; a stopped process keeps its sockets."""


class SegmentsDiffer(FollowError):
    """Raised when the logs have segments of different sizes: their bytes would not fit."""


class LogsDiverge(FollowError):
    """Raised when one log begins or ends where the other cannot go on; only an operator can decide what is right."""


class FollowedLog(Protocol):
    """The part of a store that is used here."""

    @property
    def appended_log_offset(self) -> int:
        """Where the log ends."""

    @property
    def flushed_log_offset(self) -> int:
        """Everything before this log offset is on the disk."""

    def append_raw(self, log_offset: int, data: bytes | memoryview) -> None:
        """Append bytes of the master's log."""


@dataclass(frozen=True, slots=True)
class MasterLog:
    """The log of a master: the size of its segments, where it begins and where it ends."""

    segment_bytes: int
    begin: int
    end: int


def starting_point(end: int, segment_bytes: int, master: MasterLog) -> int:
    """Return the log offset from which a log that ends at `end` is to be sent on: an empty one gets all there is.

    Raises SegmentsDiffer or LogsDiverge.
    """
    if master.segment_bytes != segment_bytes:
        raise SegmentsDiffer(
            f"mappedFileSizeCommitLog is {segment_bytes} here and {master.segment_bytes} at the master: "
            "the same bytes do not fit, so start this broker with an empty store and the master's size"
        )
    if end > master.end:
        raise LogsDiverge(
            f"this log ends at {end} and the master's at {master.end}: the master lost its end, or this is another "
            "log. To follow it, stop this broker and cut its log: python -m broker_core.store cut"
        )
    if 0 < end < master.begin:
        raise LogsDiverge(
            f"this log ends at {end} and the master's begins at {master.begin}: what is between is gone. "
            "To follow it, stop this broker, rename its folder and begin anew"
        )
    return end or master.begin


class PlainSlave:
    """One connection to a master. Times are ms of a clock that never goes back."""

    def __init__(self, log: FollowedLog, *, start: int, reports_flushed: bool, silence_ms: int, now: int) -> None:
        """`start` is what the first report asks for; with `reports_flushed` a report is about what is on the disk."""
        self._log = log
        self._start = start
        self._reports_flushed = reports_flushed
        self.silence_ms = silence_ms
        self._frames = FrameReader()
        self._heard_at = now
        self._reported: int | None = None
        self._reported_at = now

    def report(self, now: int) -> bytes:
        """Return the report that is due, empty if none is."""
        reached = self._reached()
        if reached == self._reported and now - self._reported_at < REPORT_MS:
            return b""
        self._reported, self._reported_at = reached, now
        return encode_report(reached)

    def _reached(self) -> int:
        if self._reported is None:
            return self._start
        end = self._log.appended_log_offset
        if self._reports_flushed:
            end = min(end, self._log.flushed_log_offset)
        # A master takes a lower value for an ack of less, and an empty log has asked for what it gets.
        return max(end, self._reported)

    def feed(self, data: bytes, now: int) -> bool:
        """Append what a read brought; return whether the log grew.

        Raises OtherPlace, MalformedStream, and what `MessageStore.append_raw` raises; the connection is then to be
        closed without another report.
        """
        self._heard_at = now
        before = self._log.appended_log_offset
        for frame in self._frames.feed(data):
            self._take(frame)
        return self._log.appended_log_offset > before

    def _take(self, frame: Frame) -> None:
        wanted = self._log.appended_log_offset or self._start
        if frame.log_offset != wanted:
            raise OtherPlace(frame.log_offset, wanted)
        if frame.data:
            self._log.append_raw(frame.log_offset, frame.data)

    def check(self, now: int) -> None:
        """Raise MasterSilent when nothing came for too long."""
        if now - self._heard_at >= self.silence_ms:
            raise MasterSilent(f"nothing came from the master for {self.silence_ms} ms")
