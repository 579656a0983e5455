"""One consume queue: units, files, minimum, recovery."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.units import FILLER, UNIT, Unit
from tests.support.stores import overwrite, queue_file

UNITS = 8


def loaded(root: Path, *, trusted: bool = True) -> ConsumeQueue:
    queue = ConsumeQueue.load(root, "T", 0, file_units=UNITS)
    queue.recover(trusted=trusted)
    return queue


def units(first: int, count: int) -> bytes:
    return b"".join([UNIT.pack(number * 100, 100, number) for number in range(first, first + count)])


def append(queue: ConsumeQueue, first: int, count: int) -> None:
    queue.append(units(first, count), first=first, physical_end=(first + count) * 100)


def all_units(queue: ConsumeQueue) -> list[Unit]:
    found = []
    offset = queue.min_offset
    while part := queue.units_from(offset):
        found += [Unit._make(unit) for unit in UNIT.iter_unpack(part)]
        offset = queue.min_offset + len(found)
    return found


def expected(first: int, count: int) -> list[Unit]:
    return [Unit._make(each) for each in UNIT.iter_unpack(units(first, count))]


def names(root: Path) -> list[int]:
    return sorted(int(path.name) for path in queue_file(root).parent.iterdir())


def test_a_queue_without_messages_has_no_file(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    assert (queue.min_offset, queue.max_offset, queue.next_offset) == (0, 0, 0)
    assert queue.find_unit(0) is None
    assert not queue_file(tmp_path).parent.exists()


def test_a_unit_has_twenty_bytes_in_the_known_order(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    queue.append(UNIT.pack(0, 176, 2598919), first=0, physical_end=176)
    assert queue_file(tmp_path).read_bytes()[:20].hex() == "0000000000000000000000b0000000000027a807"
    assert queue_file(tmp_path).stat().st_size == UNITS * 20


def test_units_continue_in_further_files(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 5)
    append(queue, 5, 20)
    assert names(tmp_path) == [0, 160, 320, 480]
    assert all_units(queue) == expected(0, 25)
    assert (queue.max_offset, queue.next_offset, queue.max_physical) == (25, 25, 2500)
    assert queue.find_unit(24) == Unit(2400, 100, 24)
    assert queue.find_unit(25) is None


def test_a_read_never_goes_beyond_one_file(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 20)
    assert len(queue.units_from(5)) == 3 * 20
    assert len(queue.units_from(8)) == 8 * 20
    assert len(queue.units_from(16)) == 4 * 20


def test_the_same_records_again_change_nothing(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 10)
    append(queue, 0, 10)
    append(queue, 3, 4)
    append(queue, 5, 8)
    assert all_units(queue) == expected(0, 13)


def test_a_queue_rebuilt_after_its_beginning_expired_is_filled_up_to_there(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 11, 4)
    assert names(tmp_path) == [160]
    assert queue_file(tmp_path, start=160).read_bytes()[:60] == FILLER * 3
    assert FILLER.hex() == "00000000000000007fffffff0000000000000000"
    assert (queue.min_offset, queue.max_offset) == (11, 15)
    again = loaded(tmp_path)
    again.correct_min(1100)
    assert (again.min_offset, again.max_offset) == (11, 15)


def test_a_gap_is_filled_so_that_later_messages_keep_their_offsets(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 3)
    append(queue, 5, 1)
    assert queue.max_offset == 6
    assert queue.find_unit(4) == Unit(0, 0x7FFFFFFF, 0)
    assert queue.find_unit(5) == Unit(500, 100, 5)


def test_a_recreated_topic_starts_from_the_beginning(tmp_path: Path) -> None:
    # Given a queue that is rebuilt from a log in which the topic was deleted after ten messages
    queue = loaded(tmp_path)
    append(queue, 0, 10)
    # When the first message after the deletion comes
    queue.append(UNIT.pack(5000, 100, 7), first=0, physical_end=5100)
    # Then the messages before it are gone
    assert all_units(queue) == [Unit(5000, 100, 7)]
    assert names(tmp_path) == [0]


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 30])
def test_a_queue_comes_back_as_it_was(tmp_path: Path, count: int, trusted: bool) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, count)
    queue.close()
    again = loaded(tmp_path, trusted=trusted)
    assert all_units(again) == expected(0, count)
    assert (again.max_physical, again.next_offset) == (count * 100, count)
    append(again, count, 3)
    assert all_units(again) == expected(0, count + 3)


@pytest.mark.parametrize("lost", range(20))
def test_units_after_one_that_the_disk_lost_are_dropped_after_a_crash(tmp_path: Path, lost: int) -> None:
    # Given 20 units in three files, of which three in a row never reached the disk
    queue = loaded(tmp_path)
    append(queue, 0, 20)
    queue.close()
    for number in range(lost, min(lost + 3, 20)):
        overwrite(queue_file(tmp_path, start=number // 8 * 160), number % 8 * 20, bytes(20))
    # When it is opened, then it ends there, and nothing follows
    again = loaded(tmp_path, trusted=False)
    assert all_units(again) == expected(0, lost)
    assert sum(path.read_bytes().rstrip(b"\0") != b"" for path in queue_file(tmp_path).parent.iterdir()) == -(
        -lost // 8
    )
    append(again, lost, 20 - lost)
    assert all_units(again) == expected(0, 20)


@pytest.mark.parametrize("log_end", [0, 1, 100, 799, 800, 850, 1600, 1950, 2000, 9999])
def test_units_of_records_after_the_log_are_dropped(tmp_path: Path, log_end: int) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 20)
    queue.truncate(log_end)
    kept = min(20, -(-log_end // 100))
    assert all_units(queue) == expected(0, kept)
    assert names(tmp_path) == list(range(0, -(-kept // 8) * 160, 160))


def test_the_minimum_follows_the_log(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 20)
    queue.correct_min(450)
    assert queue.min_offset == 5
    assert len(queue.units_from(4)) == 0
    assert queue.drop_before(1200) == 1
    assert (names(tmp_path), queue.min_offset) == ([160, 320], 12)


@given(st.integers(0, 40), st.integers(1, 300), st.integers(-100, 35_000), st.lists(st.integers(0, 340), max_size=5))
def test_the_minimum_is_the_first_unit_that_the_log_has_whatever_lies_between(
    first: int, count: int, log_begin: int, lost: list[int]
) -> None:
    with TemporaryDirectory() as folder:
        queue = loaded(Path(folder))
        append(queue, first, count)
        # Damaged units, anywhere: they hide none of their neighbours, wherever the bisection comes by
        damaged = {number for number in lost if first < number < first + count - 1}
        for number in damaged:
            overwrite(queue_file(Path(folder), start=number // UNITS * UNITS * 20), number % UNITS * 20, b"\0" * 8)
        again = loaded(Path(folder))
        again.correct_min(log_begin)
        wanted = min(max(first, -(-log_begin // 100)), first + count)
        assert again.min_offset <= wanted
        # One beside a damaged unit may be taken for damaged, and stays
        assert {*range(again.min_offset, wanted)} <= {number + step for number in damaged for step in (-1, 0, 1)}


def test_few_units_are_read_to_find_the_minimum_of_a_long_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = ConsumeQueue.load(tmp_path, "T", 0, file_units=100_000)
    append(queue, 0, 50_000)
    find = Mock(wraps=queue.find_unit)
    monkeypatch.setattr(ConsumeQueue, "find_unit", find)
    queue.correct_min(4_000_000)
    assert (queue.min_offset, find.call_count < 60) == (40_000, True)


def test_a_queue_all_of_whose_messages_expired_is_empty_and_keeps_counting(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 20)
    queue.drop_before(5000)
    assert (queue.min_offset, queue.max_offset) == (20, 20)
    queue.append(units(20, 1), first=20, physical_end=6000)
    assert all_units(queue) == expected(20, 1)


def test_deleting_a_queue_removes_its_folder(tmp_path: Path) -> None:
    queue = loaded(tmp_path)
    append(queue, 0, 20)
    queue.delete()
    assert not queue_file(tmp_path).parent.exists()


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=12), st.booleans())
def test_units_dispatched_in_any_pieces_and_again_make_one_queue(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[tuple[int, int]], trusted: bool
) -> None:
    root = tmp_path_factory.mktemp("queue")
    queue = loaded(root)
    end = 0
    for back, count in pieces:
        first = max(0, end - back)
        if first or not end:
            append(queue, first, count)
            end = max(end, first + count)
    assert all_units(queue) == expected(0, end)
    queue.close()
    assert all_units(loaded(root, trusted=trusted)) == expected(0, end)
