"""The zip of our code that travels to executors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.spark.packed_code import packed_code


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of two modules."""
    folder = tmp_path / "ours"
    (folder / "part").mkdir(parents=True)
    for file in ("__init__.py", "part/__init__.py"):
        (folder / file).touch()
    (folder / "part/one.py").write_text("VALUE = 1\n")
    return folder


def value_in(code: Path) -> str:
    command = [sys.executable, "-c", "from ours.part.one import VALUE; print(VALUE)"]
    return subprocess.check_output(command, env={"PYTHONPATH": str(code)}, cwd="/", text=True).strip()


def test_code_is_packed_once_for_each_content(package: Path, tmp_path: Path) -> None:
    # Given code that was packed
    caches = (tmp_path / "cache", tmp_path / "shared")
    first = packed_code(package, caches)
    assert value_in(first) == "1"
    made_at = first.stat().st_mtime_ns
    # When it is asked for again, then it is the same file
    assert packed_code(package, caches) == first
    assert first.stat().st_mtime_ns == made_at
    # When the code has changed, then it is another file, and the one for jobs that run stays
    (package / "part/one.py").write_text("VALUE = 22\n")
    second = packed_code(package, caches)
    assert (value_in(second), value_in(first)) == ("22", "1")
    assert sorted(caches[0].iterdir()) == sorted([first, second])


def test_what_was_packed_at_set_up_is_not_packed_again(package: Path, tmp_path: Path) -> None:
    shared = packed_code(package, (tmp_path / "shared",))
    assert packed_code(package, (tmp_path / "cache", tmp_path / "shared")) == shared
    assert not (tmp_path / "cache").exists()
