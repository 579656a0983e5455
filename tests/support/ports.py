"""Ports for servers that are told theirs, or that come back to the same one.

They lie below those that the system gives to whoever connects. Each is locked until its process ends, as one byte of a
file, so that workers and test runs on one machine never take the same.
"""

from __future__ import annotations

import fcntl
import functools
import random
import socket
import tempfile
from pathlib import Path
from typing import BinaryIO

_RANGE = (20_000, 32_000)
_taken: set[int] = set()
"""By this process, which its own locks do not stop."""


def free_ports(count: int = 1) -> int:
    """Return the first of `count` neighbouring ports of loopback that are this process's alone until it ends."""
    while True:
        first = random.randrange(*_RANGE)
        # One that is locked in vain stays so: there are enough.
        if all(_claim(port) and _is_free(port) for port in range(first, first + count)):
            return first


@functools.cache
def _locks() -> BinaryIO:
    # Not in a run's own temporary folder: other runs would not see what it has taken.
    folder = next(path for path in (Path("/dev/shm"), Path(tempfile.gettempdir())) if path.is_dir())
    return (folder / "gantry-test-ports").open("ab")


def _claim(port: int) -> bool:
    if port in _taken:
        return False
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    _taken.add(port)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As servers do: what lingers of an earlier one's connections does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
