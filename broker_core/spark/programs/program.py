"""The common part of the programs: read the request, watch for a stop, write progress, exit with a code.

The exit codes (spark/README.md#programs)::

    0 done   2 bad request, never retried   3 partial   4 source or target unreachable, or no Java
    5 messages are gone, or damaged with on_damage=stop   75 paused   130 cancelled
    1 anything else; the log has the traceback
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Final, TypeVar

import msgspec
import pyspark
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import broker_core
from broker_core.client import errors as client
from broker_core.errors import GantryError
from broker_core.job_folder import Artefact, Control, JobFolder, Progress, ProgressLine, say
from broker_core.spark import session as sessions
from broker_core.spark.errors import (
    BadOption,
    BadRequest,
    DamagedRecord,
    DataLoss,
    JavaNotFound,
    StoreUnreadable,
    Unreachable,
)
from broker_core.spark.programs.requests import ProgramRequest, read_request

T = TypeVar("T")

OK: Final = 0
CRASHED: Final = 1
CANCELLED: Final = 130
PAUSED: Final = 75
PARTIAL: Final = 3
UNREACHABLE: Final = 4
DAMAGED: Final = 5
_BAD_REQUEST: Final = 2
_EXIT_CODES: Final[Mapping[type[GantryError], int]] = {
    BadRequest: _BAD_REQUEST,
    BadOption: _BAD_REQUEST,
    Unreachable: UNREACHABLE,
    StoreUnreadable: UNREACHABLE,
    client.Unreachable: UNREACHABLE,
    client.NoRoute: UNREACHABLE,
    client.BrokerBusy: UNREACHABLE,
    client.BrokerUnavailable: UNREACHABLE,
    JavaNotFound: _BAD_REQUEST,
    DataLoss: DAMAGED,
    DamagedRecord: DAMAGED,
}
WAITING: Final = "waiting for a worker"
TO_FIRST: Final = "until the first messages"
_TICK_S: Final = 1.0
_STOP_TICK_S: Final = 0.1
_PLAN_ALONE_S: Final = 0.5
# The last line of a Python traceback.
_QUOTED: Final = re.compile(r"(?P<kind>[A-Za-z_][\w.]*(?:Error|Exception|[a-z]\.[A-Z]\w+)): (?P<text>.+)")
_OURS: Final = "broker_core.spark.errors."
_JAVA_GONE: Final = "Spark's Java process has ended; it was killed, or the machine ran out of memory"
_SPARK_ITSELF: Final = ("org.apache.", "java.", "py4j.", "pyspark.", "scala.")


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The outcome of a run; the launcher derives the state from the exit code and shows the reason."""

    exit_code: int = OK
    reason: str = ""


class ResultFile(msgspec.Struct, kw_only=True):
    """The content of ``result.json``."""

    reason: str = ""
    error: str | None = None
    """The same reason, if the run failed."""
    versions: dict[str, str]
    phases: dict[str, float]
    """Duration of each phase in seconds (spark/README.md#where-a-start-goes)."""
    spark_app_id: str | msgspec.UnsetType = msgspec.UNSET
    counters: dict[str, int] = {}
    artefacts: list[Artefact] = []


@dataclass(slots=True)
class Run:
    """One run of a program."""

    folder: JobFolder
    request: ProgramRequest
    progress: Progress
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
        return sessions.driver_host(self.request.spark.master)

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
            session = self._start_spark(max_failures, is_short=is_short())
            planning.result()
        return session

    def _start_spark(self, max_failures: int, *, is_short: bool) -> SparkSession:
        spark = self.request.spark
        config = sessions.SessionConfig(
            app_name=f"gantry {self.request.type} {self.request.job_id}",
            work_dir=self.folder.path,
            cache=Path(spark.cache),
            master=spark.master,
            java_home=spark.java_home,
            executor_python=spark.executor_python,
            jobs_at_once=spark.jobs_at_once,
            is_short=is_short,
            max_failures=max_failures,
        )
        return sessions.start(config)

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
    folder = JobFolder(Path(sys.argv[1]))
    versions = {"gantry": broker_core.__version__, "spark": pyspark.__version__}
    imports_s = _seconds_since_start()
    say(f"{Path(sys.argv[0]).stem} {folder.path.name}: starting Python took {imports_s:.1f} s")
    about = ResultFile(versions=versions, phases={"starting Python": round(imports_s, 2)})
    result = _result(folder, work, about)
    say(f"ended with status {result.exit_code}{f': {result.reason}' if result.reason else ''}")
    last = folder.last_line("progress.jsonl", ProgressLine)
    about.reason = result.reason
    about.error = result.reason if result.exit_code not in (OK, PARTIAL, CANCELLED, PAUSED) else None
    about.counters = last.counters if last else {}
    about.artefacts = folder.artefacts()
    folder.write_json("result.json", msgspec.to_builtins(about))
    sys.stdout.flush()
    sys.exit(result.exit_code)


