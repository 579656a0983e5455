"""The epochs of a log, and what two logs have in common by them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.store.epochs import Epoch, EpochFile
from broker_core.store.errors import Corrupt

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
    assert EpochFile(tmp_path).entries == (Epoch(1, 0), Epoch(2, 4096))
    assert sorted(path.name for path in tmp_path.iterdir()) == [FILE, COPY]


def test_without_a_file_there_are_no_epochs(tmp_path: Path) -> None:
    assert EpochFile(tmp_path).entries == ()


@pytest.mark.parametrize("text", ["1\r\n0\r\n7-12\r\n", "1\n0\n7-12", "2\n0\n6-12\n7-12\n"])
def test_what_others_may_write_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode())
    assert EpochFile(tmp_path).entries == (Epoch(7, 12),)


def test_an_epoch_in_which_nothing_was_written_is_replaced(tmp_path: Path) -> None:
    file = filled(tmp_path, (1, 0), (2, 100), (5, 100), (6, 100))
    assert file.entries == EpochFile(tmp_path).entries == (Epoch(1, 0), Epoch(6, 100))


def test_the_last_epoch_once_more_changes_nothing(tmp_path: Path) -> None:
    file = filled(tmp_path, (1, 0), (2, 100))
    file.add(2, 100)
    assert file.entries == (Epoch(1, 0), Epoch(2, 100))


@pytest.mark.parametrize(("number", "start"), [(2, 200), (1, 200), (2, 0), (3, 99)])
def test_epochs_rise_in_both_numbers(tmp_path: Path, number: int, start: int) -> None:
    file = filled(tmp_path, (1, 0), (2, 100))
    with pytest.raises(ValueError, match=f"epoch {number} at log offset {start} does not follow epoch 2 at 100"):
        file.add(number, start)
    assert file.entries == EpochFile(tmp_path).entries == (Epoch(1, 0), Epoch(2, 100))


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
    assert EpochFile(tmp_path).entries == (Epoch(1, 0), Epoch(2, 4096))
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
    assert EpochFile(tmp_path).entries == (Epoch(1, 0), Epoch(2, 4096))


def test_what_the_disk_refuses_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = filled(tmp_path, (1, 0))

    def broken(*_: object) -> None:
        raise OSError("the disk is broken")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="the disk is broken"):
        file.add(2, 100)
    assert file.entries == EpochFile(tmp_path).entries == (Epoch(1, 0),)


def test_the_longer_log_does_not_decide_what_is_common(tmp_path: Path) -> None:
    # Both wrote up to 300, but behind 200 under different masters
    file = filled(tmp_path, (1, 0), (2, 200))
    assert file.find_common([Epoch(1, 0), Epoch(3, 150)], 300, 300) == 150
    assert file.find_common([Epoch(1, 0), Epoch(3, 250)], 300, 300) == 200
    assert file.find_common([Epoch(1, 0), Epoch(2, 200), Epoch(3, 250)], 300, 280) == 250
    assert file.find_common([Epoch(1, 0), Epoch(2, 200)], 220, 280) == 220
    assert file.find_common([Epoch(2, 200)], 300, 280) == 280
    assert file.find_common([Epoch(2, 199), Epoch(3, 200)], 300, 280) is None
    assert file.find_common([], 300, 280) is None
    assert EpochFile(tmp_path / "none").find_common([Epoch(1, 0)], 300, 0) is None


class _Log:
    """A log of letters with its epochs; copies share what they have until one of them goes on."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.file = EpochFile(folder)
        self.text = ""

    def lead(self, number: int, text: str) -> None:
        self.file.add(number, len(self.text))
        self.text += text

    def follow(self, other: _Log) -> None:
        common = self.file.find_common(other.file.entries, len(other.text), len(self.text)) or 0
        assert self.text[:common] == other.text[:common]
        self.text = self.text[:common]
        self.file.cut(common)
        for entry in other.file.entries:
            if not self.file.entries or entry.number > self.file.entries[-1].number:
                self.file.add(*entry)
        self.text = other.text
        assert self.file.entries == other.file.entries


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 2), st.text("abc", max_size=4), st.lists(st.integers(0, 2), max_size=3)), max_size=8
    )
)
def test_logs_that_were_led_in_any_order_agree_up_to_the_common_end(steps: list[tuple[int, str, list[int]]]) -> None:
    with TemporaryDirectory() as name:
        logs = [_Log(Path(name) / str(number)) for number in range(3)]
        for number, (leader, text, followers) in enumerate(steps, 1):
            logs[leader].lead(number, text)
            for follower in followers:
                if follower != leader:
                    logs[follower].follow(logs[leader])
            for log in logs:
                assert EpochFile(log.file._folder).entries == log.file.entries
