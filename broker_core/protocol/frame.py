"""Cut a stream of bytes into frames (remoting-protocol.md 1.2).

::

     0        4        5              8                  8+h
     ├────────┼────────┼──────────────┼──────────────────┼─────────────┐
     │ length │ serial │ h: header's  │ header           │ body        │
     │ int32  │ 0 or 1 │ length, 24bit│ h bytes          │ the rest    │
     └────────┴────────┴──────────────┴──────────────────┴─────────────┘
              └────────────────────── length ──────────────────────────┘

`length` counts what follows it. A frame with its length word has at most 16 MiB. Nothing in the stream lets a reader
find its place again, so every fault ends the connection; frames that were whole before the fault are still good.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

from broker_core.protocol.codes import SERIALIZER_BINARY
from broker_core.protocol.errors import FrameError, FrameTooLarge, MalformedFrame

MAX_FRAME: Final = 16 * 1024 * 1024  # bytes, the length word included
MAX_HEADER: Final = 0xFFFFFF  # bytes; the header's length has 24 bits

_PREFIX: Final = Struct(">II")  # length, then serializer and header length as one word
_PREFIX_SIZE: Final = 8
_LENGTH_SIZE: Final = 4
_LARGEST_WORD: Final = SERIALIZER_BINARY << 24 | MAX_HEADER
_unpack_prefix: Final = _PREFIX.unpack_from


@dataclass(slots=True)
class Frame:
    """One frame: which form the header has, the header's bytes, the body's bytes."""

    serializer: int
    header: bytes
    body: bytes


class FrameReader:
    """Cuts what arrives into frames and keeps the piece that is not yet whole."""

    __slots__ = ("_kept", "_max_frame", "_max_header", "_wanted")

    def __init__(self, max_frame: int = MAX_FRAME, max_header: int = MAX_HEADER) -> None:
        """Take the bytes that a frame with its length word, and a header, may have."""
        self._max_frame = max_frame
        self._max_header = min(max_header, MAX_HEADER)
        self._kept = bytearray()  # the piece of a frame that came so far
        self._wanted = 0  # bytes `_kept` needs before there is anything to cut

    @property
    def buffered(self) -> int:
        """Bytes that wait for the rest of their frame; never more than one frame."""
        return len(self._kept)

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that `data` completes.

        Raises FrameTooLarge before keeping a frame that is, MalformedFrame for one that cannot be; the error carries
        the frames that were whole before. The reader is of no use afterwards.
        """
        kept = self._kept
        if kept:
            kept += data
            if len(kept) < self._wanted:
                return []
            data = bytes(kept)
            kept.clear()
        frames: list[Frame] = []
        try:
            end = self._cut(data, frames)
        except FrameError as error:
            error.frames = frames
            raise
        if end < len(data):
            kept += data[end:] if end else data
        return frames

    def _cut(self, data: bytes, frames: list[Frame]) -> int:
        """Append the whole frames of `data` to `frames`; return where the piece that remains begins."""
        size = len(data)
        largest = self._max_frame - _LENGTH_SIZE
        largest_header = self._max_header
        position = 0
        while position + _PREFIX_SIZE <= size:
            length, word = _unpack_prefix(data, position)
            header_size = word & MAX_HEADER
            header_at = position + _PREFIX_SIZE
            body_at = header_at + header_size
            end = position + _LENGTH_SIZE + length
            if length > largest or body_at > end or not 0 < header_size <= largest_header or word > _LARGEST_WORD:
                raise self._fault(length, word)
            if end > size:
                self._wanted = end - position
                return position
            frames.append(Frame(word >> 24, data[header_at:body_at], data[body_at:end]))
            position = end
        self._wanted = _LENGTH_SIZE
        if position + _LENGTH_SIZE <= size:
            length = int.from_bytes(data[position : position + _LENGTH_SIZE], "big")
            if not _LENGTH_SIZE < length <= largest:
                raise self._fault(length, 0)
            self._wanted = _PREFIX_SIZE
        return position

    def _fault(self, length: int, word: int) -> FrameError:
        if length > self._max_frame - _LENGTH_SIZE:
            return FrameTooLarge(length + _LENGTH_SIZE, self._max_frame)
        header_size = word & MAX_HEADER
        if header_size > self._max_header:
            return MalformedFrame(f"a header of {header_size} bytes is larger than the limit of {self._max_header}")
        return MalformedFrame(
            f"a frame of {length} bytes with serializer {word >> 24} and a header of {header_size} bytes"
        )


def frame_parts(serializer: int, header: bytes, body: bytes) -> list[bytes]:
    """Return the buffers that make one frame; together they are what goes on the wire.

    Raises FrameTooLarge when a peer would refuse it.
    """
    size = _PREFIX_SIZE + len(header) + len(body)
    if size > MAX_FRAME:
        raise FrameTooLarge(size, MAX_FRAME)
    prefix = _PREFIX.pack(size - _LENGTH_SIZE, serializer << 24 | len(header))
    return [prefix, header, body] if body else [prefix, header]
