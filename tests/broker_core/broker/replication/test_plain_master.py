"""A master at one connection of a slave of RocketMQ 4.9."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.config import ReplicationSettings
from broker_core.broker.replication.plain_master import PlainMaster, StreamEnded
from broker_core.protocol.ha_plain import Frame, FrameReader, encode_report
from broker_core.store.errors import NotInLog

SETTINGS = ReplicationSettings()
SEGMENT = 1000


@dataclass
class Log:
    """A log of bytes that tell their place."""

    end: int = 0
    begin: int = 0
    segment_bytes: int = SEGMENT

    @property
    def appended_log_offset(self) -> int:
        return self.end

    def read_log(self, log_offset: int, most: int) -> memoryview:
        if not self.begin <= log_offset <= self.end:
            raise NotInLog(log_offset, self.begin, self.end)
        of_segment = log_offset - log_offset % SEGMENT + SEGMENT
        return memoryview(content(log_offset, min(self.end, of_segment, log_offset + most)))


def content(begin: int, end: int) -> bytes:
    return bytes(at % 251 for at in range(begin, end))


def master_of(log: Log, *, now: int = 0, **settings: int) -> PlainMaster:
    present = replace(SETTINGS, **settings)  # type: ignore[arg-type]
    return PlainMaster(log, lambda: present, now=now)


def frames_of(master: PlainMaster, now: int = 0) -> list[Frame]:
    written: list[bytes | memoryview] = []
    while parts := master.next_parts(now):
        written += parts
    return list(FrameReader().feed(b"".join(written)))


def test_it_says_nothing_before_the_slave_does() -> None:
    master = master_of(Log(end=570))

    assert master.next_parts(60_000) == ()
    assert master.acked is None


def test_a_slave_without_a_log_gets_the_newest_segment() -> None:
    master = master_of(Log(end=2_570))

    assert master.receive(encode_report(0), 0)

    assert frames_of(master) == [Frame(2_000, content(2_000, 2_570))]
    assert (master.began_at, master.acked, master.sent_bytes) == (2_000, 0, 570)


def test_a_slave_goes_on_where_its_log_ends_also_inside_a_record_and_an_older_segment() -> None:
    master = master_of(Log(end=2_570))

    master.receive(encode_report(1_950), 0)

    assert frames_of(master) == [Frame(1_950, content(1_950, 2_000)), Frame(2_000, content(2_000, 2_570))]


def test_a_frame_has_at_most_a_batch_and_never_crosses_a_segment() -> None:
    master = master_of(Log(end=1_130), batch_bytes=300)

    master.receive(encode_report(250), 0)

    assert [(frame.log_offset, len(frame.data)) for frame in frames_of(master)] == [
        (250, 300), (550, 300), (850, 150), (1_000, 130),
    ]  # fmt: skip


def test_negative_values_are_passed_over_until_one_tells_where_to_begin() -> None:
    master = master_of(Log(end=100))

    assert not master.receive(encode_report(-1), 0)
    assert master.next_parts(60_000) == ()
    assert master.receive(encode_report(-1) + encode_report(40), 0)

    assert frames_of(master) == [Frame(40, content(40, 100))]


@pytest.mark.parametrize("report", [101, 1_100, int.from_bytes(b"GET / HT"), (1 << 63) - 1])
def test_a_first_report_beyond_the_end_ends_the_stream(report: int) -> None:
    master = master_of(Log(end=100))

    with pytest.raises(StreamEnded, match=f"ends at {report}, and this one ends at 100"):
        master.receive(encode_report(report), 0)
    assert master.acked is None


def test_an_acknowledgement_counts_as_far_as_the_slave_was_sent_the_log() -> None:
    log = Log(end=100)
    master = master_of(log)
    master.receive(encode_report(40), 0)
    frames_of(master)
    log.end = 200

    master.receive(encode_report(100), 0)
    assert master.acked == 100
    for report in (101, -1):
        with pytest.raises(StreamEnded, match="was sent what is before 100"):
            master.receive(encode_report(report), 0)


def test_after_five_seconds_without_a_byte_there_is_a_heartbeat() -> None:
    log = Log(end=100)
    master = master_of(log)
    master.receive(encode_report(100), 4_000)

    assert master.next_parts(4_999) == ()
    assert frames_of(master, 5_000) == [Frame(100)]
    assert master.next_parts(9_999) == ()
    log.end = 150
    assert frames_of(master, 9_999) == [Frame(100, content(100, 150))]
    assert master.next_parts(14_998) == ()
    assert frames_of(master, 14_999) == [Frame(150)]


def test_a_slave_that_is_silent_for_twenty_seconds_is_left() -> None:
    master = master_of(Log(end=100), now=1_000)
    master.receive(encode_report(100)[:4], 3_000)

    master.check(22_999)
    with pytest.raises(StreamEnded, match="nothing came for 20000 ms"):
        master.check(23_000)


def test_a_slave_whose_place_has_left_the_log_is_left() -> None:
    log = Log(end=3_000, begin=2_000)
    master = master_of(log)
    master.receive(encode_report(1_500), 0)

    with pytest.raises(StreamEnded, match="log offset 1500 is not in the log, which has 2000 to 3000"):
        master.next_parts(0)


@given(st.lists(st.integers(1, 700), max_size=6), st.integers(0, 500), st.integers(1, 400), st.data())
def test_what_a_slave_puts_together_is_the_log(appends: list[int], has: int, batch: int, data: st.DataObject) -> None:
    log = Log(end=500)
    master = master_of(log, batch_bytes=batch)
    master.receive(encode_report(has), 0)
    begin = has or 0
    copied = bytearray()
    for size in (0, *appends):
        log.end += size
        _copy(copied, begin, frames_of(master))
        master.receive(encode_report(begin + data.draw(st.integers(0, len(copied)))), 0)
    assert bytes(copied) == content(begin, log.end)
    assert master.sent_bytes == len(copied)


def _copy(copied: bytearray, begin: int, frames: Iterable[Frame]) -> None:
    for frame in frames:
        assert frame.log_offset == begin + len(copied)
        assert frame.log_offset // SEGMENT == (frame.log_offset + len(frame.data) - 1) // SEGMENT
        copied += frame.data
