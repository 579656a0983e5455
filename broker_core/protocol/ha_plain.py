"""The replication stream of RocketMQ 4.9: what a slave and a master write, and how it is read.

Bytes and rules: protocol/README.md#stream-of-49. Nothing here knows a socket: a reader is fed with what has arrived and
keeps the part that is not complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from broker_core.protocol.errors import MalformedStream

MAX_DATA: Final = 4 * 1024 * 1024 - 12  # bytes of the log in one frame: more never complete at a slave of 4.9

_REPORT: Final = Struct(">q")
_HEAD: Final = Struct(">qi")


class Frame(NamedTuple):
    """Bytes of the log; none: a heartbeat at the next offset."""

    log_offset: int
    data: bytes = b""


def encode_report(log_offset: int) -> bytes:
    """Return the 8 bytes that tell where a slave's log ends."""
    return _REPORT.pack(log_offset)


def encode_frame_head(log_offset: int, size: int) -> bytes:
    """Return the 12 bytes before `size` bytes of the log; size 0 makes a heartbeat."""
    return _HEAD.pack(log_offset, size)


class ReportReader:
    """Reads what a slave sends."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, data: bytes | memoryview) -> int | None:
        """Return the last report that `data` completes, None when it completes none.

        Earlier ones of the same read are passed over, as RocketMQ's master does: each says all that those before said.
        """
        kept = self._kept + bytes(data)
        whole = len(kept) - len(kept) % _REPORT.size
        self._kept = kept[whole:]
        if not whole:
            return None
        (report,) = _REPORT.unpack_from(kept, whole - _REPORT.size)
        return int(report)


class FrameReader:
    """Reads what a master sends."""

    __slots__ = ("_kept", "_limit")

    def __init__(self, *, limit: int = MAX_DATA) -> None:
        self._kept = bytearray()
        self._limit = limit

    def feed(self, data: bytes | memoryview) -> Iterator[Frame]:
        """Yield the frames that `data` completes; the iterator is to be used up before the next call.

        Raises MalformedStream for a head that no master sends, before its data are awaited. The connection is then to
        be closed, and the reader not to be fed again.
        """
        self._kept += data
        at = 0
        try:
            while (frame := self._frame_at(at)) is not None:
                at += _HEAD.size + len(frame.data)
                yield frame
        finally:
            del self._kept[:at]

    def _frame_at(self, at: int) -> Frame | None:
        if len(self._kept) < at + _HEAD.size:
            return None
        log_offset, size = _HEAD.unpack_from(self._kept, at)
        if log_offset < 0 or not 0 <= size <= self._limit:
            raise MalformedStream(f"a frame of {size} bytes at log offset {log_offset}")
        begin = at + _HEAD.size
        if len(self._kept) < begin + size:
            return None
        return Frame(log_offset, bytes(self._kept[begin : begin + size]))
