"""The file with the epochs of a log."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.protocol.ha_epochs import EpochStart
from broker_core.store.epochs import EpochFile
from broker_core.store.errors import Corrupt, StoreFull
from tests.support.full_disk import no_room

FILE = "epochFileCheckpoint"
COPY = "epochFileCheckpoint.bak"


def filled(folder: Path, *entries: tuple[int, int]) -> EpochFile:
    file = EpochFile(folder)
    for number, start in entries:
        file.add(number, start)
    return file


def test_the_file_is_that_of_rocketmq_5(tmp_path: Path) -> None:
    filled(tmp_path, (1, 0), (2, 4096))
    assert (tmp_path / FILE).read_bytes() == b"2\n1694929738\n1-0\n2-4096\n"
    assert (tmp_path / COPY).read_bytes() == (tmp_path / FILE).read_bytes()
    assert EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(2, 4096))
    assert sorted(path.name for path in tmp_path.iterdir()) == [FILE, COPY]


def test_without_a_file_there_are_no_epochs(tmp_path: Path) -> None:
    assert EpochFile(tmp_path).entries == ()


@pytest.mark.parametrize("text", ["1\r\n0\r\n7-12\r\n", "1\n0\n7-12", "2\n0\n6-12\n7-12\n"])
def test_what_others_may_write_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode())
    assert EpochFile(tmp_path).entries == (EpochStart(7, 12),)


def test_an_epoch_in_which_nothing_was_written_is_replaced(tmp_path: Path) -> None:
    file = filled(tmp_path, (1, 0), (2, 100), (5, 100), (6, 100))
    assert file.entries == EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(6, 100))


def test_the_last_epoch_once_more_changes_nothing(tmp_path: Path) -> None:
    file = filled(tmp_path, (1, 0), (2, 100))
    file.add(2, 100)
    assert file.entries == (EpochStart(1, 0), EpochStart(2, 100))


@pytest.mark.parametrize(("number", "start"), [(2, 200), (1, 200), (2, 0), (3, 99)])
def test_epochs_rise_in_both_numbers(tmp_path: Path, number: int, start: int) -> None:
    file = filled(tmp_path, (1, 0), (2, 100))
    with pytest.raises(ValueError, match=f"epoch {number} at log offset {start} does not follow epoch 2 at 100"):
        file.add(number, start)
    assert file.entries == EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(2, 100))


@pytest.mark.parametrize(
    ("at", "left"), [(0, []), (1, [1]), (100, [1]), (101, [1, 2]), (300, [1, 2]), (301, [1, 2, 3])]
)
def test_epochs_go_with_the_end_of_the_log(tmp_path: Path, at: int, left: list[int]) -> None:
    file = filled(tmp_path, (1, 0), (2, 100), (3, 300))
    file.cut(at)
    assert [entry.number for entry in file.entries] == left
    assert EpochFile(tmp_path).entries == file.entries


@pytest.mark.parametrize(("begin", "left"), [(0, [1, 2, 3]), (99, [1, 2, 3]), (100, [2, 3]), (299, [2, 3]), (500, [3])])
def test_epochs_go_with_the_beginning_of_the_log(tmp_path: Path, begin: int, left: list[int]) -> None:
    file = filled(tmp_path, (1, 0), (2, 100), (3, 300))
    file.drop_before(begin)
    assert [entry.number for entry in file.entries] == left
    assert EpochFile(tmp_path).entries == file.entries


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it does not begin with a count and a checksum"),
        ("2\n", "it does not begin with a count and a checksum"),
        ("x\n0\n1-0\n", "it does not begin with a count and a checksum"),
        ("2\n1694929738\n1-0\n2-4097\n", "its lines do not match its checksum"),
        ("2\n1694929738\n1-0\n", "its lines do not match its checksum"),
        ("2\n0\n1-0\n", "it has 1 entries and says 2"),
        ("1\n0\n1:0\n", "'1:0' is not an epoch and a log offset"),
        ("1\n0\n1--5\n", "'1--5' is not an epoch and a log offset"),
        ("2\n0\n2-0\n1-5\n", "its epochs do not rise"),
        ("2\n0\n1-5\n2-0\n", "its epochs do not rise"),
        ("\xe4", "it does not tell the epochs"),
    ],
)
def test_damage_is_refused_unless_the_copy_is_whole(tmp_path: Path, text: str, reason: str) -> None:
    filled(tmp_path, (1, 0), (2, 4096))
    (tmp_path / FILE).write_bytes(text.encode())
    assert EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(2, 4096))
    for copy in (text, None):
        (tmp_path / COPY).unlink()
        if copy is not None:
            (tmp_path / COPY).write_bytes(copy.encode())
        with pytest.raises(Corrupt, match=reason):
            EpochFile(tmp_path)
        (tmp_path / COPY).touch()


def test_a_missing_file_is_read_from_its_copy(tmp_path: Path) -> None:
    filled(tmp_path, (1, 0), (2, 4096))
    (tmp_path / FILE).unlink()
    assert EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(2, 4096))


def test_what_the_disk_refuses_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = filled(tmp_path, (1, 0))

    def broken(*_: object) -> None:
        raise OSError("the disk is broken")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="the disk is broken"):
        file.add(2, 100)
    assert file.entries == EpochFile(tmp_path).entries == (EpochStart(1, 0),)


@pytest.mark.parametrize("full", [FILE, COPY])
def test_without_room_an_epoch_does_not_begin_until_the_call_is_repeated(tmp_path: Path, full: str) -> None:
    file = filled(tmp_path, (1, 0))
    with no_room(lambda path: path.name == f"new-{full}"), pytest.raises(StoreFull):
        file.add(2, 100)
    file.add(2, 100)
    assert file.entries == EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(2, 100))
    assert (tmp_path / COPY).read_bytes() == (tmp_path / FILE).read_bytes()


def test_without_room_a_cut_leaves_the_epochs_to_be_cut(tmp_path: Path) -> None:
    file = filled(tmp_path, (1, 0), (2, 100))
    with no_room(), pytest.raises(StoreFull):
        file.cut(100)
    assert file.entries == EpochFile(tmp_path).entries == (EpochStart(1, 0), EpochStart(2, 100))
    file.cut(100)
    assert file.entries == EpochFile(tmp_path).entries == (EpochStart(1, 0),)
