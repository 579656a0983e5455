"""What the source of a request selects, and what it is refused for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core.job_folder import JobFolder
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import EARLIEST
from broker_core.spark.programs.requests import ProgramRequest, SourcePlace, SparkPlace
from broker_core.spark.programs.selection import MOST_KEYS, Selection, select


def selected(tmp_path: Path, source: dict[str, Any], **files: str) -> Selection:
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
        files=files,
    )
    (tmp_path / "job1").mkdir(exist_ok=True)
    return select(request, JobFolder(tmp_path / "job1"))


def test_ranges_of_offsets_name_the_queues_to_read(tmp_path: Path) -> None:
    options = selected(tmp_path, {"offsets": [{"queue": 1, "from": 5, "to": 9}, {"queue": 2, "to": 7}]}).options
    assert options.queues == frozenset({("broker-a", 1), ("broker-a", 2)})
    assert options.starting_offsets == {"orders": {"broker-a": {1: 5}}}
    assert options.ending_offsets == {"orders": {"broker-a": {1: 9, 2: 7}}}
    assert selected(tmp_path, {"offsets": [{"queue": 1, "to": 9}]}).options.starting_offsets == EARLIEST


def test_a_file_of_keys_adds_to_the_list(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("A1\n\nA2 \r\n")
    found = selected(tmp_path, {"keys": ["A3"], "keys_file": "f1"}, keys_file=str(file))
    assert found.options.keys == frozenset({"A1", "A2", "A3"})


@pytest.mark.parametrize(
    ("text", "why"), [("\n\n", "has no key"), ("\n".join(map(str, range(MOST_KEYS + 1))), "at most")]
)
def test_a_file_of_keys_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "keys"
    file.write_text(text)
    with pytest.raises(BadRequest, match=why):
        selected(tmp_path, {"keys_file": "f1"}, keys_file=str(file))


def test_a_file_of_keys_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="f1 cannot be read"):
        selected(tmp_path, {"keys_file": "f1"}, keys_file=str(tmp_path / "gone"))


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


@pytest.mark.parametrize("content", [None, b"", b"nonsense"])
def test_positions_that_cannot_be_read_are_refused(tmp_path: Path, content: bytes | None) -> None:
    (tmp_path / "job0").mkdir()
    if content is not None:
        (tmp_path / "job0" / "positions.jsonl").write_bytes(content)
    with pytest.raises(BadRequest, match=r"source\.positions"):
        selected(tmp_path, {"positions": {"job": "job0", "file": "positions.jsonl"}})
