"""Keeps the processes of jobs with their Spark for the next job (broker_core/spark/README.md#warm-drivers).

Each driver does one job at a time, in a session of its own: killing one harms no other job.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from django.conf import settings
from msgspec import Struct

from broker_core.structs import decoded
from console.jobs import program
from console.jobs.models import JobType

_SERVED: Final = (JobType.REPLAY, JobType.RECONCILE, JobType.EXPORT)
_MOST_JOBS: Final = 50
"""So many jobs a driver does; what a job leaves behind in memory has an end."""
_ENDS_WITHIN_SECONDS: Final = 3.0
_PIECE: Final = 1 << 12
_MIB: Final = 1 << 20
# A signal that is asked for and not heard leaves the state of the driver unknown.
_CANCELLED: Final = 130
_numbers = itertools.count(1)

_log = logging.getLogger(__name__)


@decoded
class Answer(Struct, frozen=True):
    """How a job ended, as a driver says it."""

    status: int
    is_reusable: bool


def start(kind: str, folder: Path, request: Mapping[str, Any]) -> program.Running:
    """Start the program of a job: in a driver if its Spark is on this machine, else in a process of its own."""
    is_here = settings.GANTRY_SPARK_MASTER.startswith("local")
    if kind not in _SERVED or not is_here or not settings.GANTRY_SPARK_WARM:
        return program.start(kind, folder, request)
    program.prepare(folder, request)
    return POOL.run(kind, folder)


class Driver:
    """A driver process, between its start and its end."""

    def __init__(self) -> None:
        """Start it; its Spark starts with the first job."""
        home = _folder_of_drivers()
        self._folder = home / f"{os.getpid()}-{program.started_at(os.getpid())}-{next(_numbers)}"
        self._folder.mkdir(mode=0o700, parents=True)
        self.jobs = 0
        with program.private_file(self._folder / "log", os.O_APPEND) as log:
            self.process = program.launch(
                [sys.executable, "-m", "broker_core.spark.programs.driver", str(self._folder)], self._folder,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0,
            )  # fmt: skip
        self._said = b""

    def send(self, kind: str, folder: Path) -> bool:
        """Give it a job; return False if it has ended."""
        assert self.process.stdin is not None
        self.jobs += 1
        try:
            self.process.stdin.write(msgspec.json.encode({"kind": kind, "folder": str(folder)}) + b"\n")
        except BrokenPipeError:
            return False
        return self.process.poll() is None

    def answer(self) -> Answer | None:
        """Return how the job ended, once it has."""
        assert self.process.stdout is not None
        while select.select([self.process.stdout], [], [], 0)[0]:
            piece = os.read(self.process.stdout.fileno(), _PIECE)
            if not piece:
                break
            self._said += piece
        line, newline, rest = self._said.partition(b"\n")
        if not newline:
            return None
        self._said = rest
        return msgspec.json.decode(line, type=Answer)

    def memory_mib(self) -> int:
        """Return the memory of its whole session, without files that the kernel may drop."""
        return sum(map(_own_memory, program.session_of(self.process.pid))) // _MIB

    def ask_to_leave(self) -> None:
        """Let it end by itself, as it does without an open pipe."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self, *, within_s: float = 0.0) -> None:
        """Kill its session after that time, and remove its files."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(within_s)
        program.end_session(self.process.pid)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class DriverRun:
    """A job in a driver: `program.Running`."""

    def __init__(self, pool: Pool, driver: Driver) -> None:
        """`driver` has got the job."""
        self._pool, self._driver, self.pid = pool, driver, driver.process.pid
        self._answer: Answer | None = None
        self._status: int | None = None
        self._was_asked = self._is_over = False

    def poll(self) -> int | None:
        """Return the exit status that the driver answers, or how it died."""
        if self._status is None:
            # First whether it lives: it may answer with its last breath.
            code = self._driver.process.poll()
            self._answer = self._driver.answer()
            if self._answer is not None:
                self._status = self._answer.status
            elif code is not None:
                # One that is asked to stop before it begins just leaves.
                self._status = code or -signal.SIGTERM
        return self._status

    def terminate(self) -> None:
        """Ask the job to stop."""
        self._was_asked = True
        self._driver.process.terminate()

    @property
    def _is_reusable(self) -> bool:
        if self._answer is None or not self._answer.is_reusable:
            return False
        return not self._was_asked or self._answer.status == _CANCELLED

    def end(self) -> None:
        """Kill the driver unless it can do another job."""
        if not self._is_over and not self._is_reusable:
            self._is_over = True
            self._driver.end()

    def keep(self) -> None:
        """Let the next job have the driver."""
        if not self._is_over:
            self._is_over = True
            self._pool.take_back(self._driver)


class Pool:
    """The drivers of this worker that have no job; thread-safe."""

    def __init__(self) -> None:
        """Start nothing before the first job."""
        self._idle: list[tuple[Driver, threading.Timer]] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def run(self, kind: str, folder: Path) -> DriverRun:
        """Start a job in the driver that was used last, or in a new one."""
        while (driver := self._take()) is not None:
            if driver.send(kind, folder):
                return DriverRun(self, driver)
            driver.end()
        _sweep()
        driver = Driver()
        driver.send(kind, folder)
        return DriverRun(self, driver)

    def idle(self) -> list[int]:
        """Return the process ids of the drivers without a job."""
        with self._lock:
            return [driver.process.pid for driver, _ in self._idle]

    def take_back(self, driver: Driver) -> None:
        """Keep a driver until the next job, for as long as it may be idle, unless it is used up or too large."""
        used_mib, most_mib = driver.memory_mib(), settings.GANTRY_SPARK_WARM_MIB
        if driver.jobs >= _MOST_JOBS or used_mib > most_mib:
            _log.info("driver %d ends: %d jobs, %d MiB of %d", driver.process.pid, driver.jobs, used_mib, most_mib)
            _leave([driver])
            return
        timer = threading.Timer(settings.GANTRY_SPARK_WARM, self._expire, [driver])
        timer.daemon = True
        with self._lock:
            is_kept = not self._is_closed
            if is_kept:
                self._idle.append((driver, timer))
                timer.start()
        if not is_kept:
            _leave([driver])

    def close(self) -> None:
        """End all idle drivers, and keep none from now on."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for _, timer in idle:
            timer.cancel()
        _leave([driver for driver, _ in idle])

    def _take(self) -> Driver | None:
        with self._lock:
            if not self._idle:
                return None
            driver, timer = self._idle.pop()
        timer.cancel()
        return driver

    def _expire(self, driver: Driver) -> None:
        with self._lock:
            before = len(self._idle)
            self._idle = [each for each in self._idle if each[0] is not driver]
            is_mine = len(self._idle) < before
        if is_mine:
            _leave([driver])


POOL: Final = Pool()


def _leave(drivers: Sequence[Driver]) -> None:
    for driver in drivers:
        driver.ask_to_leave()
    for driver in drivers:
        driver.end(within_s=_ENDS_WITHIN_SECONDS)


def _folder_of_drivers() -> Path:
    return Path(settings.GANTRY_DATA_DIR) / "cache" / "spark" / "drivers"


def _sweep() -> None:
    """Remove the files of drivers whose worker is gone; they ended with it, perhaps killed."""
    for folder in _folder_of_drivers().glob("*-*-*"):
        worker, started, _ = folder.name.split("-")
        if str(program.started_at(int(worker))) != started:
            shutil.rmtree(folder, ignore_errors=True)


def _own_memory(pid: int) -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("RssAnon:")).split()[1]) * 1024
    return 0
