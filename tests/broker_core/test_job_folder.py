"""The files of a job."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from broker_core.job_folder import Artefact, JobFolder, Progress
from broker_core.spark.errors import BadRequest
from broker_core.spark.programs.requests import read_request


class Line(msgspec.Struct):
    chunk: int


def test_a_line_that_a_kill_cut_counts_as_not_written(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    folder.append_line("checkpoint.jsonl", Line(1))
    with (tmp_path / "checkpoint.jsonl").open("ab") as file:
        file.write(b'{"chunk": 2, "sta')
    assert list(folder.lines("checkpoint.jsonl", Line)) == [Line(1)]


def test_a_line_after_a_cut_one_is_read(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    (tmp_path / "checkpoint.jsonl").write_bytes(b'{"chunk": 2, "sta')
    folder.append_line("checkpoint.jsonl", Line(3))
    assert list(folder.lines("checkpoint.jsonl", Line)) == [Line(3)]


def test_a_request_that_cannot_be_read_is_a_bad_one(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"request\.json"):
        read_request(JobFolder(tmp_path))
    (tmp_path / "request.json").write_text('{"job_id": "job1", "attempt": "first"}')
    with pytest.raises(BadRequest, match=r"request\.json.*attempt"):
        read_request(JobFolder(tmp_path))


def test_files_appear_whole(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    folder.write_json("plan.json", {"lanes": []})
    assert folder.find_json("plan.json") == {"lanes": []}
    assert folder.find_json("other.json") is None
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_artefacts_are_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "differences.csv").write_text("a,b\n")
    (tmp_path / "request.json").write_text("{}")
    assert JobFolder(tmp_path).artefacts() == [Artefact("differences.csv", "csv", 4)]


def test_progress_is_a_line_of_the_whole_state(tmp_path: Path) -> None:
    progress = Progress(JobFolder(tmp_path))
    progress.write({"planned": 100, "read": 40}, phase="running", chunks=(1, 4))
    progress.write({"planned": 100, "read": 100}, phase="done", done=True)
    first, last = map(json.loads, (tmp_path / "progress.jsonl").read_text().splitlines())
    assert first["counters"] == {
        "planned": 100, "read": 40, "filtered": 0, "damaged": 0, "matched": 0, "written": 0, "failed": 0, "bytes": 0,
    }  # fmt: skip
    assert (first["seq"], first["chunks"], first["phase"]) == (1, [1, 4], "running")
    assert (last["rate"], last["eta_ms"]) == (None, None)


def test_the_work_of_an_earlier_run_does_not_count_for_the_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(JobFolder(tmp_path))
    progress.write({"planned": 100, "read": 40, "written": 40}, phase="starting")
    assert "first messages" not in capsys.readouterr().err
    progress.write({"planned": 100, "read": 41, "written": 41}, phase="running")
    assert "the first messages were processed" in capsys.readouterr().err


def test_the_remaining_time_follows_from_what_is_still_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("broker_core.job_folder.time.monotonic", lambda: now[0])
    progress = Progress(JobFolder(tmp_path))
    # Of 100 messages a second one in ten is written
    for step in range(3):
        now[0] = float(step)
        progress.write({"planned": 1000, "read": 100 * (step + 1), "written": 10 * (step + 1)}, phase="running")
    progress.write({"planned": 1000, "read": 300, "written": 30}, phase="running", most_left=20)
    lines = [json.loads(line) for line in (tmp_path / "progress.jsonl").read_text().splitlines()]
    assert (lines[2]["rate"], lines[2]["eta_ms"]) == (10.0, 7000)
    # Earlier, if no more than so many are written
    assert lines[3]["eta_ms"] == 2000
