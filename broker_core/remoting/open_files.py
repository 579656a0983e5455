"""The limit of open files and sockets of this process, and how it is divided.

Every connection counts, and so does every file of a consume queue, an index or the log. Half of the limit is for files,
and a quarter of that is reserved: a broker that cannot accept one more client or queue is inconvenient, but one that
cannot start the next file of its log stops working.
"""

from __future__ import annotations

import resource
import sys
from typing import Final

from broker_core.errors import GantryError
from broker_core.logs import get_logger

BESIDE_STORE: Final = 64
"""Files needed besides those of the store: the next log files, settings, listeners, Python."""

_log: Final = get_logger(__name__)


class TooFewFiles(GantryError):
    """Raised when the system allows fewer open files than a start needs; nothing was opened."""

    def __init__(self, allowed: int, of_store: int) -> None:
        wanted = _wanted(of_store)
        super().__init__(
            f"the system allows this process {allowed} open files; its store needs {of_store}, and {BESIDE_STORE} "
            f"more are needed. Allow at least {wanted}, half of them for connections: `ulimit -n {wanted}` before "
            "the start (as root, where the hard limit is lower), nofile in /etc/security/limits.conf, LimitNOFILE in a "
            f"systemd unit, or --ulimit nofile={wanted} for a container"
        )
        self.allowed = allowed
        self.wanted = wanted


class Sockets:
    """The number of connections of servers that share it; all servers of a process should, since the system counts them
    together."""

    def __init__(self, files: int) -> None:
        """`files` is how many files the process may have open, from `raise_limit`."""
        self.open = 0
        self.limit = _for_sockets(files)

    def take(self) -> bool:
        """Count a connection; return False when the limit is reached."""
        if self.open >= self.limit:
            return False
        self.open += 1
        return True

    def give_back(self) -> None:
        """Uncount a connection."""
        self.open -= 1


def raise_limit() -> int:
    """Raise the limit of open files to the hard limit; return the new limit."""
    files, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            files = hard
        except (ValueError, OSError) as error:  # some systems report "infinity" but do not allow it
            _log.warning("open files: the limit stays at %d: %s", files, error)
    if files == resource.RLIM_INFINITY:
        files = sys.maxsize
    return files


def check_files(allowed: int, of_store: int = 0) -> None:
    """Raise TooFewFiles if `allowed` open files are too few for a store with `of_store` files."""
    if allowed < of_store + BESIDE_STORE:
        raise TooFewFiles(allowed, of_store)


def connections_within(wanted: int, files: int) -> int:
    """Return how many connections this many open files allow; log it if there are fewer than `wanted`."""
    possible = _for_sockets(files)
    if wanted <= possible:
        return wanted
    _log.warning(
        "open files: the system allows %d, so the limit connections is %d instead of %d; raise it with `ulimit -n`",
        files,
        possible,
        wanted,
    )
    return possible


def queues_within(wanted: int, files: int) -> int:
    """Return how many consume queues this many open files allow; log it if there are fewer than `wanted`."""
    possible = max(1, (files - _for_sockets(files)) // 4 * 3)
    if wanted <= possible:
        return wanted
    _log.info(
        "open files: the system allows %d, so the limit queues is %d instead of %d; raise it with `ulimit -n`",
        files,
        possible,
        wanted,
    )
    return possible


def _wanted(of_store: int) -> int:
    return 2 * (of_store + BESIDE_STORE)


def _for_sockets(files: int) -> int:
    return max(1, files // 2)
