"""Starts and ends the program of a job as a process (broker_core/spark/README.md#programs)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

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


def start(kind: str, folder: Path, request: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    """Start the program of a type of job in its own session; only its user may read its files.

    Creates the folder, and removes the result of an earlier run.
    """
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "result.json").unlink(missing_ok=True)
    with _private(folder / "request.json", os.O_TRUNC) as file:
        file.write(orjson.dumps(request, option=orjson.OPT_INDENT_2))
    # A file, not a pipe: a pipe whose reader died would block or kill the program.
    with _private(folder / "log", os.O_APPEND) as log:
        return subprocess.Popen(  # noqa: S603 - our own program
            command(kind, folder), cwd=folder, env=environment(os.environ), stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, start_new_session=True, umask=_ONLY_OURS,
        )  # fmt: skip


def started_at(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; together with the pid this identifies a process."""
    fields = _stat(pid)
    return int(fields[19]) if fields else None


def end_session(leader: int) -> None:
    """Kill a program and everything it started, including Spark's workers in their own process group."""
    for pid in (leader, *_session(leader)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _session(leader: int) -> Iterator[int]:
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


def _private(file: Path, how: int) -> Any:
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb")
