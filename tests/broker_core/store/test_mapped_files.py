"""A row of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.errors import Corrupt
from broker_core.store.mapped_files import MappedFiles

SIZE = 4096


def row(folder: Path) -> MappedFiles:
    return MappedFiles(folder / "row", file_size=SIZE, reserve_bytes=SIZE, scratch=folder)


def loaded(folder: Path, *, writable: bool = True) -> MappedFiles:
    return MappedFiles.load(folder / "row", file_size=SIZE, reserve_bytes=SIZE, scratch=folder, writable=writable)


def filled(folder: Path, count: int, *, at: int = 0) -> MappedFiles:
    files = row(folder)
    for number in range(count):
        files.roll(bytes([number + 1]) * SIZE, at=at)
    return files


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "row").iterdir())


def test_an_empty_row_begins_and_ends_at_zero(tmp_path: Path) -> None:
    files = loaded(tmp_path)
    assert (files.begin, files.end, files.last, files.find(0)) == (0, 0, None, None)


def test_files_are_named_by_their_first_position(tmp_path: Path) -> None:
    files = filled(tmp_path, 3)
    assert names(tmp_path) == [f"{start:020d}" for start in (0, 4096, 8192)]
    assert (files.begin, files.end) == (0, 3 * SIZE)


def test_a_row_that_begins_late_begins_at_a_whole_file(tmp_path: Path) -> None:
    assert filled(tmp_path, 1, at=10_000).begin == 8192


def test_the_file_of_a_position_is_found(tmp_path: Path) -> None:
    files = filled(tmp_path, 3, at=8192)
    found = [file.start if (file := files.find(position)) else None for position in (8191, 8192, 12287, 12288, 20480)]
    assert found == [None, 8192, 8192, 12288, None]


def test_cutting_removes_later_files_and_the_rest(tmp_path: Path) -> None:
    files = filled(tmp_path, 3)
    files.cut(5000)
    assert names(tmp_path) == [f"{start:020d}" for start in (0, 4096)]
    assert files.end == 5000
    assert bytes(files[1].view[900:910]) == b"\x02" * 4 + bytes(6)


def test_cutting_at_a_border_keeps_the_full_file(tmp_path: Path) -> None:
    files = filled(tmp_path, 3)
    files.cut(4096)
    assert (names(tmp_path), files.end) == ([f"{0:020d}"], 4096)


def test_a_row_keeps_the_file_size_it_was_made_with(tmp_path: Path) -> None:
    filled(tmp_path, 2).close()
    files = MappedFiles.load(tmp_path / "row", file_size=99, reserve_bytes=1, scratch=tmp_path)
    assert (files.file_size, files.end) == (SIZE, 2 * SIZE)


def test_files_at_the_end_without_a_byte_are_removed(tmp_path: Path) -> None:
    filled(tmp_path, 2).close()
    (tmp_path / "row" / f"{8192:020d}").touch()
    (tmp_path / "row" / f"{12288:020d}").touch()
    assert loaded(tmp_path).end == 8192
    assert len(names(tmp_path)) == 2


def test_a_reader_leaves_such_files_where_they_are(tmp_path: Path) -> None:
    filled(tmp_path, 2).close()
    (tmp_path / "row" / f"{8192:020d}").touch()
    assert loaded(tmp_path, writable=False).end == 8192
    assert len(names(tmp_path)) == 3


def test_a_short_last_file_gets_its_length_back(tmp_path: Path) -> None:
    filled(tmp_path, 2).close()
    last = tmp_path / "row" / f"{4096:020d}"
    last.write_bytes(b"\x02" * 100)
    files = loaded(tmp_path)
    assert last.stat().st_size == SIZE
    assert bytes(files[1].view[98:102]) == b"\x02\x02\0\0"


def test_a_file_of_another_length_in_the_row_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 3).close()
    (tmp_path / "row" / f"{4096:020d}").write_bytes(b"x" * 100)
    with pytest.raises(Corrupt, match="length"):
        loaded(tmp_path)


def test_a_gap_in_the_row_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, 3).close()
    (tmp_path / "row" / f"{4096:020d}").unlink()
    with pytest.raises(Corrupt, match="before it ends at 4096"):
        loaded(tmp_path)


def test_other_names_are_left_alone(tmp_path: Path) -> None:
    filled(tmp_path, 1).close()
    (tmp_path / "row" / ".DS_Store").touch()
    assert loaded(tmp_path).end == SIZE


def test_sync_reaches_every_file_from_a_position_on(tmp_path: Path) -> None:
    files = filled(tmp_path, 3)
    files.sync(0)
    files.drop_first()
    files.sync(5000)
    assert files.begin == 4096
