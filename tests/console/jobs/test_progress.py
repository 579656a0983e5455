"""Following the progress of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from console.jobs.progress import Counters, Progress, ProgressTail, first_counters, last_told


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


def test_the_last_whole_line_is_found_whatever_a_kill_has_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    assert last_told(file) is None
    file.write_text('{"eta_ms":1}\n{"eta_ms":2}{"eta_ms":3}\n{"eta')
    assert last_told(file) == Progress(eta_ms=1)


@pytest.mark.parametrize(
    ("asked", "unknown"),
    [
        ({"type": "replay"}, ()),
        ({"type": "redrive"}, ()),
        ({"type": "reconcile", "check": "store"}, ()),
        ({"type": "replay", "dry_run": True}, ("read", "filtered", "damaged", "matched")),
        ({"type": "export"}, ("filtered", "damaged", "matched")),
        ({"type": "reconcile"}, ("filtered", "damaged", "matched")),
    ],
)
def test_before_a_job_begins_nobody_knows_what_it_counts_at_its_end(
    asked: dict[str, Any], unknown: tuple[str, ...]
) -> None:
    first = msgspec.to_builtins(first_counters(asked))
    assert first == msgspec.to_builtins(Counters()) | dict.fromkeys(unknown)
