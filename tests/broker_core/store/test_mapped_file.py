"""One mapped file."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from broker_core.store.errors import Corrupt, StoreFull
from broker_core.store.mapped_file import MappedFile
from tests.support.wait import wait_until

MIB = 1024 * 1024


def made(folder: Path, *, size: int = 64 * 1024, reserve_bytes: int = 4096, data: bytes = b"") -> MappedFile:
    return MappedFile.create(
        folder / "files" / "00", size=size, start=100, reserve_bytes=reserve_bytes, scratch=folder, data=data
    )


def test_a_file_has_its_full_length_and_its_data_from_the_start(tmp_path: Path) -> None:
    file = made(tmp_path, data=b"abc")
    assert file.path.stat().st_size == 64 * 1024
    assert file.path.read_bytes().rstrip(b"\0") == b"abc"
    assert (file.start, file.wrote, file.end) == (100, 3, 103)
    assert list(tmp_path.glob("new-*")) == []


def test_what_is_appended_is_read_and_is_in_the_file(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.append(b"abc")
    file.append(b"def")
    assert bytes(file.view[: file.wrote]) == b"abcdef"
    file.sync()
    file.release()
    again = MappedFile(file.path, start=100, wrote=6, reserve_bytes=4096, writable=False)
    assert bytes(again.view[:6]) == b"abcdef"


def in_memory(file: MappedFile, begin: int, end: int) -> int:
    """Return how many of these bytes the system has in memory."""
    first = ctypes.c_char.from_buffer(file.writable)
    begin_at = ctypes.addressof(first) + begin
    del first
    pages = (ctypes.c_ubyte * ((end - begin) // mmap.PAGESIZE))()
    assert ctypes.CDLL(None).mincore(ctypes.c_void_p(begin_at), ctypes.c_size_t(end - begin), pages) == 0
    return sum(page & 1 for page in pages) * mmap.PAGESIZE


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a disk, since the tests' other files are in memory, from which the system reads nothing ahead."""
    with TemporaryDirectory(prefix="gantry-tests-", dir="/var/tmp") as folder:
        kind = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, check=True).stdout.strip()
        if kind in (b"tmpfs", b"ramfs"):
            pytest.skip("/var/tmp is in memory")
        yield Path(folder)


def test_what_is_reserved_is_in_memory_and_not_much_more(disk: Path) -> None:
    file = made(disk, size=16 * MIB, reserve_bytes=4 * MIB)
    step = file.reserved
    assert step < MIB
    for _ in range(3):
        file.append(bytes(step))
        file.reserve(file.wrote + 1)
        assert file.reserved == file.wrote + step
        assert in_memory(file, 0, file.reserved) == file.reserved
        assert in_memory(file, file.reserved, 4 * MIB) == 0


def test_blocks_are_reserved_ahead_of_the_writes(tmp_path: Path) -> None:
    file = made(tmp_path, reserve_bytes=4096)
    assert file.reserved == 4096
    file.append(b"x" * 5000)
    assert file.reserved == 8192
    assert file.path.stat().st_blocks * 512 >= 8192
    file.append(b"x" * 50_000)
    assert file.reserved == 55_000


def test_a_full_disk_is_an_error_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    file = made(tmp_path)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StoreFull) as refused:
        file.append(b"x" * 5000)
    assert (refused.value.needed or 0) >= 904
    assert file.wrote == 0
    with pytest.raises(StoreFull):
        MappedFile.create(tmp_path / "files" / "01", size=10, start=0, reserve_bytes=10, scratch=tmp_path)
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["00"]
    assert list(tmp_path.glob("new-*")) == []


def test_cutting_overwrites_the_rest_with_zeros(tmp_path: Path) -> None:
    file = made(tmp_path, size=3 * 1024 * 1024, reserve_bytes=3 * 1024 * 1024)
    file.append(b"x" * file.size)
    file.cut(5)
    assert bytes(file.view) == b"x" * 5 + bytes(file.size - 5)
    assert (file.wrote, file.reserved) == (5, 5)


def test_slices_stay_readable_after_the_file_is_deleted(tmp_path: Path) -> None:
    file = made(tmp_path, data=b"abc")
    part = file.view[1:3]
    file.delete()
    assert not file.path.exists()
    assert bytes(part) == b"bc"


def test_a_deleted_file_is_soon_unmapped(tmp_path: Path) -> None:
    file = made(tmp_path, data=b"abc")
    path = str(file.path)
    assert path in Path("/proc/self/maps").read_text()
    file.delete()
    wait_until(lambda: path not in Path("/proc/self/maps").read_text())


def test_syncing_a_file_that_is_gone_is_nothing(tmp_path: Path) -> None:
    file = made(tmp_path)
    file.delete()
    file.sync()


def test_an_empty_file_cannot_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "00").touch()
    with pytest.raises(Corrupt):
        MappedFile(tmp_path / "00", start=0, wrote=0, reserve_bytes=0, writable=True)
