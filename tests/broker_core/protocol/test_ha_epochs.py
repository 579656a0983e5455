"""The replication stream with epochs."""

from __future__ import annotations

from contextlib import suppress
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.errors import MalformedStream
from broker_core.protocol.ha_epochs import (
    MAX_DATA,
    Data,
    EpochStart,
    FromMaster,
    FromSlave,
    MasterHandshake,
    MasterStreamReader,
    Report,
    SlaveHandshake,
    SlaveStreamReader,
    encode_data,
    encode_data_head,
    encode_master_handshake,
    encode_report,
    encode_slave_handshake,
)

HELLO = bytes.fromhex("00000001 0000 0000 0000000000000002")
ANSWER = bytes.fromhex(
    "00000001 00000018 0000000000001800 00000003   00000001 0000000000000000   00000003 0000000000001000"
)
HEAD = bytes.fromhex("00000002 00000400 0000000000000000 00000001 0000000000000000 0000000000001700")
REPORTS = bytes.fromhex("00000002 0000000000000000 00000002 0000000000000400")

HANDSHAKE = MasterHandshake(3, 0x1800, (EpochStart(1, 0), EpochStart(3, 0x1000)))


def test_the_bytes_of_a_slave() -> None:
    assert encode_slave_handshake(SlaveHandshake(2)) == HELLO
    assert encode_report(Report(0)) + encode_report(Report(0x400)) == REPORTS
    assert list(SlaveStreamReader().feed(HELLO + REPORTS)) == [SlaveHandshake(2), Report(0), Report(0x400)]


def test_the_bytes_of_a_master() -> None:
    data = Data(0, 1, 0, 0x1700, bytes(range(256)) * 4)
    assert encode_master_handshake(HANDSHAKE) == ANSWER
    assert encode_data(data) == HEAD + data.data
    assert encode_data_head(Data(0, 1, 0, 0x1700), 1024) == HEAD
    assert list(MasterStreamReader().feed(ANSWER + HEAD + data.data)) == [HANDSHAKE, data]


def test_a_ticket_is_the_high_half_of_the_id() -> None:
    assert encode_slave_handshake(SlaveHandshake(2, ticket=7))[8:] == bytes.fromhex("00000007 00000002")


@pytest.mark.parametrize(
    "data",
    [
        bytes.fromhex("00000002 0000 0000 0000000000000002"),
        bytes.fromhex("00000001 0002 0000 0000000000000002"),
        bytes.fromhex("00000001 0000 ffff 0000000000000002"),
        bytes.fromhex("00000001 0000 0000 0000000000000000"),
        bytes.fromhex("00000001 0000 0000 00000000ffffffff"),
        HELLO + HELLO,
        HELLO + bytes.fromhex("00000002 ffffffffffffffff"),
        HELLO + bytes.fromhex("00000003 0000000000000000"),
    ],
)
def test_what_no_slave_sends_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedStream):
        list(SlaveStreamReader().feed(data))


@pytest.mark.parametrize(
    "data",
    [
        HEAD,
        ANSWER[:4] + bytes.fromhex("00000019") + ANSWER[8:] + b"\x00",
        ANSWER[:4] + bytes.fromhex("fffffff4") + ANSWER[8:],
        ANSWER[:4] + bytes.fromhex("7ffffff8") + ANSWER[8:],
        ANSWER[:16] + bytes.fromhex("00000002") + ANSWER[20:],
        ANSWER[:8] + bytes.fromhex("0000000000000fff") + ANSWER[16:],
        ANSWER[:20] + ANSWER[32:] + ANSWER[20:32],
        ANSWER + ANSWER,
        ANSWER + HEAD[:4] + (MAX_DATA + 1).to_bytes(4, "big") + HEAD[8:],
        ANSWER + HEAD[:4] + b"\xff" * 4 + HEAD[8:],
        ANSWER + HEAD[:8] + b"\xff" * 8 + HEAD[16:],
        ANSWER + HEAD[:20] + bytes.fromhex("0000000000000001") + HEAD[28:],
        ANSWER + HEAD[:16] + b"\x00" * 4 + HEAD[20:],
        ANSWER + HEAD[:28] + b"\xff" * 8,
    ],
)
def test_what_no_master_sends_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedStream):
        list(MasterStreamReader().feed(data))


def test_a_master_does_not_write_what_a_slave_would_refuse() -> None:
    with pytest.raises(MalformedStream, match="behind"):
        encode_master_handshake(MasterHandshake(3, 10, (EpochStart(2, 0), EpochStart(3, 0))))


_offsets = st.integers(0, (1 << 63) - 1)


@st.composite
def _handshakes(draw: st.DrawFn) -> MasterHandshake:
    steps = draw(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1 << 40)), max_size=20))
    numbers, starts = accumulate(each[0] for each in steps), accumulate(each[1] for each in steps)
    epochs = tuple(map(EpochStart, numbers, starts))
    last = epochs[-1] if epochs else EpochStart(1, 0)
    return MasterHandshake(last.number + draw(st.integers(0, 9)), last.start + draw(st.integers(0, 1 << 40)), epochs)


@st.composite
def _data(draw: st.DrawFn) -> Data:
    start, behind, epoch = draw(st.integers(0, 1 << 62)), draw(st.integers(0, 1 << 61)), draw(st.integers(1, 1 << 30))
    return Data(start + behind, epoch, start, draw(_offsets), draw(st.binary(max_size=60)))


@given(_handshakes(), st.lists(_data(), max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_a_master_is_read_however_its_bytes_arrive(hello: MasterHandshake, frames: list[Data], cuts: list[int]) -> None:
    reader = MasterStreamReader()
    read: list[FromMaster] = []
    for part in _parts(encode_master_handshake(hello) + b"".join(map(encode_data, frames)), cuts):
        read += reader.feed(part)
    assert read == [hello, *frames]


@given(
    st.builds(
        SlaveHandshake, st.integers(1, (1 << 31) - 1), st.integers(0, (1 << 32) - 1), st.booleans(), st.booleans()
    ),
    st.lists(st.builds(Report, _offsets), max_size=5),
    st.lists(st.integers(0, 80), max_size=8),
)
def test_a_slave_is_read_however_its_bytes_arrive(
    hello: SlaveHandshake, reports: list[Report], cuts: list[int]
) -> None:
    reader = SlaveStreamReader()
    read: list[FromSlave] = []
    for part in _parts(encode_slave_handshake(hello) + b"".join(map(encode_report, reports)), cuts):
        read += reader.feed(part)
    assert read == [hello, *reports]


def _parts(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[begin:end] for begin, end in pairwise(places)]


@given(st.sampled_from([b"", HELLO]), st.binary(max_size=200))
def test_any_bytes_from_a_slave_are_read_or_refused(begin: bytes, data: bytes) -> None:
    with suppress(MalformedStream):
        list(SlaveStreamReader().feed(begin + data))


@given(st.sampled_from([b"", ANSWER, ANSWER + HEAD]), st.binary(max_size=200))
def test_any_bytes_from_a_master_are_read_or_refused(begin: bytes, data: bytes) -> None:
    with suppress(MalformedStream):
        list(MasterStreamReader().feed(begin + data))
