"""How many files and sockets the system lets this process have open, and what that leaves for connections.

Every connection is one, and so is every file of a consume queue, an index or the log. Half of them are kept for files:
a broker that cannot take one more client is a nuisance, one that cannot begin the next file of its log stands still.
"""

from __future__ import annotations

import resource
from typing import Final

from broker_core.logs import get_logger

_FILES_SHARE: Final = 2

_log: Final = get_logger(__name__)


def raise_limit() -> int:
    """Let this process have as many open as the system allows at all; return how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (ValueError, OSError) as error:  # some systems say "infinity" and do not mean it
        _log.warning("open files: the limit stays at %d: %s", soft, error)
        return soft
    return hard


def connections_within(wanted: int, files: int) -> int:
    """Return how many connections there may be with so many open files; says so in the log when fewer than wanted."""
    if files == resource.RLIM_INFINITY:
        return wanted
    possible = max(1, files // _FILES_SHARE)
    if wanted <= possible:
        return wanted
    _log.warning(
        "open files: the system allows %d, so the limit max_connections is %d instead of %d; raise it with `ulimit -n`",
        files,
        possible,
        wanted,
    )
    return possible
