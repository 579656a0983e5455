"""Checks before the first process starts: the data folder is ours, and the ports are free."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gateway.up.errors import CannotStart, FolderInUse, NoRight, PortTaken


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a lock on `folder` for this instance; create the folder if it does not exist.

    Raises FolderInUse if another instance holds it, NoRight if it cannot be written. The lock ends with the process, so
    a killed instance never leaves a folder locked.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / "gantry.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise NoRight(
            f"write the data folder {folder} ({error.strerror})", "change its owner, or set GANTRY_DATA_DIR"
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.read(lock, 32).decode(errors="replace").strip()
        os.close(lock)
        raise FolderInUse(folder, owner) from error
    try:
        os.truncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(lock)


def require_distinct(ports: Mapping[str, int]) -> None:
    """Raise CannotStart if two of the ports (by purpose) are the same."""
    taken: dict[int, str] = {}
    for purpose, port in ports.items():
        if port in taken:
            raise CannotStart(f"port {port} is set twice, for {taken[port]} and for {purpose}: choose another")
        taken[port] = purpose


def require_free(host: str, port: int, setting: str) -> None:
    """Raise PortTaken, NoRight or CannotStart unless a server could listen on `host`:`port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            raise _explained(error, host, port, setting) from error


def _explained(error: OSError, host: str, port: int, setting: str) -> CannotStart:
    if error.errno == errno.EADDRINUSE:
        return PortTaken(host, port, setting)
    if error.errno in (errno.EACCES, errno.EPERM):
        return NoRight(f"listen on port {port}", f"choose one above 1023 with {setting}")
    return CannotStart(
        f"cannot listen on {host}:{port} ({error.strerror}): set GANTRY_BIND to an address of this machine"
    )


def free_port(host: str) -> int:
    """Return a currently free port of `host`, for a service that only our own processes use."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
