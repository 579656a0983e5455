"""The common part of the programs: read the request, watch for a stop, write progress, exit with a code.

The exit codes (spark/README.md#programs)::

    0 done   2 bad request or no Java, never retried   3 partial   4 source or target unreachable
    5 messages are gone, or damaged with on_damage=stop   75 paused   130 cancelled
    1 anything else; the log has the traceback
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final, TypeVar

import msgspec
import pyspark
from pyspark.sql import SparkSession

import broker_core
from broker_core.errors import GantryError
from broker_core.job_folder import Artefact, Control, JobFolder, Progress, ProgressLine, folder_argument, say
from broker_core.spark import session as sessions
from broker_core.spark.programs.failures import CANCELLED as CANCELLED
from broker_core.spark.programs.failures import CRASHED as CRASHED
from broker_core.spark.programs.failures import DAMAGED as DAMAGED
from broker_core.spark.programs.failures import OK as OK
from broker_core.spark.programs.failures import PARTIAL as PARTIAL
from broker_core.spark.programs.failures import PAUSED as PAUSED
from broker_core.spark.programs.failures import UNREACHABLE as UNREACHABLE
from broker_core.spark.programs.failures import cause_of, code_of, code_of_quoted, error_sentence
from broker_core.spark.programs.requests import ProgramRequest, read_request, session_config
from broker_core.spark.programs.sparks import OneSpark, SparkOfRun

T = TypeVar("T")

WAITING: Final = "waiting for a worker"
PYTHON: Final = "starting Python"
TO_FIRST: Final = "until the first messages"
_TICK_S: Final = 1.0
_STOP_TICK_S: Final = 0.1
_PLAN_ALONE_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The outcome of a run; the launcher derives the state from the exit code and shows the reason."""

    exit_code: int = OK
    reason: str = ""
    cause: str | None = None
    """One word for it, where the exit code says too little."""


class ResultFile(msgspec.Struct, kw_only=True):
    """The content of ``result.json``."""

    reason: str = ""
    error: str | None = None
    """The same reason, if the run failed."""
    cause: str | None = None
    versions: dict[str, str]
    phases: dict[str, float]
    """Duration of each phase in seconds (spark/README.md#where-a-start-goes)."""
    spark_app_id: str | msgspec.UnsetType = msgspec.UNSET
    counters: dict[str, int | None] | None = None
    """Those of the last line of the progress; None before the first one."""
    artefacts: list[Artefact] = []


