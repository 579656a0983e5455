"""The commit log: positions, blanks, reading and walking."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.host import encode_host
from broker_core.protocol.record import MessageOrigin, encode, encode_topic, size_of
from broker_core.store.commit_log import CommitLog
from broker_core.store.errors import MessageUnstorable
from tests.support.stores import segment, small

TOPIC = encode_topic("T")
ORIGIN = MessageOrigin(1, encode_host("10.0.0.1", 5000), 2, encode_host("10.0.0.2", 10911))


def loaded(folder: Path) -> CommitLog:
    return CommitLog.load(small(folder))


def append(log: CommitLog, size: int = 100, *, store_time: int = 2) -> int:
    """Append a record of `size` bytes and return its log offset."""
    body = b"x" * (size - 92)
    origin = ORIGIN._replace(store_timestamp=store_time)
    assert size_of(TOPIC, body, b"", origin) == size
    log_offset = log.place(size)
    log.append(encode(TOPIC, body, b"", origin, size, 0, 0, log_offset))
    return log_offset


def test_records_follow_each_other(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    assert [append(log), append(log, 200), append(log)] == [0, 100, 300]
    assert (log.begin, log.end) == (0, 400)


def test_a_record_that_does_not_fit_begins_the_next_segment_after_a_blank(tmp_path: Path) -> None:
    # Given two records of 793 bytes in a segment of 2048
    log = loaded(tmp_path)
    append(log, 793)
    append(log, 793)
    # When a third comes
    assert append(log, 793) == 2048
    # Then a blank says that 462 bytes are unused
    assert segment(tmp_path).read_bytes()[1586:1594].hex() == "000001cecbd43194"
    assert segment(tmp_path).read_bytes()[1594:].strip(b"\0") == b""


def test_eight_bytes_always_remain_for_the_blank(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    assert append(log, 2040) == 0
    assert append(log, 92) == 2048
    assert append(log, 1949) == 4096
    assert segment(tmp_path).read_bytes()[2040:].hex() == "00000008cbd43194"


def test_a_record_that_fits_in_no_segment_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    append(log)
    with pytest.raises(MessageUnstorable):
        log.place(2041)
    assert log.end == 100
    assert append(log) == 100


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    first, second = append(log), append(log, 150, store_time=77)
    record = log.find_record(second)
    assert record is not None
    assert len(record) == 150
    assert log.store_time(second) == 77
    assert log.read(first, 100) == log.find_record(first)


@pytest.mark.parametrize("log_offset", [-1, 1, 50, 100, 200, 2048, 1 << 40])
def test_no_record_is_found_where_none_begins(tmp_path: Path, log_offset: int) -> None:
    log = loaded(tmp_path)
    append(log)
    assert log.find_record(log_offset) is None
    assert log.read(log_offset, 100) is None


def test_a_walk_meets_all_records_across_segments(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    places = [append(log, size) for size in (793, 793, 793, 100, 2000)]
    walk = log.walk(0, check_crc=True)
    assert [head.log_offset for head, _ in walk] == places == [0, 793, 2048, 2841, 4096]
    assert (walk.end, walk.problem) == (6096, None)


def test_a_walk_ends_where_a_body_was_changed(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    append(log)
    second = append(log)
    append(log)
    log.files[0].writable[second + 90] ^= 1
    walk = log.walk(0, check_crc=True)
    assert len(list(walk)) == 1
    assert walk.end == 100
    assert walk.problem is not None
    assert "checksum" in walk.problem.reason
    assert len(list(log.walk(0, check_crc=False))) == 3


def test_a_walk_ends_at_a_record_that_states_another_place(tmp_path: Path) -> None:
    log = loaded(tmp_path)
    append(log)
    append(log)
    # An old intact record may follow the end.
    log.files[0].write(100, bytes(log.files[0].view[0:100]))
    walk = log.walk(0, check_crc=True)
    assert [head.log_offset for head, _ in walk] == [0]
    assert walk.problem is not None
    assert "states log offset 0" in walk.problem.reason


@given(sizes=st.lists(st.integers(92, 2040), max_size=40))
def test_no_record_ever_crosses_a_segment(tmp_path_factory: pytest.TempPathFactory, sizes: list[int]) -> None:
    log = loaded(tmp_path_factory.mktemp("log"))
    for size in sizes:
        place = append(log, size)
        assert place // 2048 == (place + size + 8 - 1) // 2048
    assert [head.size for head, _ in log.walk(0, check_crc=True)] == sizes
