"""Following the progress of a program."""

from __future__ import annotations

from pathlib import Path

from console.jobs.progress import ProgressTail, counters_of


def test_the_newest_whole_line_counts(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    tail = ProgressTail(file)
    assert tail.newest() is None
    file.write_text('{"seq":1}\n{"seq":2}\n{"se')
    assert tail.newest() == {"seq": 2}
    assert tail.newest() is None
    with file.open("a") as more:
        more.write('q":3}\n')
    assert tail.newest() == {"seq": 3}


def test_what_an_earlier_run_said_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    file.write_text('{"seq":1}\n')
    assert ProgressTail(file, skip_old=True).newest() is None


def test_counters_that_are_not_told_are_zero() -> None:
    assert counters_of({"counters": {"read": 5}})["read"] == 5
    assert counters_of({})["written"] == 0
