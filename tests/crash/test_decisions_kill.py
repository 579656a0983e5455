"""A controller's file engine is killed between any two steps; what it answered is there, and the file is whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.controller.file_decisions import FileDecisions

ROOT = Path(__file__).parents[2]
STEPS_PER_WRITING = 4

pytestmark = pytest.mark.crash


def write_until_killed(folder: Path, steps: int) -> int:
    """Run a writer that kills itself at a step; return the last number that it answered, 0 if none."""
    command = [sys.executable, "-m", "tests.crash.decisions_writer", str(folder), str(steps)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return int((done.stdout.split() or ["0"])[-1])


async def test_what_was_answered_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    written = 0
    for step in range(STEPS_PER_WRITING + 1):
        answered = write_until_killed(tmp_path, STEPS_PER_WRITING + step)
        assert answered == written + 1 + step // STEPS_PER_WRITING
        engine = FileDecisions.open(tmp_path)
        number, names = await engine.read()
        await engine.close()
        was_renamed = step == STEPS_PER_WRITING - 1
        written = answered + was_renamed
        assert (number, names["b"].text) == (written, f"{written}")
