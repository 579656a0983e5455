"""Prepares a new installation: tables, the first admin, and the token and topic of the printed command."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.up.config import UpConfig
from gateway.up.errors import CannotStart
from gateway.up.processes import ROOT

TOKEN_FILE = "quickstart.token"  # noqa: S105 - the file's name
TOPIC = "hello"
_EXISTS_ALREADY = 409
_RECORDER = (sys.executable, "-m", "broker_core.spark.archive")


@dataclass(frozen=True)
class Admin:
    """The first admin."""

    username: str
    password: str | None
    """None except in the run that made it up."""
    is_new: bool
    """Whether this run created it."""


def prepare(config: UpConfig, environment: dict[str, str]) -> Admin:
    """Migrate the database, create the first admin and the token if they are missing; raise CannotStart on failure."""
    token = config.data / TOKEN_FILE
    # One process for all: each spends more than a second on its imports.
    wanted = () if token.exists() else ("--token", "quickstart")
    answer = json.loads(_manage(environment, "bootstrap", "--migrate", *wanted).splitlines()[-1])
    if wanted:
        _write_private(token, answer["token"])
    return Admin(answer["username"], answer.get("password"), answer["created"])


def ensure_topic(config: UpConfig) -> str | None:
    """Create the topic if it does not exist; return None, or what went wrong."""
    token = (config.data / TOKEN_FILE).read_text(encoding="ascii").strip()
    try:
        # Asked first: a topic that is refused because it exists is a warning in the log of every further start.
        names = [topic["name"] for topic in _ask(config, token, f"topics?search={TOPIC}*")["items"]]
        if TOPIC not in names:
            _ask(config, token, "topics", {"name": TOPIC})
    except urllib.error.HTTPError as error:
        return None if error.code == _EXISTS_ALREADY else error.read(2000).decode(errors="replace")
    except OSError as error:
        return str(error)
    return None


def _ask(config: UpConfig, token: str, path: str, body: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(  # noqa: S310 - our own http address
        f"{config.console_url}/api/v1/clusters/local/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - the same
        return json.load(answer)


async def record_classes(environment: dict[str, str], recorder: Sequence[str] = _RECORDER) -> str | None:
    """Record which Java classes Spark needs, unless this was done before; return why jobs will start slowly, or None.

    It takes half a minute of CPU time, so `make up` starts it after everything else is up.
    """
    # Of a recorder that is killed, nobody else would remove the files.
    with tempfile.TemporaryDirectory(prefix="gantry-", ignore_cleanup_errors=True) as folder:
        output, status = await _recorded(recorder, environment | {"TMPDIR": folder})
    lines = output.decode(errors="replace").splitlines()
    if status:
        lines.append(f"Spark will start slowly: recording its classes ended with status {status}")
    return next((line for line in lines if line.startswith("Spark will start slowly")), None)


async def _recorded(recorder: Sequence[str], environment: dict[str, str]) -> tuple[bytes, int | None]:
    """Return the output and the exit status; kill the recorder if this is cancelled.

    Java would take the signal of an orderly end for the time to write the archive, which takes it many seconds.
    """
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *recorder,
            cwd=ROOT,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        ),
        name="start the recorder",
    )
    try:
        process = await asyncio.shield(starting)
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        # A start that was given up would end the recorder alone, and it may have started others by then.
        process = await starting
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        raise
    return output, process.returncode


def _manage(environment: dict[str, str], *arguments: str) -> str:
    finished = subprocess.run(  # noqa: S603 - our own manage.py
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise CannotStart(f"manage.py {arguments[0]} failed:\n{finished.stderr.strip() or finished.stdout.strip()}")
    return finished.stdout


def _write_private(path: Path, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text + "\n")
