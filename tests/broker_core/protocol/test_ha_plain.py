"""The replication stream of RocketMQ 4.9, with bytes that were recorded between two of its brokers."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.errors import MalformedStream
from broker_core.protocol.ha_plain import (
    MAX_DATA,
    Frame,
    FrameReader,
    ReportReader,
    encode_frame_head,
    encode_report,
)
from broker_core.protocol.record import decode_one

RECORD = bytes.fromhex(
    "00000072 DAA320A7 3610A686 00000000 00000000 0000000000000000 0000000000000000 00000000"
    "0000018BCFE56800 7F000001 0000862C 000001A200238F8E 7F000001 0000EEAC"
    "00000000 0000000000000000 00000005 68656C6C6F 01 54 0011 4B455953016B3002434C555354455201 43"
)
FIRST_HEARTBEAT = bytes.fromhex("00000000 00000000 00000000")
DATA_HEAD = bytes.fromhex("00000000 00000000 0000023A")
REPORT = bytes.fromhex("00000000 0000023A")
HEARTBEAT = bytes.fromhex("00000000 0000023A 00000000")


def test_the_bytes_of_a_slave() -> None:
    assert encode_report(0) == bytes(8)
    assert encode_report(570) == REPORT
    assert ReportReader().feed(REPORT) == 570


def test_the_bytes_of_a_master() -> None:
    log = RECORD * 5
    assert encode_frame_head(0, 0) == FIRST_HEARTBEAT
    assert encode_frame_head(0, len(log)) == DATA_HEAD
    assert encode_frame_head(570, 0) == HEARTBEAT
    frames = list(FrameReader().feed(FIRST_HEARTBEAT + DATA_HEAD + log + HEARTBEAT))
    assert frames == [Frame(0), Frame(0, log), Frame(570)]


def test_the_recorded_data_are_a_record() -> None:
    (frame,) = FrameReader().feed(encode_frame_head(0, len(RECORD)) + RECORD)
    record = decode_one(frame.data)
    assert (record.topic, record.body, record.log_offset) == ("T", b"hello", 0)


def test_of_one_read_only_the_last_report_counts() -> None:
    assert ReportReader().feed(encode_report(1) + encode_report(7) + REPORT[:3]) == 7


def test_a_report_may_come_in_halves() -> None:
    reader = ReportReader()
    assert reader.feed(REPORT[:4]) is None
    assert reader.feed(REPORT[4:]) == 570


@pytest.mark.parametrize(
    "head",
    [
        encode_frame_head(-1, 0),
        encode_frame_head(0, -1),
        encode_frame_head(0, MAX_DATA + 1),
        b"HTTP/1.1 400",
        bytes.fromhex("16030100a5010000a10303ff"),
        b'\x00\x00\x00\xd9\x00\x00\x00\xd5{"co',
    ],
)
def test_what_no_master_sends_is_refused_before_its_data_come(head: bytes) -> None:
    with pytest.raises(MalformedStream):
        list(FrameReader().feed(head))


def test_the_largest_frame_fits_the_buffer_of_a_slave_of_4_9() -> None:
    data = bytes(MAX_DATA)
    assert list(FrameReader().feed(encode_frame_head(0, len(data)) + data)) == [Frame(0, data)]
    assert 12 + MAX_DATA == 4 * 1024 * 1024


_offsets = st.integers(0, (1 << 63) - 1)
_cuts = st.lists(st.integers(0, 400), max_size=12)


@given(st.lists(st.builds(Frame, _offsets, st.binary(max_size=60)), max_size=6), _cuts)
def test_a_master_is_read_however_its_bytes_arrive(frames: list[Frame], cuts: list[int]) -> None:
    reader = FrameReader()
    read: list[Frame] = []
    for part in _parts(b"".join(encode_frame_head(at, len(data)) + data for at, data in frames), cuts):
        read += reader.feed(part)
    assert read == frames


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=6), _cuts)
def test_the_last_report_is_read_however_its_bytes_arrive(reports: list[int], cuts: list[int]) -> None:
    reader = ReportReader()
    read = [reader.feed(part) for part in _parts(b"".join(map(encode_report, reports)), cuts)]
    told = [report for report in read if report is not None]
    assert told[-1] == reports[-1]
    rest = iter(reports)
    assert all(report in rest for report in told)


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_any_bytes_from_a_master_are_read_or_refused(parts: list[bytes]) -> None:
    reader = FrameReader()
    with suppress(MalformedStream):
        for part in parts:
            for frame in reader.feed(part):
                assert frame.log_offset >= 0


def _parts(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]
