"""Runs one claimed job: its Spark program as a child in a session of its own, watched and ended (spark.md 5, 6)."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import orjson
from django.conf import settings
from django.utils import timezone

from console.jobs import events, services
from console.jobs.models import Job, JobState
from console.jobs.progress import ProgressTail, counters_of
from console.jobs.requests import program_request

_LOOK_SECONDS: Final = 0.5
_WRITE_SECONDS: Final = 2.0
# A program stops its sends and writes its state within seconds; Spark's own end takes one more.
GRACE_SECONDS: Final = 20.0
_CANCELLED: Final = 130
_ENDS: Final = {
    0: JobState.SUCCEEDED,
    3: JobState.PARTIAL,
    _CANCELLED: JobState.CANCELLED,
}
_REASONS: Final = {
    2: "the request cannot be served; the log says why",
    3: "some messages failed; the report names them",
    4: "the broker could not be reached",
    5: "part of the range is no longer in the store",
}

_log = logging.getLogger(__name__)


def run(job_id: str, *, worker: str) -> None:
    """Run the job if it is still queued, to its end; returns at once when another worker has it."""
    job = services.claim(job_id, worker=worker, host=socket.gethostname())
    if job is None:
        return
    _log.info("job=%s %s: started", job.id, job.type)
    events.publish(job)
    try:
        _Run(job).to_its_end()
    except Exception as error:
        _log.exception("job=%s: the launcher failed", job.id)
        services.finish(job, JobState.FAILED, f"the launcher failed: {error}")
        raise


class _Run:
    """One run of one job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._folder: Path = services.folder_of(job)
        self._state: dict[str, Any] = {}
        self._written_at = 0.0
        self._asked_at: float | None = None
        self._lost = False

    def to_its_end(self) -> None:
        """Start the program and watch it until it has ended."""
        child = self._start()
        self._note_child(child)
        tail = ProgressTail(self._folder / "progress.jsonl")
        while child.poll() is None:
            self._take(tail)
            self._hold_on()
            self._end_if_wanted(child)
            time.sleep(_LOOK_SECONDS)
        self._take(tail)
        _end_session(child.pid)
        self._finish(child.returncode)

    def _start(self) -> subprocess.Popen[bytes]:
        self._folder.mkdir(parents=True, exist_ok=True)
        request = self._folder / "request.json"
        descriptor = os.open(request, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(program_request(self._job), option=orjson.OPT_INDENT_2))
        command = [sys.executable, "-m", f"broker_core.spark.programs.{self._job.type}", str(self._folder)]
        environment = {**os.environ, "PYTHONPATH": str(settings.BASE_DIR), "PYTHONUNBUFFERED": "1"}
        # A file and no pipe: a pipe whose reader died would block or kill the program.
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own program
                command, cwd=self._folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    def _note_child(self, child: subprocess.Popen[bytes]) -> None:
        services.own(self._job).update(pid=child.pid, pid_started=started_at(child.pid))

    def _take(self, tail: ProgressTail) -> None:
        state = tail.newest()
        now = time.monotonic()
        if state is not None:
            self._state = state
            job = self._job
            job.counters, job.rate, job.eta_ms = counters_of(state), state.get("rate"), state.get("eta_ms")
            events.publish(job)
        if state is not None and now - self._written_at >= _WRITE_SECONDS:
            self._written_at = now
            services.own(self._job).update(counters=self._job.counters, rate=self._job.rate, eta_ms=self._job.eta_ms)

    def _hold_on(self) -> None:
        """Renew the lease, and look at what is wanted; a run that is no longer ours stops its program."""
        row = services.own(self._job)
        if not row.update(lease_until=timezone.now() + services.LEASE):
            self._lost = True
            return
        self._job.wanted = row.values_list("wanted", flat=True).first()

    def _end_if_wanted(self, child: subprocess.Popen[bytes]) -> None:
        if not self._lost and self._job.wanted != "cancelled":
            return
        if self._asked_at is None:
            self._asked_at = time.monotonic()
            child.terminate()
        elif time.monotonic() - self._asked_at > GRACE_SECONDS:
            _end_session(child.pid)

    def _finish(self, status: int) -> None:
        result = _read_json(self._folder / "result.json") or {}
        state = _ENDS.get(status, JobState.FAILED)
        if self._job.wanted == "cancelled" and status != 0:
            state = JobState.CANCELLED
        reason = "what was written before stays" if state == JobState.CANCELLED else _reason(status)
        services.finish(
            self._job,
            state,
            reason if state != JobState.SUCCEEDED else None,
            counters=result.get("counters") or counters_of(self._state),
            rate=None,
            eta_ms=None,
            exit_code=status,
            result=_read_json(self._folder / "report.json"),
            artefacts=result.get("artefacts", []),
            versions=result.get("versions", {}),
            spark_app_id=result.get("spark_app_id") or "",
        )
        _log.info("job=%s: %s (status %d)", self._job.id, state, status)


def started_at(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; with the pid it names a process for good."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[19])


def end_orphan(job: Job) -> bool:
    """End the program of a job whose launcher died, if it still runs on this host; return whether it did."""
    if job.pid is None or job.host != socket.gethostname() or started_at(job.pid) != job.pid_started:
        return False
    _end_session(job.pid)
    return True


def _end_session(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _reason(status: int) -> str:
    if status < 0:
        return f"its program was killed by signal {-status}"
    return _REASONS.get(status, f"its program ended with status {status}; the log says why")


def _read_json(file: Path) -> Any:
    try:
        return orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return None
