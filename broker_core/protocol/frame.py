"""Split a stream of bytes into frames (protocol/README.md#frames).

::

     0        4        5              8                  8+h
     ├────────┼────────┼──────────────┼──────────────────┼─────────────┐
     │ length │ serial │ h: header's  │ header           │ body        │
     │ int32  │ 0 or 1 │ length, 24bit│ h bytes          │ the rest    │
     └────────┴────────┴──────────────┴──────────────────┴─────────────┘
              └────────────────────── length ──────────────────────────┘

`length` counts the bytes after it. A frame with its length word has at most 16 MiB. A reader cannot resynchronise with
the stream, so every fault ends the connection; complete frames before the fault are still valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final, NamedTuple

from broker_core.native import native
from broker_core.protocol.codes import SERIALIZER_BINARY
from broker_core.protocol.errors import FrameError, FrameTooLarge, MalformedFrame

MAX_FRAME: Final = 16 * 1024 * 1024  # bytes, the length word included
MAX_HEADER: Final = 0xFFFFFF  # bytes; the header's length has 24 bits

_PREFIX: Final = Struct(">II")  # length, then serializer and header length as one word
_PREFIX_SIZE: Final = 8
_LENGTH_SIZE: Final = 4
_LARGEST_WORD: Final = SERIALIZER_BINARY << 24 | MAX_HEADER
_unpack_prefix: Final = _PREFIX.unpack_from


class Frame(NamedTuple):
    """One frame: the form of the header, the header's bytes, the body's bytes."""

    serializer: int
    header: bytes
    body: bytes


def _cut_frames(kind: type[Frame], data: bytes, max_frame: int, max_header: int, frames: list[Frame]) -> int:
    """Append the complete frames of `data` to `frames`, up to the first fault; return where the rest begins."""
    size = len(data)
    position = 0
    while position + _PREFIX_SIZE <= size:
        length, word = _unpack_prefix(data, position)
        header_at = position + _PREFIX_SIZE
        body_at = header_at + (word & MAX_HEADER)
        end = position + _LENGTH_SIZE + length
        if end > size or _is_faulty(length, word, max_frame, max_header):
            break
        frames.append(kind(word >> 24, data[header_at:body_at], data[body_at:end]))
        position = end
    return position


def _is_faulty(length: int, word: int, max_frame: int, max_header: int) -> bool:
    header_size = word & MAX_HEADER
    return (
        length > max_frame - _LENGTH_SIZE
        or header_size + _LENGTH_SIZE > length
        or not 0 < header_size <= max_header
        or word > _LARGEST_WORD
    )


cut_frames: Final = native.cut_frames if native else _cut_frames


class FrameReader:
    """Splits incoming data into frames and keeps an incomplete frame for the next call."""

    __slots__ = ("_kept", "_max_frame", "_max_header", "_wanted", "fault")

    def __init__(self, max_frame: int = MAX_FRAME, max_header: int = MAX_HEADER) -> None:
        """Set the limits, in bytes, of a frame with its length word and of a header."""
        self._max_frame = max_frame
        self._max_header = min(max_header, MAX_HEADER)
        self._kept = bytearray()  # the part of a frame received so far
        self._wanted = 0  # how many bytes `_kept` needs before the next attempt
        self.fault: FrameError | None = None
        """The fault that ended the stream; nothing after it can be split into frames."""

    @property
    def buffered(self) -> int:
        """Bytes of an incomplete frame; never more than one frame."""
        return len(self._kept)

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames completed by `data`, up to the first fault.

        A frame that is too large or invalid is not kept: it sets `fault`, and later data is ignored.
        """
        if self.fault is not None:
            return []
        kept = self._kept
        if kept:
            kept += data
            if len(kept) < self._wanted:
                return []
            data = bytes(kept)
            kept.clear()
        frames: list[Frame] = []
        end = cut_frames(Frame, data, self._max_frame, self._max_header, frames)
        if end < len(data):
            self.fault = self._look_at_rest(data, end)
            if self.fault is None:
                kept += data[end:] if end else data
        return frames

    def drop(self) -> None:
        """Free what was received of a frame: nothing more will come."""
        self._kept = bytearray()

    def _look_at_rest(self, data: bytes, position: int) -> FrameError | None:
        """Determine how many bytes the frame at `position` needs; return a fault that is already visible."""
        head = data[position : position + _PREFIX_SIZE]
        left = len(data) - position
        self._wanted = _LENGTH_SIZE
        if left >= _PREFIX_SIZE:
            length, word = _unpack_prefix(data, position)
            if _is_faulty(length, word, self._max_frame, self._max_header):
                return self._fault_of(length, word, head)
            self._wanted = _LENGTH_SIZE + length
        elif left >= _LENGTH_SIZE:
            length = int.from_bytes(data[position : position + _LENGTH_SIZE], "big")
            if not _LENGTH_SIZE < length <= self._max_frame - _LENGTH_SIZE:
                return self._fault_of(length, 0, head)
            self._wanted = _PREFIX_SIZE
        return None

    def _fault_of(self, length: int, word: int, head: bytes) -> FrameError:
        if length > self._max_frame - _LENGTH_SIZE:
            return FrameTooLarge(length + _LENGTH_SIZE, self._max_frame, head=head)
        size = word & MAX_HEADER
        if size > self._max_header:
            return MalformedFrame(f"a header of {size} bytes is larger than the limit of {self._max_header}", head=head)
        return MalformedFrame(
            f"a frame of {length} bytes with serializer {word >> 24} and a header of {size} bytes", head=head
        )


def frame_prefix(serializer: int, header_size: int, body_size: int) -> bytes:
    """Return the bytes before the header of a frame; raise FrameTooLarge if a peer would refuse it."""
    check_size(_PREFIX_SIZE + header_size + body_size)
    return _PREFIX.pack(_LENGTH_SIZE + header_size + body_size, serializer << 24 | header_size)


def check_size(size: int) -> None:
    """Raise FrameTooLarge for a frame of `size` bytes, length word included, that a peer would refuse."""
    if size > MAX_FRAME:
        raise FrameTooLarge(size, MAX_FRAME)


def frame_parts(
    serializer: int, header: bytes, body: bytes, views: Sequence[bytes | memoryview] = ()
) -> list[bytes | memoryview]:
    """Return the buffers of one frame, to be sent in order. Raises FrameTooLarge if a peer would refuse it."""
    head = frame_prefix(serializer, len(header), len(body) + sum(map(len, views))) + header
    return [head, body, *views] if body else [head, *views]
