"""``make test``: all tests, pytest's by several workers and those of the console's pages beside them.

``python -m tests [path …]``: paths narrow it to pytest's tests there; one file needs no workers.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

# A worker waits for other processes about half of its time.
WORKERS = int(os.environ.get("WORKERS", 0)) or (os.cpu_count() or 1) + 2

# A run leaves less than one GiB of files until it ends.
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 4 << 30


@contextmanager
def temporary_files() -> Iterator[None]:
    """Keep temporary files in memory, where there is room: stores are synced thousands of times, and a disk is slow."""
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < MEMORY_BYTES:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="gantry-tests-", dir=MEMORY, ignore_cleanup_errors=True) as folder:
        # PostgreSQL runs as another user, and passes through it.
        Path(folder).chmod(0o711)
        os.environ["TMPDIR"] = folder
        tempfile.tempdir = None
        yield


@dataclass
class Tally:
    """What passed and what failed; a plugin of pytest counts for it."""

    passed: int = 0
    failed: set[str] = field(default_factory=set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of one test."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.passed and report.when == "call":
            self.passed += 1


class Pages:
    """Vitest over the console's pages, running; it shows what it wrote only when it has failed."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gantry-vitest-")
        self._output = Path(self._folder.name) / "output"
        self._report = Path(self._folder.name) / "report.json"
        reporters = ("--reporter=default", "--reporter=json", f"--outputFile.json={self._report}")
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gateway.up.frontend", "test", *reporters],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip

    def finish(self) -> tuple[int, int]:
        """Wait for its end; return how many tests passed and how many failed."""
        status = self._process.wait()
        report = json.loads(self._report.read_text()) if self._report.exists() else {}
        passed, failed = report.get("numPassedTests", 0), report.get("numFailedTests", 0)
        # A run that tested nothing has proved nothing.
        is_bad = status != 0 or not passed
        if is_bad:
            print(self._output.read_text(errors="replace"))
        print(f"the console's pages: {passed} passed, {failed} failed")
        self._folder.cleanup()
        return passed, max(failed, int(is_bad))


def main() -> int:
    """Run what the command line names, or all; return 0 when something passed and nothing failed."""
    # Hundreds of processes import the same modules: whatever the environment says, they compile them once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # A shell makes what it starts in the background ignore Ctrl-C, and all the programs of the tests would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with temporary_files():
        return _run([path for path in sys.argv[1:] if path != "tests"])


def _run(chosen: list[str]) -> int:
    pages = None if chosen else Pages()
    tally = Tally()
    workers = [] if len(chosen) == 1 and Path(chosen[0].partition("::")[0]).is_file() else ["-n", str(WORKERS)]
    status = pytest.main([*workers, *(chosen or ["tests"])], plugins=[tally])
    passed, failed = tally.passed, len(tally.failed)
    if pages is not None:
        pages_passed, pages_failed = pages.finish()
        passed, failed = passed + pages_passed, failed + pages_failed
    print(f"{passed} passed, {failed} failed")
    if not passed:
        print("no test passed: all were skipped, for the reasons above")
    return int(status) or int(failed > 0 or not passed)


if __name__ == "__main__":
    sys.exit(main())
