"""Running a Spark program as the launcher does: a folder with a request, a child process, files that tell the rest."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from broker_core.job_folder import JobFolder
from broker_core.spark.programs.program import run_job
from broker_core.spark.session import SessionConfig
from tests.support.cluster import ROOT

PATIENCE_SECONDS = 240.0
_LOOK_SECONDS = 0.05


@dataclass
class Program:
    """One job folder and the program that works on it."""

    folder: Path
    type: str
    source: Mapping[str, Any]
    cache: Path
    attempt: int = 0
    master: str = "local[2]"
    more: Mapping[str, Any] = field(default_factory=dict)
    """What else the file of the request says."""

    def start(self, request: Mapping[str, Any], *, request_hash: str = "hash") -> subprocess.Popen[bytes]:
        """Write the request and start the program in a session of its own."""
        self.write(request, request_hash)
        command = [sys.executable, "-m", f"broker_core.spark.programs.{self.type}", str(self.folder)]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def write(self, request: Mapping[str, Any], request_hash: str = "hash") -> None:
        """Write the request of the next run."""
        self.folder.mkdir(exist_ok=True)
        self.attempt += 1
        whole = {
            "job_id": "job1", "type": self.type, "cluster": "local", "attempt": self.attempt, "created_by": "ann",
            "request_hash": request_hash, "request": {"type": self.type, **request}, "source": dict(self.source),
            "spark": {"master": self.master, "cache": str(self.cache)}, **self.more,
        }  # fmt: skip
        (self.folder / "request.json").write_text(json.dumps(whole))

    def run(self, request: Mapping[str, Any], **options: Any) -> int:
        """Run the program to its end; return its exit status."""
        child = self.start(request, **options)
        try:
            return child.wait(PATIENCE_SECONDS)
        finally:
            kill(child)

    def run_here(
        self, request: Mapping[str, Any], spark: SparkSession | None, *, meanwhile: Callable[[], object] = lambda: True
    ) -> int:
        """Run the program in this process and a Spark that goes on, or without any; return its exit status.

        `meanwhile` is called in a thread until it returns something true, at most until the program has ended.
        """
        self.write(request)
        work = importlib.import_module(f"broker_core.spark.programs.{self.type}").work
        handler = signal.getsignal(signal.SIGTERM)
        try:
            with self._log.open("a") as log, redirect_stderr(log), _called(meanwhile):
                return run_job(JobFolder(self.folder), work, _GivenSpark(spark), python_s=0.0)
        finally:
            signal.signal(signal.SIGTERM, handler)

    def cancel_here(self, request: Mapping[str, Any], spark: SparkSession, *, when: Callable[[], bool]) -> int:
        """Run the program as `run_here` does, and stop it as its launcher would when `when` says so of its progress."""

        def cancel() -> bool:
            is_time = when()
            if is_time:
                # The program listens since before its first progress: the signal does not end this process.
                os.kill(os.getpid(), signal.SIGTERM)
            return is_time

        return self.run_here(request, spark, meanwhile=cancel)

    def control(self, **wanted: Any) -> None:
        """Tell the running program something, as the launcher does."""
        beside = self.folder / "control.json.part"
        beside.write_text(json.dumps(wanted))
        beside.replace(self.folder / "control.json")

    def progress(self) -> dict[str, Any]:
        """Return the counters of the last line of progress."""
        try:
            lines = (self.folder / "progress.jsonl").read_text().splitlines()
        except FileNotFoundError:
            return {}
        counters: dict[str, Any] = json.loads(lines[-1])["counters"] if lines else {}
        return counters

    def read(self, name: str) -> Any:
        """Return a file of the folder."""
        return json.loads((self.folder / name).read_text())

    @property
    def log(self) -> str:
        """What the program and Spark said."""
        return self._log.read_text()

    @property
    def _log(self) -> Path:
        return self.folder / "log"


@contextmanager
def _called(work: Callable[[], object]) -> Iterator[None]:
    """Call `work` again and again in a thread until it returns something true, at most until the block ends."""
    is_over = threading.Event()

    def call() -> None:
        while not work() and not is_over.wait(_LOOK_SECONDS):
            pass

    thread = threading.Thread(target=call)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@dataclass
class _GivenSpark:
    """A Spark that goes on, or none."""

    session: SparkSession | None

    def start(self, config: SessionConfig) -> SparkSession:
        assert self.session is not None, "nothing of this needs Spark"
        return self.session

    def end(self) -> None:
        return None


def kill(child: subprocess.Popen[bytes]) -> None:
    """End the program and its JVM at once."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        child.wait()
