"""Following the progress of a program."""

from __future__ import annotations

from pathlib import Path

import msgspec

from console.jobs.progress import Progress, ProgressTail


def test_the_newest_whole_line_counts(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    tail = ProgressTail(file)
    assert tail.newest() is None
    file.write_text('{"eta_ms":1}\n{"eta_ms":2}\n{"eta')
    assert tail.newest() == Progress(eta_ms=2)
    assert tail.newest() is None
    with file.open("a") as more:
        more.write('_ms":3}\n')
    assert tail.newest() == Progress(eta_ms=3)


def test_what_an_earlier_run_said_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    file.write_text('{"seq":1}\n')
    assert ProgressTail(file, skip_old=True).newest() is None


def test_counters_that_are_not_told_are_zero() -> None:
    parsed = msgspec.json.decode(b'{"seq":1,"counters":{"read":5}}', type=Progress)
    assert (parsed.counters.read, parsed.counters.written, parsed.counters.planned) == (5, 0, None)
