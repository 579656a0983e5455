"""Runs jobs one after another with one Spark, ``python -m broker_core.spark.programs.driver FOLDER``.

A line on standard input names a job, a line on standard output tells how it ended (spark/README.md#warm-drivers)::

    launcher → driver   {"kind": "replay", "folder": "/data/jobs/0193…"}
    driver → launcher   {"status": 0, "is_reusable": true}

It ends with its standard input, and when it could not be used again. FOLDER is removed at the end.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

import msgspec

from broker_core.job_folder import JobFolder, folder_argument, say
from broker_core.spark.programs.early import begin_early
from broker_core.structs import decoded

if TYPE_CHECKING:
    from broker_core.spark.programs.sparks import KeptSpark

PROGRAMS: Final[Mapping[str, str]] = {
    "replay": "broker_core.spark.programs.replay",
    "reconcile": "broker_core.spark.programs.reconcile",
    "export": "broker_core.spark.programs.export",
}
_STREAMS: Final = (1, 2)
_PIECE: Final = 1 << 16
T = TypeVar("T")


@decoded
class Task(msgspec.Struct, frozen=True):
    """A job to do."""

    kind: str
    folder: str


class Answer(msgspec.Struct, frozen=True):
    """How a job ended; a driver that is not reusable ends too."""

    status: int
    is_reusable: bool


class Log:
    """Where this process and its JVM write: the log of the job that runs, and between jobs that of the driver."""

    def __init__(self) -> None:
        """Standard error is the log of the driver."""
        self._own, self._current = os.dup(2), os.dup(2)
        os.dup2(2, 1)

    @contextmanager
    def of_job(self, folder: Path) -> Iterator[None]:
        """Write to the log of a job."""
        file = os.open(folder / "log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._write_to(file)
        os.close(file)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            self._write_to(self._own)

    def starting_java(self, start: Callable[[], T]) -> T:
        """Call `start`; the JVM that it starts writes to a pipe, since it keeps what it is given for all its jobs."""
        reading, writing = os.pipe()
        threading.Thread(target=self._pass_on, args=(reading,), name="log of Java", daemon=True).start()
        for number in _STREAMS:
            os.dup2(writing, number)
        os.close(writing)
        try:
            return start()
        finally:
            for number in _STREAMS:
                os.dup2(self._current, number)

    def _write_to(self, file: int) -> None:
        for number in (*_STREAMS, self._current):
            os.dup2(file, number, inheritable=number in _STREAMS)

    def _pass_on(self, pipe: int) -> None:
        while piece := os.read(pipe, _PIECE):
            os.write(self._current, piece)
        os.close(pipe)


class Driver:
    """The process: its Spark, its log and its pipe to the launcher."""

    def __init__(self, folder: Path, answers: BinaryIO) -> None:
        """Start nothing before the first job."""
        self._answers = answers
        self._folder = folder
        self._log = Log()
        self._spark: KeptSpark | None = None

    def serve(self, tasks: BinaryIO) -> None:
        """Do every job that `tasks` names; return when there is no more, or when Spark is not as it was."""
        for line in tasks:
            answer = self._do(msgspec.json.decode(line, type=Task))
            # Idle again before the launcher knows it: a signal now ends this process, and no later job.
            signal.signal(signal.SIGTERM, _leave)
            self._answers.write(msgspec.json.encode(answer) + b"\n")
            self._answers.flush()
            if not answer.is_reusable:
                return
            _use_the_pause()

    def _do(self, task: Task) -> Answer:
        folder = JobFolder(Path(task.folder))
        with self._log.of_job(folder.path):
            began_at = time.monotonic()
            is_first = self._spark is None
            spark = self._spark = self._spark or self._begin(folder)
            from broker_core.spark.programs.program import CRASHED, run_job, seconds_since_start

            work = importlib.import_module(PROGRAMS[task.kind]).work
            python_s = seconds_since_start() if is_first else time.monotonic() - began_at
            status = run_job(folder, work, spark, python_s=python_s)
            is_reusable = status != CRASHED and spark.is_idle()
            if not is_reusable:
                say("this driver ends: what it left behind might harm the next job")
        return Answer(status, is_reusable)

    def _begin(self, first: JobFolder) -> KeptSpark:
        """Start Java, if the first job needs it, and import what uses it in the meantime."""
        begun = self._log.starting_java(lambda: begin_early(first, self._folder))
        from broker_core.spark.programs.sparks import KeptSpark

        return KeptSpark(self._folder, self._log.starting_java, begun)


def _use_the_pause() -> None:
    """Import the other programs: the next job may be another one."""
    for name in PROGRAMS.values():
        if importlib.util.find_spec(name):
            importlib.import_module(name)
    gc.collect()


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> None:
    """Serve the launcher that started this process."""
    folder = folder_argument("A driver that runs jobs one after another")
    signal.signal(signal.SIGTERM, _leave)
    # What this process starts must not read the tasks or write answers.
    tasks, answers = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        Driver(folder, answers).serve(tasks)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
