"""The index files of a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.errors import Corrupt
from broker_core.store.index import Index
from tests.support.stores import NOW, packed, small


def keys(first: int, count: int, *, now: int = NOW) -> bytes:
    return packed((number, number * 100, now + number) for number in range(first, first + count))


def loaded(folder: Path, **changes: int) -> Index:
    return Index.load(small(folder, **changes))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "index").glob("*"))


def test_the_first_record_makes_the_first_file_even_without_keys(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(b"")
    assert (names(tmp_path), index.end_log_offset) == ([], -1)
    index.roll_when_due(0, 100, NOW)
    assert (len(names(tmp_path)), index.end_log_offset) == (1, 0)


def test_a_full_file_is_followed_by_the_next_once_a_further_record_comes(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 19))
    index.roll_when_due(1800, 1900, NOW)
    assert len(index.files) == 1
    index.roll_when_due(1900, 2000, NOW)
    assert [file.is_empty for file in index.files] == [False, True]


def test_keys_continue_in_further_files(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 50))
    assert [file.count - 1 for file in index.files] == [19, 19, 12]
    assert index.end_log_offset == 4900


def test_files_are_named_by_time_and_ascend_even_when_the_clock_went_back(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 20))
    index.put(keys(20, 20, now=NOW - 1_000_000))
    assert [file.path.name for file in index.files] == names(tmp_path)
    assert len({*names(tmp_path)}) == 3
    assert all(len(name) == 17 for name in names(tmp_path))


def test_a_file_ends_after_enough_log_so_that_a_crash_costs_little(tmp_path: Path) -> None:
    index = loaded(tmp_path, index_roll_bytes=1000)
    index.put(keys(0, 3))
    index.roll_when_due(200, 999, NOW)
    assert len(index.files) == 1
    index.roll_when_due(200, 1000, NOW)
    assert len(index.files) == 2
    index.roll_when_due(200, 1 << 40, NOW)
    assert len(index.files) == 2


def test_what_is_finished_is_all_files_but_the_last(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 25))
    assert index.finish(NOW + 24, 2500) == 1900
    assert index.finished_time == NOW + 18


def test_without_keys_everything_before_now_is_finished(tmp_path: Path) -> None:
    index = loaded(tmp_path, index_roll_bytes=1000)
    index.finish(NOW, 0)
    assert index.finished_time == NOW - 1
    index.put(keys(0, 3))
    index.roll_when_due(4900, 5000, NOW + 10)
    assert index.finish(NOW + 10, 5000) == 5000
    assert index.finished_time == NOW + 9
    index.finish(NOW, 0)
    assert index.finished_time == NOW + 9


def test_files_that_were_being_filled_are_dropped_after_a_bad_stop(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 25))
    index.finish(NOW + 24, 2500)
    index.close()
    again = loaded(tmp_path)
    again.drop_unfinished(NOW + 18)
    assert [file.end_time for file in again.files] == [NOW + 18]
    assert len(names(tmp_path)) == 1


def test_files_of_expired_records_are_dropped_but_never_the_last(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 50))
    assert index.drop_before(1900) == 1
    assert index.drop_before(1 << 40) == 1
    assert len(names(tmp_path)) == 1


def test_a_file_that_never_got_its_length_is_removed(tmp_path: Path) -> None:
    loaded(tmp_path).put(keys(0, 5))
    (tmp_path / "index" / "99999999999999999").touch()
    index = Index.load(small(tmp_path), writable=False)
    assert (len(index.files), len(names(tmp_path))) == (1, 2)
    assert len(loaded(tmp_path).files) == 1
    assert len(names(tmp_path)) == 1


def test_an_existing_index_keeps_its_sizes_whatever_is_configured(tmp_path: Path) -> None:
    loaded(tmp_path).put(keys(0, 25))
    index = loaded(tmp_path, index_slots=11, index_entries=44)
    index.put(keys(25, 50))
    assert {(file.slots, file.capacity) for file in index.files} == {(10, 20)}
    assert [file.count for file in loaded(tmp_path).files] == [file.count for file in index.files]


def test_a_file_of_no_sizes_is_refused_with_the_settings_that_tell_them(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.put(keys(0, 5))
    path = index.files[-1].path
    index.close()
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(Corrupt, match="maxHashSlotNum and maxIndexNum"):
        loaded(tmp_path)


def test_a_file_being_filled_ends_after_what_is_finished_even_if_the_clock_went_back(tmp_path: Path) -> None:
    index = loaded(tmp_path)
    index.finish(NOW, 0)
    index.put(keys(0, 3, now=NOW - 60_000))
    assert index.files[-1].end_time == index.finished_time + 1
