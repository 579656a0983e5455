"""One index file, down to its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.string_hash import key_hash
from broker_core.store.errors import Corrupt
from broker_core.store.index_file import ENTRY, HEADER, IndexFile, file_bytes
from tests.support.stores import overwrite, packed

T0 = 1_700_000_000_005


def made(folder: Path, *, slots: int = 10, entries: int = 20, after: IndexFile | None = None) -> IndexFile:
    name = f"{len(list(folder.glob('index/*'))):017d}"
    return IndexFile.create(folder / "index" / name, slots=slots, entries=entries, scratch=folder, after=after)


def found(file: IndexFile, hashed: int) -> list[int]:
    return [entry.log_offset for entry in file.chain(hashed) if entry.hash == hashed]


def test_the_worked_example_at_full_size_comes_out_byte_for_byte(tmp_path: Path) -> None:
    # Given the two records of store/README.md#what-is-indexed
    file = made(tmp_path, slots=5_000_000, entries=20_000_000)
    keys = ["0A000001000018B4AAC2000000000000", "K1", "K2"]
    file.put(packed([(key_hash(f"TopicTest#{key}"), 0, T0) for key in keys]))
    file.put(packed([(key_hash("TopicTest#K1"), 5531, 1_700_000_006_705)]))
    # Then header, slots and entries are those the real store derives
    assert file.path.stat().st_size == 420_000_040
    with file.path.open("rb") as data:
        assert data.read(40).hex() == (
            "0000018bcfe568050000018bcfe582310000000000000000000000000000159b0000000300000005"
        )
        for place, expected in (
            (14667960, "00000001"),
            (10980168, "00000004"),
            (10980172, "00000003"),
            (20000060, "1cd42c2400000000000000000000000000000000"),
            (20000080, "0029e2c800000000000000000000000000000000"),
            (20000100, "0029e2c900000000000000000000000000000000"),
            (20000120, "0029e2c8000000000000159b0000000600000002"),
        ):
            data.seek(place)
            assert data.read(len(expected) // 2).hex() == expected
    assert found(file, key_hash("TopicTest#K1")) == [5531, 0]


def test_a_large_file_costs_little_disk_while_it_is_empty(tmp_path: Path) -> None:
    file = made(tmp_path, slots=5_000_000, entries=20_000_000)
    assert file.path.stat().st_blocks * 512 < 24_000_000


def test_a_new_file_is_empty(tmp_path: Path) -> None:
    file = made(tmp_path)
    assert (file.count, file.is_empty, file.is_full) == (1, True, False)
    assert not file.touches(0, 1 << 60)
    assert found(file, 5) == []


def test_a_file_takes_one_key_less_than_it_has_entries(tmp_path: Path) -> None:
    file = made(tmp_path)
    assert file.put(packed([(number, number, T0) for number in range(30)])) == 19
    assert file.is_full
    assert file.put(packed([(99, 99, T0)])) == 0


def test_keys_of_one_slot_are_found_newest_first(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.put(packed([(3, 100, T0), (13, 200, T0), (3, 300, T0 + 1500), (4, 400, T0)]))
    assert [(entry.hash, entry.log_offset) for entry in file.chain(3)] == [(3, 300), (13, 200), (3, 100)]
    assert [entry.store_time for entry in file.chain(3)] == [T0 + 1000, T0, T0]


def test_a_file_that_follows_another_begins_with_its_ends(tmp_path: Path) -> None:
    first = made(tmp_path)
    first.put(packed([(1, 10, T0), (2, 20, T0 + 5000)]))
    second = made(tmp_path, after=first)
    assert HEADER.unpack_from(second.view) == (T0 + 5000, T0 + 5000, 20, 20, 0, 0)
    second.put(packed([(3, 30, T0 + 9000)]))
    # The seconds of the first entry still count from the end of the file before.
    assert ENTRY.unpack_from(second.view, 40 + 10 * 4 + 20) == (3, 30, 4, 0)
    assert (second.begin_time, second.begin_log_offset) == (T0 + 9000, 30)
    assert [entry.store_time for entry in second.chain(3)] == [T0 + 9000]


def test_a_file_ends_later_than_the_one_before_even_within_one_millisecond(tmp_path: Path) -> None:
    first = made(tmp_path)
    first.put(packed([(1, 10, T0)]))
    second = made(tmp_path, after=first)
    second.put(packed([(2, 20, T0)]))
    assert second.end_time == T0 + 1
    loaded = IndexFile.load(made(tmp_path, after=second).path, slots=10, entries=20)
    loaded.put(packed([(2, 20, T0)]))
    assert loaded.end_time == T0 + 2


def test_a_clock_that_goes_back_gives_no_negative_seconds(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.put(packed([(1, 10, T0), (1, 20, T0 - 60_000), (1, 30, T0 + (1 << 50))]))
    assert [ENTRY.unpack_from(file.view, 40 + 40 + number * 20)[2] for number in (1, 2, 3)] == [0, 0, (1 << 31) - 1]
    assert file.end_time == T0 + (1 << 50)


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.put(packed([(3, 100, T0), (13, 200, T0)]))
    file.sync()
    file.close()
    again = IndexFile.load(file.path, slots=10, entries=20)
    again.put(packed([(3, 300, T0)]))
    assert found(again, 3) == [300, 100]
    assert again.count == 4


def test_other_slots_or_entries_are_noticed(tmp_path: Path) -> None:
    path = made(tmp_path).path
    with pytest.raises(Corrupt, match="length"):
        IndexFile.load(path, slots=11, entries=20)


def test_a_chain_that_does_not_go_backwards_is_noticed(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.put(packed([(3, 100, T0), (3, 200, T0)]))
    overwrite(file.path, 40 + 40 + 1 * 20 + 16, (2).to_bytes(4, "big"))
    with pytest.raises(Corrupt, match="chain"):
        list(file.chain(3))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1000)), max_size=60), st.integers(1, 7))
def test_every_key_is_found_in_the_files_it_went_to(
    tmp_path_factory: pytest.TempPathFactory, keys: list[tuple[int, int]], pieces: int
) -> None:
    folder = tmp_path_factory.mktemp("index")
    files = [made(folder)]
    hashed = [(key, number, T0 + number) for number, (key, _) in enumerate(keys)]
    for begin in range(0, len(hashed), pieces):
        left = hashed[begin : begin + pieces]
        while left := left[files[-1].put(packed(left)) :]:
            files.append(made(folder, after=files[-1]))
    for key, *_ in hashed:
        places = [place for file in reversed(files) for place in found(file, key)]
        assert places == [number for other, number, _ in reversed(hashed) if other == key]
    assert sum(len(list(file.all_entries())) for file in files) == len(hashed)


def test_the_length_of_a_file_follows_from_slots_and_entries() -> None:
    assert file_bytes(5_000_000, 20_000_000) == 420_000_040
