"""A slave without sockets: what it appends, what it reports, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.replication.plain_slave import (
    REPORT_MS,
    LogsDiverge,
    MasterLog,
    MasterSilent,
    OtherPlace,
    PlainSlave,
    SegmentsDiffer,
    starting_point,
)
from broker_core.protocol.errors import MalformedStream
from broker_core.protocol.ha_plain import encode_frame_head, encode_report
from broker_core.protocol.record import decode_one
from broker_core.store import MessageStore
from broker_core.store.errors import LogDamaged
from tests.support.stores import opened, put

SEGMENT = 4096
SILENCE_MS = 20_000
# As a master of 4.9 sent it: log offset 0, queue 0 of topic `T`, body `hello`, keys `k0`.
RECORD = bytes.fromhex(
    "00000072 DAA320A7 3610A686 00000000 00000000 0000000000000000 0000000000000000 00000000"
    "0000018BCFE56800 7F000001 0000862C 000001A200238F8E 7F000001 0000EEAC"
    "00000000 0000000000000000 00000005 68656C6C6F 01 54 0011 4B455953016B3002434C555354455201 43"
)


def frame(log_offset: int, data: bytes = b"") -> bytes:
    return encode_frame_head(log_offset, len(data)) + data


def slave_of(store: MessageStore, *, start: int | None = None, flushed: bool = False) -> PlainSlave:
    begin = store.appended_log_offset if start is None else start
    return PlainSlave(store, start=begin, reports_flushed=flushed, silence_ms=SILENCE_MS, now=0)


def log_of(store: MessageStore) -> bytes:
    parts: list[bytes] = []
    at: int = store.begin_log_offset
    while part := bytes(store.read_log(at, 1 << 20)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def test_the_first_frames_of_a_recorded_stream(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store)
        assert slave.report(0) == bytes(8)
        assert not slave.feed(bytes(12), 10), "a heartbeat may come first"
        assert slave.report(10) == b""
        assert slave.feed(frame(0, RECORD), 20)
        assert slave.report(20) == encode_report(0x72)
        store.dispatch()
        stored = store.find(0)
        assert stored is not None
        assert (stored.topic, stored.body) == ("T", b"hello")
        assert decode_one(RECORD).properties["KEYS"] == "k0"


def test_reports_come_at_once_and_every_five_seconds(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store)
        assert slave.report(0) == encode_report(0)
        assert slave.report(REPORT_MS - 1) == b""
        assert slave.report(REPORT_MS) == encode_report(0)
        assert slave.report(2 * REPORT_MS - 1) == b""


def test_a_report_waits_for_the_disk_where_it_is_asked_to(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store, flushed=True)
        slave.report(0)
        slave.feed(frame(0, RECORD), 1)
        assert slave.report(1) == b""
        store.flush()
        assert slave.report(2) == encode_report(len(RECORD))


@pytest.mark.parametrize("data", [frame(0x73, RECORD), frame(0x71), frame(0, RECORD)])
def test_a_frame_from_another_place_ends_the_connection(tmp_path: Path, data: bytes) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store)
        slave.feed(frame(0, RECORD), 0)
        with pytest.raises(OtherPlace, match="goes on at 114"):
            slave.feed(data, 1)
        assert store.appended_log_offset == len(RECORD)


def test_an_empty_log_begins_where_it_asked_to(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store, start=0)
        with pytest.raises(OtherPlace):
            slave.feed(frame(store.segment_bytes, RECORD), 0)
        assert store.appended_log_offset == 0


def test_damage_is_told_with_its_place_and_not_acknowledged(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store)
        with pytest.raises(LogDamaged, match="damaged at log offset 114"):
            slave.feed(frame(0, RECORD + b"\1" * 200), 0)
        assert store.appended_log_offset == len(RECORD)


def test_a_frame_that_no_master_sends_ends_the_connection(tmp_path: Path) -> None:
    with opened(tmp_path) as store, pytest.raises(MalformedStream):
        slave_of(store).feed(encode_frame_head(0, -1), 0)


def test_a_silent_master_is_given_up(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave = slave_of(store)
        slave.check(SILENCE_MS - 1)
        with pytest.raises(MasterSilent):
            slave.check(SILENCE_MS)
        slave.feed(frame(0), SILENCE_MS)
        slave.check(SILENCE_MS + 1)


def test_where_a_log_is_to_be_sent_on() -> None:
    assert starting_point(0, SEGMENT, MasterLog(SEGMENT, 0, 700)) == 0
    assert starting_point(0, SEGMENT, MasterLog(SEGMENT, SEGMENT, 9_000)) == SEGMENT
    assert starting_point(5_000, SEGMENT, MasterLog(SEGMENT, SEGMENT, 9_000)) == 5_000
    assert starting_point(9_000, SEGMENT, MasterLog(SEGMENT, SEGMENT, 9_000)) == 9_000
    with pytest.raises(SegmentsDiffer, match="4096 here and 8192 at the master"):
        starting_point(0, SEGMENT, MasterLog(2 * SEGMENT, 0, 0))
    with pytest.raises(LogsDiverge, match="ends at 9001 and the master's at 9000"):
        starting_point(9_001, SEGMENT, MasterLog(SEGMENT, 0, 9_000))
    with pytest.raises(LogsDiverge, match="ends at 10 and the master's begins at 4096"):
        starting_point(10, SEGMENT, MasterLog(SEGMENT, SEGMENT, 9_000))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.binary(max_size=900), max_size=15), st.lists(st.integers(1, 12_000)), st.integers(1, 3_000))
def test_whatever_the_frames_and_the_reads_the_logs_become_equal(
    sent: Sequence[bytes], cuts: Sequence[int], read_bytes: int
) -> None:
    with TemporaryDirectory() as folder:
        master, copy = Path(folder, "master"), Path(folder, "copy")
        with opened(master, commit_log_file_size=SEGMENT) as store:
            for body in sent:
                put(store, body=body)
            log = log_of(store)
        places = sorted({0, len(log), *(cut for cut in cuts if cut < len(log))})
        stream = b"".join(frame(begin, log[begin:end]) for begin, end in pairwise(places))
        with opened(copy, commit_log_file_size=SEGMENT) as store:
            slave = slave_of(store)
            assert slave.report(0) == encode_report(0)
            for at in range(0, len(stream), read_bytes):
                slave.feed(stream[at : at + read_bytes], at)
                store.dispatch()
            assert log_of(store) == log
            assert slave.report(len(stream)) == (encode_report(len(log)) if log else b"")


def test_a_slave_goes_on_inside_a_record(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        slave_of(store).feed(frame(0, RECORD[:50]), 0)
        again = slave_of(store)
        assert again.report(0) == encode_report(50)
        again.feed(frame(50, RECORD[50:]), 1)
        store.dispatch()
        assert store.max_offset("T", 0) == 1
