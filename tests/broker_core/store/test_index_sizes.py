"""Slots and entries of index files are determined from their contents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.store.errors import Corrupt
from broker_core.store.index_file import HEADER, IndexFile, file_bytes
from broker_core.store.index_sizes import measure
from tests.support.stores import packed

KEYS = st.lists(
    st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 2**40), st.integers(0, 10_000)), min_size=1, max_size=30
)


def index(path: Path, slots: int, entries: int, keys: list[tuple[int, int, int]]) -> Path:
    path.unlink(missing_ok=True)
    file = IndexFile.create(path, slots=slots, entries=entries, scratch=path.parent, after=None)
    begin = 1_700_000_000_000
    file.put(packed([(key_hash, log_offset, begin + seconds * 1000) for key_hash, log_offset, seconds in keys]))
    file.close()
    return path


@given(slots=st.integers(1, 300), entries=st.integers(2, 300), keys=KEYS, first_at_0=st.booleans())
def test_whatever_the_sizes_are_they_are_found(
    tmp_path_factory: pytest.TempPathFactory,
    slots: int,
    entries: int,
    keys: list[tuple[int, int, int]],
    first_at_0: bool,
) -> None:
    keys = sorted(keys, key=lambda key: key[1])
    if first_at_0:
        keys[0] = (keys[0][0], 0, keys[0][2])
    path = index(tmp_path_factory.mktemp("index") / "1", slots, entries, keys)

    assert measure([path]) == (slots, entries)


def test_sizes_that_look_like_the_usual_ones_are_distinguished(tmp_path: Path) -> None:
    assert file_bytes(26, 20) == file_bytes(6, 24)

    assert measure([index(tmp_path / "1", 26, 20, [(77, 500, 1), (78, 900, 2)])]) == (26, 20)
    assert measure([index(tmp_path / "1", 6, 24, [(77, 500, 1), (78, 900, 2)])]) == (6, 24)


@pytest.mark.parametrize("sizes", [(1, 25), (1, 46)])
def test_empty_room_is_not_an_entry_at_the_beginning_of_the_log(tmp_path: Path, sizes: tuple[int, int]) -> None:
    assert measure([index(tmp_path / "1", *sizes, [(1, 0, 0)])]) == sizes


def test_a_file_without_entries_accepts_any_sizes_that_fit_and_another_one_decides(tmp_path: Path) -> None:
    empty = index(tmp_path / "2", 26, 20, [])
    (tmp_path / "3").touch()

    slots, entries = measure([tmp_path / "3", empty]) or (0, 0)
    assert file_bytes(slots, entries) == file_bytes(26, 20)
    assert measure([empty, index(tmp_path / "1", 26, 20, [(77, 500, 1)])]) == (26, 20)
    assert measure([tmp_path / "3"]) is None
    assert measure([]) is None


def test_entries_put_by_a_writer_in_the_meantime_do_not_confuse(tmp_path: Path) -> None:
    path = index(tmp_path / "1", 10, 50, [(number, 100 * number, 1) for number in range(1, 20)])
    data = bytearray(path.read_bytes())
    begin, end, first, _, used, _ = HEADER.unpack_from(data)
    HEADER.pack_into(data, 0, begin, end, first, 1_500, used, 16)  # as it was four entries ago
    path.write_bytes(data)

    assert measure([path]) == (10, 50)


@pytest.mark.parametrize("length", [1, 43, 45])
def test_a_length_that_no_sizes_have_is_damage(tmp_path: Path, length: int) -> None:
    (tmp_path / "1").write_bytes(bytes(length))

    with pytest.raises(Corrupt, match="length"):
        measure([tmp_path / "1"])


def test_a_damaged_header_is_named_with_the_way_out(tmp_path: Path) -> None:
    path = index(tmp_path / "1", 10, 50, [(7, 500, 1)])
    data = bytearray(path.read_bytes())
    HEADER.pack_into(data, 0, 0, 0, 123, 456, 1, 40)
    path.write_bytes(data)

    with pytest.raises(Corrupt, match="--index-slots"):
        measure([path])
