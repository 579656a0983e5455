"""Differences as files."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet

from broker_core.spark import differences
from broker_core.spark.differences import write_differences

AT = datetime(2026, 5, 1, tzinfo=UTC)


def row(found: str, key: str | None, *, left: int = 0, right: int = 0, fields: tuple[str, ...] = ()) -> dict[str, Any]:
    def place(name: str, number: int) -> dict[str, Any]:
        here = bool(number)
        return {
            f"{name}_count": number,
            f"{name}_broker": "broker-a" if here else None,
            f"{name}_queue_id": 1 if here else None,
            f"{name}_queue_offset": 7 if here else None,
            f"{name}_store_timestamp": AT if here else None,
        }

    return {
        "class": found,
        "key": key,
        **place("left", left),
        **place("right", right),
        "fields": list(fields),
        "damage": "",
    }


def written(folder: Path, *parts: list[dict[str, Any]]) -> Path:
    found = folder / "parts"
    found.mkdir()
    schema = pa.Table.from_pylist([row("different", "k", left=1, right=1, fields=("body",))]).schema
    for number, rows in enumerate(parts):
        pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), found / f"part-{number}.parquet")
    return found


def test_all_differences_are_in_both_files(tmp_path: Path) -> None:
    parts = written(
        tmp_path, [row("missing_right", "a", left=1)], [row("different", "b", left=1, right=1, fields=("body",))]
    )
    write_differences(parts, tmp_path)
    kept = pyarrow.parquet.read_table(tmp_path / "differences.parquet").to_pylist()
    assert sorted(each["key"] for each in kept) == ["a", "b"]
    with (tmp_path / "differences.csv").open() as file:
        rows = {each["key"]: each for each in csv.DictReader(file)}
    assert rows["b"]["fields"] == "body"
    assert rows["a"]["right_queue_id"] == ""
    assert rows["a"]["left_store_timestamp"].startswith("2026-05-01T00:00:00")


def test_a_key_that_a_spreadsheet_would_run_is_made_harmless(tmp_path: Path) -> None:
    write_differences(written(tmp_path, [row("missing_left", "=1+1", right=1)]), tmp_path)
    assert "'=1+1" in (tmp_path / "differences.csv").read_text()
    assert pyarrow.parquet.read_table(tmp_path / "differences.parquet").column("key").to_pylist() == ["=1+1"]


def test_samples_tell_the_places_of_both_sides(tmp_path: Path) -> None:
    (sample,) = write_differences(written(tmp_path, [row("missing_right", "a", left=2)]), tmp_path)
    assert msgspec.to_builtins(sample) == {
        "class": "missing_right", "key": "a", "left": {"broker": "broker-a", "queue_id": 1, "queue_offset": 7},
        "right": None, "left_count": 2, "right_count": 0, "fields": [], "damage": "",
    }  # fmt: skip


def test_of_each_class_only_some_samples_are_kept(tmp_path: Path) -> None:
    many = [row("missing_right", f"k{number:04}", left=1) for number in range(300)]
    samples = write_differences(written(tmp_path, many, [row("missing_left", "z", right=1)]), tmp_path)
    assert len(samples) == differences.SAMPLES_PER_CLASS + 1


def test_no_differences_make_empty_files(tmp_path: Path) -> None:
    assert write_differences(written(tmp_path, []), tmp_path) == []
    assert (tmp_path / "differences.csv").read_text().count("\n") == 1
