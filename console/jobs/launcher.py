"""Runs one claimed job: starts its program as a child in its own session, watches it and ends it.

The launcher only watches. If it dies, is stopped or loses the database, the program's own files have the progress, and
a replay that is started again continues from there.
"""

from __future__ import annotations

import logging
import shutil
import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson
from django.db import DatabaseError, close_old_connections
from msgspec import Struct

from broker_core.structs import decoded
from console.jobs import control, drivers, events, interruptions, program, services, statuses
from console.jobs.bounded_log import BoundedLog, settle
from console.jobs.interruptions import Interruption
from console.jobs.models import LEASE, Job, JobState, JobType, StateCode
from console.jobs.progress import UNTOLD, Counters, Progress, ProgressTail, last_told
from console.jobs.requests import program_request
from console.jobs.shapes import Artefact
from console.jobs.time_limit import Stopwatch
from console.redrives import ledger
from console.shapes import as_json

_LOOK_SECONDS: Final = 0.2
_WRITE_SECONDS: Final = 2.0
_RENEW_SECONDS: Final = 5.0
_TELL_SECONDS: Final = 1.0
# A user waits for the cancel. If the job continues later, it finds the copies that are not yet in a checkpoint at the
# end of the target queues, as after a kill.
CANCEL_GRACE_SECONDS: Final = 0.8
# A program looks at its control file ten times a second, and then confirms what is on the way. One that does not hear
# is ended as for a cancel, and goes on as after one; at once if it only starts, for then nothing is on the way.
PAUSE_GRACE_SECONDS: Final = 8.0
# A stopping worker gives its program time to finish its sends, but the worker's supervisor does not wait long.
STOP_GRACE_SECONDS: Final = 6.0
_log = logging.getLogger(__name__)

stopping = threading.Event()
"""Set when this worker stops: its runs end their programs and return their jobs to the queue."""


@decoded
class ResultFile(Struct, frozen=True, kw_only=True):
    """The content of ``result.json``, as far as the row keeps it."""

    reason: str = ""
    error: str | None = None
    cause: StateCode | None = None
    """Where the exit code says too little."""
    counters: Counters | None = None
    """None if no run of the job told any."""
    artefacts: list[Artefact] = []
    versions: dict[str, str] = {}
    phases: dict[str, float] = {}
    spark_app_id: str = ""


def run(job_id: str, *, worker: str) -> None:
    """Run the job to its end if it is still queued; return at once if another worker has claimed it."""
    if stopping.is_set():
        return
    job = services.claim(job_id, worker=worker, host=socket.gethostname())
    if job is None:
        return
    _log.info("job=%s %s: started", job.id, job.type)
    events.publish(job)
    try:
        _JobRun(job).run_to_end()
    except Exception as error:
        _log.exception("job=%s: the launcher failed", job.id)
        services.finish(job, JobState.FAILED, f"the launcher failed: {error}", state_code=StateCode.LAUNCHER_FAILED)
        raise