def _result(folder: JobFolder, work: Callable[[Run], ProgramResult], about: ResultFile) -> ProgramResult:
    run: Run | None = None
    try:
        run = Run(folder, read_request(folder), Progress(folder))
        about.phases = _waited(run.request, about.phases["starting Python"]) | about.phases
        _listen(run)
        return work(run)
    except GantryError as error:
        code = next((code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)), CRASHED)
        return ProgramResult(code, str(error))
    except Exception as error:  # noqa: BLE001 - the top of the program: the log gets the traceback, people a line
        if run is not None and run.is_stopping:
            return ProgramResult(run.stop_code, run.stop_reason)
        traceback.print_exc()
        return ProgramResult(_code_of_text(str(error)), error_sentence(error))
    finally:
        if run is not None:
            about.phases |= {phase: round(seconds, 2) for phase, seconds in run.phases.items()} | _to_first(run, about)
        _stop_spark(about)
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
    before_s = about.phases.get(WAITING, 0.0) + about.phases["starting Python"]
    return {} if after_s is None else {TO_FIRST: round(before_s + after_s, 2)}


def _seconds_since_start() -> float:
    """Return the age of this process in seconds; imports take most of it."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return float(Path("/proc/uptime").read_text().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")


def _listen(run: Run) -> None:
    def on_signal(number: int, _frame: FrameType | None) -> None:
        run.stop_reason = f"stopped by {signal.Signals(number).name}"

    signal.signal(signal.SIGTERM, on_signal)


def error_sentence(error: Exception) -> str:
    """Return an error as one sentence: the Python error quoted in Spark's long text, else the first line."""
    if _is_java_gone(error):
        return _JAVA_GONE
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    quoted = [found for found in map(_QUOTED.match, lines) if found and not found["kind"].startswith(_SPARK_ITSELF)]
    ours = next((found for found in quoted if found["kind"].startswith(_OURS)), None)
    if ours:
        return ours["text"]
    if quoted:
        # The last error was raised; those before it are its causes.
        return f"the program failed with {quoted[-1]['kind'].rpartition('.')[2]}: {quoted[-1]['text']}"
    kind, text = type(error).__name__, lines[0] if lines else "no details are known"
    return text if isinstance(error, PySparkException) else f"the program failed with {kind}: {text}"


def _is_java_gone(error: BaseException | None) -> bool:
    """Return whether the connection to Java broke; Py4J then raises the error of its next attempt to connect."""
    while error is not None:
        if isinstance(error, Py4JNetworkError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _code_of_text(text: str) -> int:
    """Return the exit code for the error that Spark's text quotes: workers send errors as text."""
    named = (code for kind, code in _EXIT_CODES.items() if f"broker_core.spark.errors.{kind.__name__}:" in text)
    is_unknown_option = "broker_core.spark.errors.UnknownOption:" in text
    return _BAD_REQUEST if is_unknown_option else next(named, CRASHED)


def _stop_spark(about: ResultFile) -> None:
    try:
        session = SparkSession.getActiveSession()
        if session is not None:
            about.versions["java"] = session.conf.get("spark.gantry.java.version", None) or ""
            about.spark_app_id = session.sparkContext.applicationId
            session.stop()
    except (Py4JNetworkError, ConnectionError) as error:
        # A killed Java process cannot answer or be stopped; the outcome of the run is already known.
        say(f"Spark could not be stopped properly: {_JAVA_GONE} ({type(error).__name__})")
