"""Starts and ends the program of a job: a process of its own, or a driver that is kept (spark/README.md#programs)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import orjson
from django.conf import settings

from console.jobs.models import JobType

# The variables that a program inherits from the launcher: no passwords of admin, database or Redis.
ENVIRONMENT: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CACHE_HOME",
    "LD_LIBRARY_PATH", "CC", "GANTRY_NATIVE",
    "JAVA_HOME", "JAVA_TOOL_OPTIONS", "SPARK_CONF_DIR", "SPARK_LOCAL_IP", "SPARK_LOCAL_DIRS", "SPARK_PUBLIC_DNS",
    "HADOOP_CONF_DIR", "YARN_CONF_DIR",
)  # fmt: skip
_PROGRAMS: Final[Mapping[str, str]] = {
    JobType.REPLAY: "broker_core.spark.programs.replay",
    JobType.RECONCILE: "broker_core.spark.programs.reconcile",
    JobType.REDRIVE: "broker_core.redrive",
    JobType.EXPORT: "broker_core.spark.programs.export",
}
_ONLY_OURS: Final = 0o077


def environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program, given the launcher's."""
    kept = {name: ours[name] for name in ENVIRONMENT if name in ours}
    return {**kept, "PYTHONPATH": str(settings.BASE_DIR), "PYTHONUNBUFFERED": "1"}


def command(kind: str, folder: Path) -> list[str]:
    """Return the command line of the program for a type of job."""
    return [sys.executable, "-m", _PROGRAMS[kind], str(folder)]


class Running(Protocol):
    """The program of a job while it runs."""

    pid: int
    """The leader of its session."""

    def poll(self) -> int | None:
        """Return the exit status once it has ended; a negative one is the signal that killed it."""

    def terminate(self) -> None:
        """Ask it to stop."""

    def end(self) -> None:
        """Kill whatever is left of it and wait until that is gone; what may serve another job stays."""

    def keep(self) -> None:
        """Let the next job have what stayed; without this call it is killed by the second `end`."""


class OwnProcess:
    """A process for one job."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Take over a process that leads its session."""
        self._process, self.pid = process, process.pid

    def poll(self) -> int | None:
        """Return the exit status once it has ended."""
        return self._process.poll()

    def terminate(self) -> None:
        """Ask it to stop."""
        self._process.terminate()

    def end(self) -> None:
        """Kill its whole session."""
        end_session(self.pid)
        self._process.wait()

    def keep(self) -> None:
        """Do nothing: it serves no other job."""


def start(kind: str, folder: Path, request: Mapping[str, Any]) -> Running:
    """Start the program of a type of job in its own session; only its user may read its files."""
    prepare(folder, request)
    # A file, not a pipe: a pipe whose reader died would block or kill the program.
    with private_file(folder / "log", os.O_APPEND) as log:
        return OwnProcess(launch(command(kind, folder), folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log))


def launch(arguments: Sequence[str], folder: Path, **streams: Any) -> subprocess.Popen[bytes]:
    """Start a process of ours in its own session."""
    return subprocess.Popen(  # noqa: S603 - our own program
        arguments, cwd=folder, env=environment(os.environ), start_new_session=True, umask=_ONLY_OURS, **streams
    )


def prepare(folder: Path, request: Mapping[str, Any]) -> None:
    """Create the folder of a job, write the request, and remove the result of an earlier run."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("result.json", "report.json", "summary.json"):
        (folder / name).unlink(missing_ok=True)
    with private_file(folder / "request.json", os.O_TRUNC) as file:
        file.write(orjson.dumps(request, option=orjson.OPT_INDENT_2))


def started_at(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; together with the pid this identifies a process."""
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def end_session(leader: int) -> None:
    """Kill a program and everything it started, including Spark's workers in their own process group."""
    for pid in (leader, *session_of(leader)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def session_of(leader: int) -> Iterator[int]:
    """Yield the processes of a session; of each, its leader and its parents may be gone."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = _stat(int(entry.name))
            if fields and int(fields[3]) == leader:
                yield int(entry.name)


def _stat(pid: int) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` from the state on; nothing for a process that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def private_file(file: Path, how: int) -> Any:
    """Open a file to write bytes, which only its user may read."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb")