class _JobRun:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._folder: Path = services.folder_of(job)
        self._log = BoundedLog(self._folder / "log")
        self._progress: Progress | None = None
        self._read_before: int | None = None
        self._written_at = self._told_at = 0.0
        self._log_told = 0
        self._renewed_at = time.monotonic()
        self._asked_at: float | None = None
        self._pausing_since: float | None = None
        self._told: control.Control | None = None
        self._lost = False
        self._stopwatch = Stopwatch(job)
        self._interruption: Interruption | None = None

    def run_to_end(self) -> None:
        """Start the program and watch it until it has ended; the program never outlives this call."""
        if self._job.type == JobType.REDRIVE:
            ledger.catch_up(self._job, services.folder_of)
        # Not what an earlier run was told: it may have been a pause.
        control.write(self._folder, None)
        child = drivers.start(self._job.type, self._folder, program_request(self._job))
        try:
            status = self._watch(child)
            child.end()
            self._log.close()
            # A killed program could not remove Spark's temporary files.
            shutil.rmtree(self._folder / "tmp", ignore_errors=True)
            self._finish(status)
            # Only now: a job whose row still names this process must not share it.
            child.keep()
        finally:
            child.end()

    def _watch(self, child: program.Running) -> int:
        """Return the exit status of the program once it has ended."""
        self._tell()
        services.own(self._job).update(pid=child.pid, pid_started=program.started_at(child.pid))
        tail = ProgressTail(self._folder / "progress.jsonl", skip_old=True)
        while (status := child.poll()) is None:
            self._log.check()
            self._look(tail)
            self._follow_log()
            self._end_if_asked(child)
            time.sleep(_LOOK_SECONDS)
        self._take(tail)
        return status

    def _look(self, tail: ProgressTail) -> None:
        """Store the progress and check for a cancel; tolerate a database that does not answer until the lease ends."""
        try:
            self._take(tail)
            self._check_and_renew()
        except DatabaseError as error:
            _log.warning("job=%s: the database does not answer: %s", self._job.id, error)
            close_old_connections()
            # After the lease another worker may have taken the job.
            self._lost = time.monotonic() - self._renewed_at > LEASE.total_seconds()

    def _take(self, tail: ProgressTail) -> None:
        progress = tail.newest()
        now = time.monotonic()
        if progress is None:
            return
        if self._progress is None:
            self._read_before = progress.counters.read
        self._progress = progress
        job = self._job
        job.counters, job.rate, job.eta_ms = as_json(progress.counters), progress.rate, progress.eta_ms
        self._tell_pages()
        if now - self._written_at >= _WRITE_SECONDS:
            self._written_at = now
            services.own(job).update(counters=job.counters, rate=job.rate, eta_ms=job.eta_ms)

    def _follow_log(self) -> None:
        """Tell the pages that the log has grown, where no progress did."""
        now, size = time.monotonic(), self._log.size()
        if size != self._log_told and now - self._told_at >= _TELL_SECONDS:
            self._tell_pages()

    def _tell_pages(self) -> None:
        self._told_at, self._log_told = time.monotonic(), self._log.size()
        events.publish(self._job)

    def _check_and_renew(self) -> None:
        """Check for a cancel and renew the lease; a run that lost its lease stops its program."""
        found = services.own(self._job).only("cancel_requested", "pause_requested", "limits", "state_reason").first()
        now = time.monotonic()
        if found is None:
            self._lost = True
            return
        self._job.cancel_requested, self._job.pause_requested = found.cancel_requested, found.pause_requested
        self._job.limits, self._job.state_reason = found.limits, found.state_reason
        self._tell()
        if now - self._renewed_at >= _RENEW_SECONDS:
            self._lost = not services.renew(self._job)
            self._interruption = self._interruption or interruptions.of_rights(self._job)
            self._renewed_at = now

    def _tell(self) -> None:
        """Tell the program what users have changed."""
        wanted = control.wanted(self._job)
        if wanted != self._told:
            control.write(self._folder, wanted)
            self._told = wanted
        if not self._job.pause_requested:
            self._pausing_since = None
        elif self._pausing_since is None:
            self._pausing_since = time.monotonic()

    def _is_deaf(self) -> bool:
        """Return whether the program has not paused in time."""
        if self._pausing_since is None:
            return False
        has_read = self._progress is not None and self._progress.counters.read != self._read_before
        grace = PAUSE_GRACE_SECONDS if has_read else CANCEL_GRACE_SECONDS
        return time.monotonic() - self._pausing_since > grace

    def _end_if_asked(self, child: program.Running) -> None:
        is_stopping = stopping.is_set()
        # A job that is being paused gets the time for that: it may go on.
        if not self._job.pause_requested:
            self._interruption = self._interruption or interruptions.of_time(self._stopwatch)
        self._interruption = self._interruption or interruptions.of_disk(self._folder)
        is_ending = self._lost or self._job.cancel_requested or self._interruption is not None
        if not is_ending and not is_stopping and not self._is_deaf():
            return
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            # Signal only the program: it stops its tasks, which confirm what they sent.
            child.terminate()
        elif time.monotonic() - self._asked_at > (STOP_GRACE_SECONDS if is_stopping else CANCEL_GRACE_SECONDS):
            program.end_session(child.pid)

    def _finish(self, status: int) -> None:
        self._check_and_renew()
        is_cancelled = self._job.cancel_requested
        if self._job.type == JobType.REDRIVE:
            ledger.note(self._job, self._folder)
        if stopping.is_set() and status != 0:
            why = "its worker was stopped; the next one continues"
            worked_ms = self._stopwatch.worked_ms
            services.put_back(self._job, why, state_code=StateCode.WORKER_STOPPED, worked_ms=worked_ms)
            return
        result = _result(self._folder)
        reason = result.error or result.reason or statuses.reason_of(status)
        counters = self._progress.counters if self._progress else result.counters or _told_before(self._job)
        state = statuses.state_of(status, counters, self._job.request)
        end = {
            "state_code": result.cause or statuses.code_of(status, counters, self._job.request),
            "counters": as_json(counters),
            "rate": None,
            "eta_ms": None,
            "exit_code": status,
            "worked_ms": self._stopwatch.worked_ms,
            "is_whole": state == JobState.SUCCEEDED or (state == JobState.PARTIAL and _is_whole(self._progress)),
            **_results(self._folder, result),
        }
        if is_cancelled and status != 0:
            services.finish_cancelled(self._job, **end)
        elif self._interruption is not None and state is None:
            code, reason = self._interruption
            services.finish(self._job, JobState.FAILED, reason, **{**end, "state_code": code})
        elif status == statuses.PAUSED or (self._pausing_since is not None and state is None):
            services.put_back(self._job, **end)
        elif state is None:
            services.finish_dead(self._job, reason, **end)
        else:
            services.finish(self._job, state, reason, **end)
        _log.info("job=%s: %s (status %d)", self._job.id, self._job.state, status)


