"""Differences as files."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet
import pytest

from broker_core.csv_text import guarded
from broker_core.spark.comparing import differences
from broker_core.spark.comparing.differences import Sample, batches_of, write_differences
from broker_core.spark.comparing.evidence import DIFFERENCES

AT = datetime(2026, 5, 1, tzinfo=UTC)


def row(found: str, key: str | None, *, left: int = 0, right: int = 0, **changes: Any) -> dict[str, Any]:
    def place(name: str, number: int) -> dict[str, Any]:
        here = bool(number)
        return {
            f"{name}_count": number,
            f"{name}_broker": "broker-a" if here else None,
            f"{name}_queue_id": 1 if here else None,
            f"{name}_queue_offset": 7 if here else None,
            f"{name}_store_timestamp": AT if here else None,
            f"{name}_values": [],
        }

    return {"class": found, "key": key, **place("left", left), **place("right", right), "fields": [], **changes}


def write(folder: Path, *parts: list[dict[str, Any]]) -> list[Sample]:
    found = folder / "parts"
    found.mkdir()
    for number, rows in enumerate(parts):
        table = pa.Table.from_pylist(rows, schema=DIFFERENCES)
        pyarrow.parquet.write_table(table, found / f"{number}.parquet")
    return write_differences(batches_of(found), folder, ["body"])[0]


def test_all_differences_are_in_both_files(tmp_path: Path) -> None:
    values: dict[str, Any] = {"fields": ["body"], "left_values": [("body", "1")], "right_values": [("body", "2")]}
    write(tmp_path, [row("missing_right", "a", left=1)], [row("different", "b", left=1, right=1, **values)])
    kept = pyarrow.parquet.read_table(tmp_path / "differences.parquet").to_pylist()
    assert sorted(each["key"] for each in kept) == ["a", "b"]
    with (tmp_path / "differences.csv").open() as file:
        rows = {each["key"]: each for each in csv.DictReader(file)}
    assert (rows["b"]["fields"], rows["b"]["left:body"], rows["b"]["right:body"]) == ("body", "1", "2")
    assert rows["a"]["right_queue_id"] == ""
    assert rows["a"]["left_store_timestamp"].startswith("2026-05-01T00:00:00")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", "a\0b"])
def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(tmp_path: Path, text: str) -> None:
    values: dict[str, Any] = {"fields": ["body"], "left_values": [("body", text)], "right_values": []}
    write(tmp_path, [row("different", text, right=1, **values)])
    with (tmp_path / "differences.csv").open(newline="") as file:
        (kept,) = csv.DictReader(file)
    assert (kept["key"], kept["left:body"]) == (guarded(text), guarded(text))
    assert pyarrow.parquet.read_table(tmp_path / "differences.parquet").column("key").to_pylist() == [text]


def test_samples_tell_the_places_of_both_sides(tmp_path: Path) -> None:
    (sample,) = write(tmp_path, [row("missing_right", "a", left=2)])
    assert msgspec.to_builtins(sample) == {
        "class": "missing_right", "key": "a", "left": {"broker": "broker-a", "queue_id": 1, "queue_offset": 7},
        "right": None, "left_count": 2, "right_count": 0, "fields": [], "damage": None,
    }  # fmt: skip


def test_of_each_class_only_some_samples_are_kept(tmp_path: Path) -> None:
    many = [row("missing_right", f"k{number:04}", left=1) for number in range(300)]
    samples = write(tmp_path, many, [row("missing_left", "z", right=1)])
    assert len(samples) == differences.SAMPLES_PER_CLASS + 1


def test_no_differences_make_empty_files(tmp_path: Path) -> None:
    assert write(tmp_path, []) == []
    assert (tmp_path / "differences.csv").read_text().count("\n") == 1


def test_a_csv_file_that_does_not_have_all_differences_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(differences, "MOST_CSV_ROWS", 2)
    table = pa.Table.from_pylist([row("missing_left", str(number), right=1) for number in range(3)], schema=DIFFERENCES)
    _, is_whole = write_differences(table.to_batches(), tmp_path, [])
    assert not is_whole
    assert (tmp_path / "differences.csv").read_text().count("\n") == 3
