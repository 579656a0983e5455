"""A store that is fed with the bytes of another one's log becomes equal to it, however they are cut."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.message import Message
from broker_core.store.errors import FlushFailed, LogDamaged, NotInLog, NotTheEnd, StoreClosed, StoreFollows, StoreFull
from broker_core.store.reader import StoreReader
from broker_core.store.units import FILLER
from broker_core.store.verify import verify
from tests.support.replicated import MESSAGES, fill_with, follow, found, log_of, logs_and_queues, ranges_of
from tests.support.stores import (
    NOW,
    bodies,
    crashed,
    fill,
    incoming,
    opened,
    put,
    put_batch,
    queue_file,
    segment,
    small,
)

SEGMENT = 2048


def is_sound(folder: Path) -> bool:
    with StoreReader.open(folder, small(folder)) as reader:
        findings = verify(reader)
    assert findings.told == []
    return findings.is_sound


@settings(max_examples=60, deadline=None)
@given(messages=MESSAGES, cuts=st.lists(st.integers(0, 12_000), max_size=30))
def test_any_cutting_of_a_log_gives_an_equal_store(messages: Sequence[Any], cuts: list[int]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder / "master") as master, opened(folder / "copy") as copy:
            fill_with(master, messages)
            follow(copy, log_of(master), cuts)
            assert copy.followed_log_offset == copy.appended_log_offset == master.appended_log_offset
            assert copy.dispatched_log_offset == master.dispatched_log_offset
            assert copy.newest_store_time == master.newest_store_time
            assert copy.ranges() == master.ranges()
            assert found(copy) == found(master)
            copy.take_over()
            assert put(copy, b"next").queue_offset == put(master, b"next").queue_offset
        assert logs_and_queues(folder / "copy") == logs_and_queues(folder / "master")
        assert is_sound(folder / "copy")


@settings(max_examples=25, deadline=None)
@given(messages=MESSAGES, cuts=st.lists(st.integers(0, 12_000), min_size=1, max_size=4), is_killed=st.booleans())
def test_a_copy_that_stopped_anywhere_goes_on_when_it_is_opened(
    messages: Sequence[Any], cuts: list[int], is_killed: bool
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder / "master") as master:
            fill_with(master, messages)
            log = log_of(master)
            ends = [0, *(head.log_offset + head.size for head, _ in master.walk(0))]
            at = folder / "copy"
            for end in sorted(cuts):
                with opened(at) as copy:
                    begin = int(copy.appended_log_offset)
                    assert begin == copy.followed_log_offset
                    follow(copy, log[begin:end], begin=begin)
                    at = crashed(at) if is_killed else at
                with opened(at) as copy:
                    # Half a record at the end is gone, and a blank without a segment behind it; nothing else is.
                    assert copy.recovered.was_clean is not is_killed
                    assert log_of(copy) == log[: copy.appended_log_offset]
                    assert copy.appended_log_offset >= max(place for place in ends if place <= max(begin, end))
            with opened(at) as copy:
                follow(copy, log[copy.appended_log_offset :], begin=copy.appended_log_offset)
                assert ranges_of(copy) == ranges_of(master)
                assert found(copy) == found(master)
        assert logs_and_queues(at) == logs_and_queues(folder / "master")


def test_a_record_that_is_not_whole_is_not_read(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        end = put(master, b"first").end
        put(master, b"second")
        log = log_of(master)
        for at in range(len(log)):
            copy.append_raw(at, log[at : at + 1])
            copy.dispatch()
            assert copy.appended_log_offset == at + 1
            assert copy.followed_log_offset == (len(log) if at + 1 == len(log) else end if at + 1 >= end else 0)
            assert bodies(copy) == ([b"first"] if at + 1 >= end else []) + ([b"second"] if at + 1 == len(log) else [])


def test_bytes_elsewhere_than_at_the_end_are_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        fill(master, 3)
        log = log_of(master)
        copy.append_raw(0, log[:100])
        for at in (0, 99, 101, 5000):
            with pytest.raises(NotTheEnd, match=f"bytes from log offset {at} do not continue .* goes on at 100"):
                copy.append_raw(at, log[at:])
        copy.append_raw(100, log[100:])
        copy.dispatch()
        assert bodies(copy) == bodies(master)


@pytest.mark.parametrize("begin", [1, 50, SEGMENT + 1, 5 * SEGMENT - 1])
def test_an_empty_copy_begins_at_the_beginning_of_a_segment(tmp_path: Path, begin: int) -> None:
    with opened(tmp_path) as copy:
        with pytest.raises(NotTheEnd, match=f"goes on at {begin // SEGMENT * SEGMENT}"):
            copy.append_raw(begin, b"x")
        assert copy.appended_log_offset == 0


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_copy_that_begins_late_has_fillers_in_its_queues(tmp_path: Path, is_killed: bool) -> None:
    with opened(tmp_path / "master") as master:
        fill(master, 60)
        begin = SEGMENT * 2
        log = log_of(master, begin)
        copy = opened(tmp_path / "copy")
        follow(copy, log, [begin + 7], begin=begin)
        if is_killed:
            with opened(crashed(tmp_path / "copy")) as again:
                assert bodies(again) == bodies(copy)
        first = next(unit for unit in range(60) if master.units("T", 0, unit, 1)[0].log_offset >= begin)
        assert copy.begin_log_offset == begin
        assert copy.ranges() == {("T", 0): (first, 60)}
        assert bodies(copy) == [b"%d" % number for number in range(first, 60)]
        file = first // 8 * 8 * 20
        assert queue_file(tmp_path / "copy", start=file).read_bytes()[: first % 8 * 20] == FILLER * (first % 8)
        assert [message.body for message in copy.search("T", "k59", begin=0, end=1 << 60, max_count=9).messages] == [
            b"59"
        ]
        copy.close()
    assert is_sound(tmp_path / "copy")


def damaged(log: bytes, at: int, data: bytes) -> bytes:
    return log[:at] + data + log[at + len(data) :]


@pytest.mark.parametrize(
    ("at", "number", "size", "reason"),
    [
        (4, 0, 4, "magic 00000000 is not that of a message"),
        (0, 90, 4, "a size of 90, where 1951 bytes are left of the segment"),
        (0, 1944, 4, "a size of 1944, where 1951 bytes are left of the segment"),
        (0, -1, 4, "a size of -1, where"),
        (28, 7, 8, "it states log offset 7"),
        (84, 5000, 4, "it is cut off"),
        (84, -1, 4, "a body of -1 bytes"),
    ],
)
def test_damage_is_told_with_its_place_and_not_kept(
    tmp_path: Path, at: int, number: int, size: int, reason: str
) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        place = int(put(master, b"first").end)
        fill(master, 3)
        log = log_of(master)
        # When bytes are not those of a record
        with pytest.raises(LogDamaged, match=reason) as error:
            copy.append_raw(0, damaged(log, place + at, number.to_bytes(size, "big", signed=True)))
        # Then what is before that record stays, and bytes after it are refused
        assert error.value.log_offset == place == copy.appended_log_offset == copy.followed_log_offset
        with pytest.raises(NotTheEnd):
            copy.append_raw(len(log), b"x")
        copy.dispatch()
        assert bodies(copy) == [b"first"]
        assert not any(segment(tmp_path / "copy").read_bytes()[place:])
        # And the right bytes go on there
        follow(copy, log[place:], begin=place)
        assert bodies(copy) == bodies(master)


def test_a_segment_must_end_with_its_blank(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        put(master, b"x" * 1900)
        last = int(master.appended_log_offset)
        put(master, b"next")
        log = log_of(master)
        rest = SEGMENT - last
        with pytest.raises(LogDamaged, match=f"a blank of 9 bytes, where {rest} are left") as error:
            copy.append_raw(0, damaged(log, last, (9).to_bytes(4, "big")))
        assert error.value.log_offset == last == copy.appended_log_offset
        copy.append_raw(last, log[last:-1])
        assert copy.followed_log_offset == SEGMENT


def test_a_segment_whose_last_bytes_are_too_few_for_a_blank_is_damaged(tmp_path: Path) -> None:
    with opened(tmp_path / "master", commit_log_file_size=4096) as master, opened(tmp_path / "copy") as copy:
        end = put(master, b"x" * (SEGMENT - 5 - 94)).end
        assert SEGMENT - 8 < end < SEGMENT
        with pytest.raises(LogDamaged, match=f"a size of {end}"):
            copy.append_raw(0, log_of(master))


def test_nothing_is_put_before_the_store_takes_over(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        put(master, b"first")
        put(master, b"second", now=NOW + 5)
        whole = int(master.appended_log_offset)
        put(master, b"third", now=NOW + 6)
        log = log_of(master)
        copy.append_raw(0, log[:-1])
        copy.reconfigure(copy.config)
        for _ in range(2):
            with pytest.raises(StoreFollows, match="follows the log of a master"):
                put(copy, b"no")
        with pytest.raises(StoreFollows):
            put_batch(copy, [Message("T", b"no")])
        copy.take_over()
        assert copy.appended_log_offset == copy.followed_log_offset == whole
        assert copy.newest_store_time == NOW + 5
        assert put(copy, b"other").queue_offset == 2
        assert bodies(copy) == [b"first", b"second", b"other"]


def test_a_store_that_takes_over_goes_on_behind_records_that_are_not_dispatched(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        fill(master, 3)
        put_batch(master, [Message("T", b"3"), Message("T", b"4")])
        put(master, b"half", sys_flag=4)
        put(master, b"0", topic="other")
        copy.append_raw(0, log_of(master))
        copy.take_over()
        assert [put(copy, b"5").queue_offset, put(copy, b"1", topic="other").queue_offset] == [5, 1]
        assert bodies(copy) == [b"%d" % number for number in range(6)]


def test_a_topic_that_was_made_again_begins_anew_at_take_over(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        fill(master, 5)
        follow(copy, log_of(master))
        master.delete_topic("T")
        fill(master, 2)
        begin = int(copy.appended_log_offset)
        copy.append_raw(begin, log_of(master, begin))
        copy.take_over()
        assert copy.put(incoming(Message("T", b"2"))).queue_offset == 2
        copy.dispatch()
        assert bodies(copy) == [b"0", b"1", b"2"]


@pytest.mark.parametrize("missing", range(1, 12))
def test_a_half_record_is_not_taken_for_one_that_ends_with_zeros(tmp_path: Path, missing: int) -> None:
    with opened(tmp_path / "master") as master:
        whole = put(master, b"first").end
        put(master, b"second", properties={"name": "a value"})
        log = log_of(master)
        for is_killed in (False, True):
            copy = opened(tmp_path / f"{is_killed}")
            copy.append_raw(0, log[:-missing])
            at = crashed(tmp_path / f"{is_killed}") if is_killed else tmp_path / f"{is_killed}"
            copy.close()
            with opened(at) as again:
                assert again.appended_log_offset == whole
                follow(again, log[whole:], begin=whole)
                assert bodies(again) == [b"first", b"second"]


def test_a_full_disk_is_told_and_what_was_appended_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        fill(master, 40)
        log = log_of(master)
        copy.append_raw(0, log[:100])

        def full(*_: object, **__: object) -> None:
            raise StoreFull(tmp_path, 1)

        with monkeypatch.context() as patched:
            patched.setattr("broker_core.store.mapped_files.MappedFiles.roll", full)
            with pytest.raises(StoreFull):
                copy.append_raw(100, log[100:])
        assert copy.appended_log_offset == SEGMENT
        follow(copy, log[SEGMENT:], begin=SEGMENT)
        assert bodies(copy) == bodies(master)


def test_a_store_that_failed_or_is_closed_takes_no_bytes(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master:
        fill(master, 1)
        log = log_of(master)
    copy = opened(tmp_path / "copy")
    copy.note_refused(OSError("the disk is broken"))
    with pytest.raises(FlushFailed):
        copy.append_raw(0, log)
    copy.close()
    with pytest.raises(StoreClosed):
        copy.append_raw(0, log)


def test_the_log_is_read_as_it_is_segment_by_segment(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert not store.read_log(0, 10)
        with pytest.raises(NotInLog, match="log offset 1 is not in the log, which has 0 to 0"):
            store.read_log(1, 10)
        fill(store, 30)
        end = int(store.appended_log_offset)
        assert end > SEGMENT == store.segment_bytes
        assert bytes(store.read_log(3, 10)) == segment(tmp_path).read_bytes()[3:13]
        assert bytes(store.read_log(100, 1 << 20)) == segment(tmp_path).read_bytes()[100:]
        assert len(store.read_log(SEGMENT, 1 << 20)) == end - SEGMENT or end > 2 * SEGMENT
        assert not store.read_log(end, 10)
        for outside in (-1, end + 1):
            with pytest.raises(NotInLog):
                store.read_log(outside, 10)


def test_copied_segments_are_as_old_as_their_last_record(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        times = {}
        for number in range(60):
            times[put(master, b"%d" % number, now=NOW + 1000 * number).log_offset // SEGMENT] = NOW + 1000 * number
        follow(copy, log_of(master), range(0, 20_000, 300))
        copy.flush()
        for number in range(len(times) - 1):
            assert segment(tmp_path / "copy", number * SEGMENT).stat().st_mtime_ns == times[number] * 1_000_000
        # So that retention removes them as it would on the master
        period = copy.config.retention_ms
        assert copy.drop_expired(times[1] + period).segments == 2


def test_a_topic_that_can_have_no_queue_is_kept_in_the_log_alone(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        master.put(incoming(Message("T", b"x")))
        log = log_of(master).replace(b"\x01T\0", b"\x01/\0")
        follow(copy, log)
        assert (copy.followed_log_offset, copy.queues()) == (len(log), [])


def test_a_half_record_that_was_flushed_and_dropped_does_not_count_as_flushed(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy") as copy:
        fill(master, 2)
        whole = master.appended_log_offset
        fill(master, 1)
        copy.append_raw(0, log_of(master)[: whole + 10])
        assert copy.flush().log_offset == whole + 10

        copy.take_over()

        assert copy.flushed_log_offset == copy.appended_log_offset == whole
        put(copy, b"another")
        assert copy.flush().log_offset == copy.appended_log_offset