def end_orphan(job: Job) -> bool:
    """End the program of a job whose launcher died, if it still runs on this host; return whether it did."""
    if job.pid is None or job.host != socket.gethostname():
        return False
    is_running = program.started_at(job.pid) == job.pid_started
    if is_running:
        program.end_session(job.pid)
    try:
        settle(services.folder_of(job) / "log")
    except OSError as error:
        _log.warning("job=%s: its log is not whole: %s", job.id, error)
    return is_running


def left_by(job: Job) -> dict[str, Any]:
    """Return fields of the row that a launcher which died could not write any more, from the files of its program.

    Call it when the program has ended; there are none of a job whose folder is on another machine.
    """
    folder: Path = services.folder_of(job)
    if not folder.exists():
        return {}
    result, progress = _result(folder), last_told(folder / "progress.jsonl")
    counters = progress.counters if progress else result.counters
    told = {} if counters is None else {"counters": as_json(counters)}
    return {**told, **_results(folder, result)}


def _results(folder: Path, result: ResultFile) -> dict[str, Any]:
    return {
        "result": _short_report(folder, result.phases),
        "artefacts": as_json(result.artefacts),
        "versions": result.versions,
        "spark_app_id": result.spark_app_id,
    }


def _is_whole(progress: Progress | None) -> bool:
    """Return whether a replay has read every chunk to its end, even if some messages failed."""
    finished, total = (progress.chunks if progress else None) or (0, None)
    return finished == total


def _result(folder: Path) -> ResultFile:
    try:
        return msgspec.json.decode((folder / "result.json").read_bytes(), type=ResultFile)
    except FileNotFoundError:
        return ResultFile()


def _told_before(job: Job) -> Counters:
    """Return what earlier runs of the job told, or that nobody knows."""
    before = msgspec.convert(job.counters, Counters)
    return UNTOLD if before.planned is None else before


def _short_report(folder: Path, phases: Mapping[str, float]) -> dict[str, Any] | None:
    """Return the report without its samples, charts and request, and how many seconds each phase of the run took.

    The row keeps it, and lists of jobs contain it.
    """
    short, whole = folder / "summary.json", folder / "report.json"
    try:
        report = orjson.loads((short if short.exists() else whole).read_bytes())
    except FileNotFoundError:
        return None
    kept = {name: part for name, part in report.items() if name not in ("samples", "request")}
    return {**kept, "phases": dict(phases)} if phases else kept
