"""Splitting a stream into frames."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.errors import FrameError, FrameTooLarge, MalformedFrame
from broker_core.protocol.frame import MAX_FRAME, Frame, FrameReader, frame_parts

FRAMES = st.lists(
    st.builds(Frame, st.integers(0, 1), st.binary(min_size=1, max_size=60), st.binary(max_size=60)), max_size=6
)


def wire(*frames: Frame) -> bytes:
    return b"".join(b"".join(frame_parts(each.serializer, each.header, each.body)) for each in frames)


def prefix(length: int, serializer: int, header: int) -> bytes:
    return length.to_bytes(4, "big") + bytes([serializer]) + header.to_bytes(3, "big")


@given(FRAMES, st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_frames_come_out_whole_however_the_stream_is_cut(frames: list[Frame], steps: list[int]) -> None:
    reader = FrameReader()
    stream = wire(*frames)
    found: list[Frame] = []
    at = turn = 0
    while at < len(stream):
        step = steps[turn % len(steps)]
        found += reader.feed(stream[at : at + step])
        at, turn = at + step, turn + 1
    assert found == frames
    assert reader.buffered == 0


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (prefix(MAX_FRAME - 3, 0, 1), FrameTooLarge),  # 16,777,213: one more than the largest
        (b"\xff\xff\xff\xff", FrameTooLarge),  # a negative length
        (prefix(3, 0, 1), MalformedFrame),  # less than its own prefix
        (prefix(10, 0, 7), MalformedFrame),  # the header is longer than the frame
        (prefix(10, 0, 0), MalformedFrame),  # no header
        (prefix(10, 2, 1), MalformedFrame),  # an unknown serializer
        (b"GET / HTTP/1.1\r\n", FrameTooLarge),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01", FrameTooLarge),  # a TLS handshake on a plain port
    ],
)
def test_what_cannot_be_a_frame_is_refused_before_it_is_kept(data: bytes, error: type[FrameError]) -> None:
    reader = FrameReader()
    assert reader.feed(data) == []
    assert type(reader.fault) is error
    assert reader.fault.head == data[:8]
    assert reader.buffered == 0


def test_the_largest_frame_is_taken() -> None:
    reader = FrameReader()
    assert reader.feed(prefix(MAX_FRAME - 4, 0, 1)) == []
    assert reader.buffered == 8


def test_a_length_alone_is_enough_to_refuse() -> None:
    reader = FrameReader()
    assert reader.feed(b"\x7f\x00\x00\x00") == []
    assert isinstance(reader.fault, FrameTooLarge)


def test_frames_before_a_fault_are_not_lost() -> None:
    good = Frame(0, b"{}", b"body")
    reader = FrameReader()
    assert reader.feed(wire(good, good) + prefix(3, 0, 1)) == [good, good]
    assert isinstance(reader.fault, MalformedFrame)


def test_after_a_fault_nothing_is_cut_or_kept() -> None:
    reader = FrameReader()
    reader.feed(prefix(3, 0, 1))
    fault = reader.fault
    assert fault is not None

    for data in (wire(Frame(0, b"{}", b"body")), b"\x00"):
        assert reader.feed(data) == []
        assert reader.fault is fault
        assert reader.buffered == 0


def test_a_frame_too_large_for_the_peer_is_not_made() -> None:
    assert frame_parts(0, b"{}", bytes(MAX_FRAME - 10))
    with pytest.raises(FrameTooLarge):
        frame_parts(0, b"{}", bytes(MAX_FRAME - 9))


@given(st.lists(st.binary(max_size=200), max_size=8))
def test_no_bytes_crash_it_and_it_keeps_no_more_than_one_frame(pieces: list[bytes]) -> None:
    reader = FrameReader(max_frame=100)
    for piece in pieces:
        reader.feed(piece)
        if reader.fault is not None:
            break
        assert reader.buffered <= 100
