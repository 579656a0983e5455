"""The command line that looks into a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store.__main__ import main
from tests.support.stores import fill, opened, overwrite, put, segment

SIZES = ["--index-slots", "10", "--index-entries", "20"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with opened(tmp_path) as store:
        fill(store, 30)
        put(store, b"body", keys=["K1"], tag="TagA", properties={"UNIQ_KEY": "U1"}, topic="Orders", queue_id=2)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    status = main([*map(str, arguments), *SIZES])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_the_summary_tells_queues_segments_and_index(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "summary", folder)
    assert status == 0
    for part in ("closed well  yes", "T 0  0 to 30, 30 messages", "Orders 2  0 to 1", "segments of 2048", "keys"):
        assert part in text


def test_verify_says_sound_or_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "verify", folder)[0] == 0
    overwrite(segment(folder), 88, b"X")
    status, text = run(capsys, "verify", folder)
    assert status == 1
    assert "NOT SOUND" in text
    assert "checksum" in text


def test_a_record_is_shown_by_its_log_offset(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "record", folder, 0)
    assert status == 0
    assert "property     KEYS = k0" in text
    assert run(capsys, "record", folder, 1) == (1, "no record begins at 1\n")


def test_messages_of_a_queue_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "queue", folder, "T", 0, "--from", 25)
    assert status == 0
    lines = text.splitlines()
    assert [line.split()[0] for line in lines] == ["0:25", "0:26", "0:27", "0:28", "0:29", "30"]
    assert len(run(capsys, "queue", folder, "T", 0, "--count", 12)[1].splitlines()) == 12


def test_messages_with_a_key_are_found(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "key", folder, "Orders", "K1")
    assert status == 0
    assert "2:0" in text
    assert "1 found" in text
    assert "everything was looked at" in text


def test_a_folder_that_is_no_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "summary", tmp_path)
    assert status == 2
    assert "no store" in text
