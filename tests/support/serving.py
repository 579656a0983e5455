"""A program of `broker_core`, started and ended by the test: a name server, or a broker of a file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.support.cluster import ROOT, STOP_SECONDS


class Serving:
    """A process that prints a line with ``ready`` when it serves. Its log is a file, its home that file's folder."""

    def __init__(self, log: Path, module: str, *arguments: str) -> None:
        self._log = log
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env={**os.environ, "HOME": str(log.parent), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def log(self) -> str:
        """What it wrote to standard error."""
        return self._log.read_text(errors="replace")

    def ready(self) -> str:
        """Wait until it serves and return the line that says so."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("ready"):
                return line.strip()
        raise AssertionError(f"it ended with status {self.process.wait()}\n{self.log}")

    def stop(self) -> int:
        """Ask it to end; return its exit status."""
        self.process.terminate()
        return self.process.wait(STOP_SECONDS)
