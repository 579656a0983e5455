"""How many files and sockets this process may have open, and how they are shared out.

Every connection is one, and so is every file of a consume queue, an index or the log. Half of them are for files, and
of these a quarter for what must always go on: a broker that cannot take one more client, or begin one more queue, is a
nuisance; one that cannot begin the next file of its log stands still.
"""

from __future__ import annotations

import resource
import sys
from typing import Final

from broker_core.errors import GantryError
from broker_core.logs import get_logger

BESIDE_STORE: Final = 64
"""Files needed besides those of the store: the next files of its log, settings, listeners, Python."""

_log: Final = get_logger(__name__)


class TooFewFiles(GantryError):
    """Raised when the system allows fewer open files than are needed to begin at all; nothing was opened."""

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
    """The connections of the servers that share it: all of a process should, for the system counts them together."""

    def __init__(self, files: int) -> None:
        """`files` is how many files the process may have open, as `raise_limit` returns it."""
        self.open = 0
        self.limit = _for_sockets(files)

    def take(self) -> bool:
        """Count one more; return False when the limit is reached."""
        if self.open >= self.limit:
            return False
        self.open += 1
        return True

    def give_back(self) -> None:
        """Count one less."""
        self.open -= 1


def raise_limit() -> int:
    """Raise the limit of open files to the hard limit; return how many files that is."""
    files, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            files = hard
        except (ValueError, OSError) as error:  # some systems say "infinity" and do not mean it
            _log.warning("open files: the limit stays at %d: %s", files, error)
    if files == resource.RLIM_INFINITY:
        files = sys.maxsize
    return files


def check_files(allowed: int, of_store: int = 0) -> None:
    """Raise TooFewFiles when `allowed` open files are too few for a store that has `of_store` of them."""
    if allowed < of_store + BESIDE_STORE:
        raise TooFewFiles(allowed, of_store)


def connections_within(wanted: int, files: int) -> int:
    """Return how many connections there may be with so many open files; log it when they are fewer than wanted."""
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
    """Return how many consume queues there may be with so many open files; log it when they are fewer than wanted."""
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
