"""Requirements of `console.jobs.bounded_log`: a bounded log loses no byte that it does not count."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from console.jobs import bounded_log
from console.jobs.bounded_log import KEPT_END_BYTES, BoundedLog, settle, shown_bytes

LIMIT = 1 << 20
LINES = 200_000
# It never waits: most of the looks fall between two of its writes.
PROGRAM = f"import os\nfor n in range({LINES}): os.write(1, b'%063d\\n' % n)"


def whole(count: int) -> bytes:
    return b"".join(b"%063d\n" % number for number in range(count))


def cut(text: bytes, limit: int = LIMIT) -> bytes:
    """Return what is left of a text."""
    missing = len(text) - limit - KEPT_END_BYTES
    note = f"\n[{missing:,} bytes of this log are left out: it may have {limit >> 20} MiB]\n"
    return text[:limit] + note.encode() + text[-KEPT_END_BYTES:]


def written(file: Path, count: int) -> BoundedLog:
    """Return the log of a program that has written so many lines, and has not ended."""
    log = BoundedLog(file, LIMIT)
    with file.open("ab") as program:
        program.write(whole(count))
    log.check()
    return log


def test_a_log_that_is_too_long_keeps_its_beginning_and_its_end_and_counts_the_rest(tmp_path: Path) -> None:
    # Given a program that writes 12 MiB into a log of 1 MiB, as fast as it can
    file = tmp_path / "log"
    log = BoundedLog(file, LIMIT)
    most = 0
    with file.open("ab") as out, subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=out) as program:
        while program.poll() is None:
            log.check()
            most = max(most, log.size(), shown_bytes(file))
    # Then no more than the limit is shown while it runs
    assert most == LIMIT
    # And afterwards every byte is there, or counted
    log.close()
    assert file.read_bytes() == cut(whole(LINES))
    assert [each.name for each in tmp_path.iterdir()] == ["log"]


def test_what_is_left_out_takes_no_room(tmp_path: Path) -> None:
    file = tmp_path / "log"
    written(file, 1 << 17)
    assert file.stat().st_size == 8 << 20
    assert file.stat().st_blocks * 512 < LIMIT + 4 * KEPT_END_BYTES


def test_the_next_run_finishes_the_log_of_a_launcher_that_died(tmp_path: Path) -> None:
    file = tmp_path / "log"
    written(file, 1 << 17)
    again = BoundedLog(file, LIMIT)
    assert file.read_bytes() == cut(whole(1 << 17))
    # And what that run writes follows
    with file.open("ab") as program:
        program.write(b"second run\n")
    again.check()
    again.close()
    assert file.read_bytes() == cut(whole(1 << 17)) + b"second run\n"


def test_a_log_is_finished_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a launcher that dies when the shorter file has taken the place of the log
    file = tmp_path / "log"
    log = written(file, 1 << 17)
    mark = (tmp_path / "log.cut").read_bytes()
    log.close()
    (tmp_path / "log.cut").write_bytes(mark)
    # Then all of it is shown, and it is not cut again
    assert shown_bytes(file) == file.stat().st_size
    settle(file)
    assert file.read_bytes() == cut(whole(1 << 17))
    assert not (tmp_path / "log.cut").exists()


def test_a_short_log_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "log"
    log = written(file, 3)
    log.close()
    assert file.read_bytes() == whole(3)
    assert not (tmp_path / "log.cut").exists()


def test_without_holes_the_log_is_cut_at_the_end_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: int) -> None:
        raise OSError("this system makes no holes in files")

    monkeypatch.setattr(bounded_log, "_punch", refuse)
    file = tmp_path / "log"
    log = written(file, 1 << 16)
    log.check()
    assert len(re.findall("grows until its job ends", caplog.text)) == 1
    log.close()
    assert file.read_bytes() == cut(whole(1 << 16))
