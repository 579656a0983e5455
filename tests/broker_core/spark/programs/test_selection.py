"""What the source of a request selects, and what it is refused for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker_core.job_folder import JobFolder
from broker_core.spark.checkpoint import LeftOut
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import EARLIEST
from broker_core.spark.programs.requests import ProgramRequest, SourcePlace, SparkPlace
from broker_core.spark.programs.selection import Selection, select


def selected(tmp_path: Path, source: dict[str, Any]) -> Selection:
    request = ProgramRequest(
        job_id="job1",
        type="replay",
        cluster="local",
        created_by="ann",
        attempt=1,
        request_hash="hash",
        asked={"source": {"topic": "orders", **source}},
        source=SourcePlace(store=str(tmp_path), broker="broker-a"),
        spark=SparkPlace(master="local[2]", cache=str(tmp_path)),
        files_folder=str(tmp_path),
    )
    (tmp_path / "job1").mkdir(exist_ok=True)
    return select(request, JobFolder(tmp_path / "job1"))


def test_ranges_of_offsets_name_the_queues_to_read(tmp_path: Path) -> None:
    options = selected(tmp_path, {"offsets": [{"queue": 1, "from": 5, "to": 9}, {"queue": 2, "to": 7}]}).options
    assert options.queues == frozenset({("broker-a", 1), ("broker-a", 2)})
    assert options.starting_offsets == {"orders": {"broker-a": {1: 5}}}
    assert options.ending_offsets == {"orders": {"broker-a": {1: 9, 2: 7}}}
    assert selected(tmp_path, {"offsets": [{"queue": 1, "to": 9}]}).options.starting_offsets == EARLIEST


def test_a_file_of_keys_adds_to_the_list_and_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "wanted.txt"
    file.write_text("A1\n\nA2 \r\nA1\n")
    asked = {"keys": ["A3"], "keys_file": "wanted.txt"}
    found = selected(tmp_path, asked)
    assert (found.options.keys, found.told) == (frozenset({"A1", "A2", "A3"}), {"keys": 3})
    # A run that goes on looks for the same ones
    file.write_text("B1\n")
    assert selected(tmp_path, asked).options.keys == found.options.keys


def test_a_file_of_keys_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"source\.keys_file: gone\.txt names no file"):
        selected(tmp_path, {"keys_file": "gone.txt"})


def test_positions_that_another_job_found_are_read_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "job0").mkdir()
    lines = [
        b'{"broker": "broker-a", "queue": 1, "offsets": [9, 4]}',
        b'{"broker": "broker-a", "queue": 1, "offsets": [4]}',
    ]
    (tmp_path / "job0" / "positions.jsonl").write_bytes(b"\n".join(lines))
    given = {"positions": {"job": "job0", "file": "positions.jsonl"}}
    found = selected(tmp_path, given)
    assert found.positions == {("broker-a", 1): [4, 9]}
    with pytest.raises(BadRequest, match=r"source\.queues: leave it out"):
        selected(tmp_path, {**given, "queues": [1]})


def test_what_a_replay_could_not_copy_is_read_from_its_file_without_damaged_messages(tmp_path: Path) -> None:
    (tmp_path / "job0").mkdir()
    place = {"broker": "broker-a", "topic": "orders", "queue_id": 1, "reason": "no"}
    met = [("failed", 9), ("damaged", 5), ("failed", 4)]
    lines = [msgspec.convert({**place, "kind": kind, "queue_offset": offset}, LeftOut) for kind, offset in met]
    JobFolder(tmp_path / "job0").append_lines("failures.jsonl", lines)
    found = selected(tmp_path, {"positions": {"job": "job0", "file": "failures.jsonl"}})
    assert found.positions == {("broker-a", 1): [4, 9]}


@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_positions_that_cannot_be_read_are_refused(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / "job0").mkdir()
    if content is not None:
        (tmp_path / "job0" / "positions.jsonl").write_bytes(content)
    with pytest.raises(BadRequest, match=r"source\.positions"):
        selected(tmp_path, {"positions": {"job": "job0", "file": "positions.jsonl"}})
