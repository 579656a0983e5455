"""A PostgreSQL of its own for tests: the real server of the system, on a Unix socket in a folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

NOT_INSTALLED: Final = "PostgreSQL is not installed; on Debian: apt-get install postgresql"
_PROGRAMS: Final = ("initdb", "pg_ctl", "postgres")
_PORT: Final = 5432  # only a part of the socket's name


def find_programs() -> Path | None:
    """Return the folder with initdb and pg_ctl, or None; Debian keeps them outside the PATH."""
    found = shutil.which("initdb")
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    if found is not None:
        folders.insert(0, Path(found).resolve().parent)
    return next((folder for folder in folders if all(_is_program(folder / name) for name in _PROGRAMS)), None)


def _is_program(file: Path) -> bool:
    return file.is_file() and os.access(file, os.X_OK)


@dataclass(frozen=True)
class PostgresServer:
    """A running server."""

    url: str
    _control: Callable[..., None]

    def named(self, client: str) -> str:
        """Return the URL for a client whose connections ``pg_stat_activity`` shows with this ``application_name``."""
        return f"{self.url}&application_name={client}"

    def restart(self) -> None:
        """Stop it, which ends every connection, and start it again."""
        self._control("-m", "fast", "-w", "restart")


@contextmanager
def postgres_server(programs: Path) -> Iterator[PostgresServer]:
    """Run a server with an empty database until the block ends; nothing of it is kept."""
    with tempfile.TemporaryDirectory(prefix="gantry-pg-") as name:
        folder, data = Path(name), Path(name) / "data"
        user = _owner(folder)
        _run(user, programs / "initdb", "-D", data, "-U", "gantry", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -p {_PORT} -c listen_addresses='' -c fsync=off"
        control = partial(_run, user, programs / "pg_ctl", "-D", data, "-l", folder / "log")
        control("-o", options, "-w", "start")
        try:
            yield PostgresServer(f"postgres://gantry@/postgres?host={folder}&port={_PORT}", control)
        finally:
            control("-m", "immediate", "-w", "stop")


def _owner(folder: Path) -> str | None:
    """Return the user under which the server runs, which must not be root; the folder is then that user's."""
    if os.getuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return nobody.pw_name


def _run(user: str | None, *command: str | Path) -> None:
    done = subprocess.run(
        list(map(str, command)), user=user, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/"
    )
    assert done.returncode == 0, done.stderr.decode()
