"""One writer per folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.store.errors import StoreLocked
from broker_core.store.guard import Guard

_TAKE = """
import sys
from pathlib import Path
from broker_core.store.errors import StoreLocked
from broker_core.store.guard import Guard
try:
    Guard.take(Path(sys.argv[1]))
except StoreLocked:
    print("locked")
else:
    print("taken")
"""
_TAKE_AS_JAVA = """
import fcntl, sys
with open(sys.argv[1] + "/lock", "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
    except OSError:
        print("locked")
    else:
        print("taken")
"""


def elsewhere(program: str, folder: Path) -> str:
    """Run a program in another process and return its output."""
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_folder_is_made_and_the_lock_file_says_lock(tmp_path: Path) -> None:
    guard = Guard.take(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "lock").read_bytes() == b"lock"
    guard.release()


def test_a_second_store_of_this_process_is_kept_out(tmp_path: Path) -> None:
    guard = Guard.take(tmp_path)
    with pytest.raises(StoreLocked, match="this process"):
        Guard.take(tmp_path / ".")
    guard.release()
    Guard.take(tmp_path).release()


@pytest.mark.parametrize("program", [_TAKE, _TAKE_AS_JAVA])
def test_another_process_is_kept_out_until_the_lock_is_released(tmp_path: Path, program: str) -> None:
    guard = Guard.take(tmp_path)
    assert elsewhere(program, tmp_path) == "locked"
    guard.release()
    assert elsewhere(program, tmp_path) == "taken"