@dataclass(slots=True)
class Run:
    """One run of a program."""

    folder: JobFolder
    request: ProgramRequest
    progress: Progress
    spark: SparkOfRun
    stop_reason: str = ""
    """Set when the run must end; running work ends in an orderly way."""
    stop_code: int = CANCELLED
    """The exit code of a run that was stopped."""
    phases: dict[str, float] = field(default_factory=dict)
    """Duration of each phase in seconds."""
    _parent: int = field(default_factory=os.getppid)

    @property
    def is_stopping(self) -> bool:
        """Whether the run must end: it was cancelled or paused, or its launcher has ended."""
        if not self.stop_reason and os.getppid() != self._parent:
            self.stop_reason = "the launcher has ended"
        if not self.stop_reason and self.control.pause:
            self.stop_reason, self.stop_code = "paused", PAUSED
        return bool(self.stop_reason)

    @property
    def control(self) -> Control:
        """What the launcher wants now."""
        return self.folder.control

    @property
    def host(self) -> str:
        """The address at which tasks can reach this machine."""
        return sessions.driver_host(self.request.spark.master, self.request.spark.conf())

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Log the duration of a phase."""
        began = time.monotonic()
        yield
        self.phases[phase] = time.monotonic() - began
        say(f"{phase}: took {self.phases[phase]:.1f} s")

    def start_spark(
        self, plan: Callable[[], None], *, is_short: Callable[[], bool], max_failures: int = 1
    ) -> SparkSession:
        """Start Spark as requested, and run `plan` at the same time; raise what `plan` raises.

        `is_short` says, when Spark is started, whether Java has little to do.
        """
        with self.timed("starting Spark"), ThreadPoolExecutor(1) as pool:
            planning = pool.submit(plan)
            # A request that cannot be served usually fails at once, and does not need Spark.
            wait([planning], _PLAN_ALONE_S)
            if planning.done():
                planning.result()
            config = session_config(self.request, self.folder.path, is_short=is_short(), max_failures=max_failures)
            session = self.spark.start(config)
            planning.result()
        return session

    def wait_for(
        self, work: Callable[[], T], each_second: Callable[[], None], *, at_each_look: Callable[[], None] = lambda: None
    ) -> T:
        """Run `work` in a thread and return its result or raise its error; call `each_second` in the meantime.

        `at_each_look` is called ten times a second: for what must not wait. After a stop `each_second` is called at
        once and more often, since a stop must be quick.
        """
        results: list[T] = []
        errors: list[BaseException] = []

        def target() -> None:
            try:
                results.append(work())
            except BaseException as error:  # noqa: BLE001 - handed to the waiting thread, whatever it is
                errors.append(error)

        thread = threading.Thread(target=target, name="work", daemon=True)
        thread.start()
        looked_at = time.monotonic()
        while thread.is_alive():
            thread.join(_STOP_TICK_S)
            at_each_look()
            if self.is_stopping or time.monotonic() - looked_at >= _TICK_S:
                looked_at = time.monotonic()
                each_second()
        if errors:
            raise errors[0]
        return results[0]


def main(work: Callable[[Run], ProgramResult]) -> None:
    """Run a program for the job folder on the command line, and exit."""
    folder = JobFolder(folder_argument("The program of a job in Spark"))
    sys.exit(run_job(folder, work, OneSpark(), python_s=seconds_since_start()))


def run_job(folder: JobFolder, work: Callable[[Run], ProgramResult], spark: SparkOfRun, *, python_s: float) -> int:
    """Run a program for a job folder, write the result and return the exit code; `python_s` went into imports."""
    say(f"job {folder.path.name}: starting Python took {python_s:.1f} s")
    versions = {"gantry": broker_core.__version__, "spark": pyspark.__version__}
    about = ResultFile(versions=versions, phases={PYTHON: round(python_s, 2)})
    result = _result(folder, work, about, spark)
    say(f"ended with status {result.exit_code}{f': {result.reason}' if result.reason else ''}")
    last = folder.last_line("progress.jsonl", ProgressLine)
    about.reason = result.reason
    about.error = result.reason if result.exit_code not in (OK, PARTIAL, CANCELLED, PAUSED) else None
    about.cause = result.cause
    about.counters = last.counters if last else None
    about.artefacts = folder.artefacts()
    folder.write_json("result.json", msgspec.to_builtins(about))
    sys.stdout.flush()
    return result.exit_code


def _result(
    folder: JobFolder, work: Callable[[Run], ProgramResult], about: ResultFile, spark: SparkOfRun
) -> ProgramResult:
    run: Run | None = None
    try:
        run = Run(folder, read_request(folder), Progress(folder), spark)
        about.phases = _waited(run.request, about.phases[PYTHON]) | about.phases
        _listen(run)
        return work(run)
    except GantryError as error:
        return ProgramResult(code_of(error), str(error), cause_of(error))
    except Exception as error:  # noqa: BLE001 - the top of the program: the log gets the traceback, people a line
        if run is not None and run.is_stopping:
            return ProgramResult(run.stop_code, run.stop_reason)
        traceback.print_exc()
        return ProgramResult(code_of_quoted(error), error_sentence(error), cause_of(error))
    finally:
        if run is not None:
            about.phases |= {phase: round(seconds, 2) for phase, seconds in run.phases.items()} | _to_first(run, about)
        facts = spark.end()
        if facts is not None:
            about.versions["java"], about.spark_app_id = facts.java, facts.app_id
        folder.drop_temporary()


def _waited(request: ProgramRequest, imports_s: float) -> dict[str, float]:
    """Return how long the job was queued before its program was started, if the launcher has said since when."""
    if request.queued_at_ms is None:
        return {}
    waited_s = max(0.0, time.time() - imports_s - request.queued_at_ms / 1000)
    say(f"{WAITING}: took {waited_s:.1f} s")
    return {WAITING: round(waited_s, 2)}


def _to_first(run: Run, about: ResultFile) -> dict[str, float]:
    """Return the seconds from the queueing of the job to its first messages, if there were any."""
    after_s = run.progress.first_after_s
    before_s = about.phases.get(WAITING, 0.0) + about.phases[PYTHON]
    return {} if after_s is None else {TO_FIRST: round(before_s + after_s, 2)}


def seconds_since_start() -> float:
    """Return the age of this process in seconds; imports take most of it."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return float(Path("/proc/uptime").read_text().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")


def _listen(run: Run) -> None:
    def on_signal(number: int, _frame: FrameType | None) -> None:
        run.stop_reason = f"stopped by {signal.Signals(number).name}"

    signal.signal(signal.SIGTERM, on_signal)
