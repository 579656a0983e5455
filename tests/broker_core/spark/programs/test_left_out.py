"""The file that names the messages a replay did not copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.job_folder import JobFolder
from broker_core.spark.checkpoint import LeftOut
from broker_core.spark.programs import left_out
from broker_core.spark.programs.left_out import FILE, LeftOutFile
from broker_core.spark.programs.replay_report import named_in, totals_sentence


def refused(offset: int) -> LeftOut:
    return LeftOut(kind="failed", broker="broker-a", topic="orders", queue_id=0, queue_offset=offset, reason="no")


def offsets(folder: JobFolder) -> list[int]:
    return [each.queue_offset for each in folder.lines(FILE, LeftOut)]


def test_a_later_run_drops_what_it_reads_again(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path)
    first = LeftOutFile(folder, lambda _: True)
    first.add([refused(1), refused(5), refused(9)])
    first.flush()
    # When the run was killed before a checkpoint told of more than 6 offsets
    again = LeftOutFile(folder, lambda message: message.queue_offset < 6)
    assert (again.count, offsets(folder)) == (2, [1, 5])
    again.add([refused(9)])
    again.flush()
    assert (again.count, offsets(folder)) == (3, [1, 5, 9])


def test_a_file_has_a_limit_and_the_report_says_how_many_it_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_out, "MOST", 3)
    folder = JobFolder(tmp_path)
    file = LeftOutFile(folder, lambda _: True)
    for begin in (0, 2, 4):
        file.add([refused(begin), refused(begin + 1)])
    file.flush()
    assert (file.count, offsets(folder)) == (3, [0, 1, 2])
    totals = {"read": 10, "filtered": 0, "damaged": 0, "written": 4, "failed": 6}
    told = named_in(file, totals, "local")
    assert (told["left_out_listed"], told["left_out_unlisted"]) == (3, 3)
    assert told["failures"][0].source == "local/broker-a/orders/0/0"
    assert totals_sentence(totals, file.count) == (
        "10 messages read, 4 written, 6 could not be copied; failures.jsonl names the first 3 of them"
    )


def test_what_was_added_is_written_at_the_latest_when_it_gets_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_out, "_MOST_WAITING", 2)
    file = LeftOutFile(JobFolder(tmp_path), lambda _: True)
    file.add([refused(1)])
    assert offsets(JobFolder(tmp_path)) == []
    file.add([refused(2)])
    assert offsets(JobFolder(tmp_path)) == [1, 2]
