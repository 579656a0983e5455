"""Ends what came while this process stood still: its senders wait no more (broker/replication/README.md#a-standstill).

A process that was stopped, or whose machine slept, finds in its sockets what clients sent meanwhile. They have given up
since, and most have sent the same again, to the master that was elected in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from broker_core.clock import boot_seconds
from broker_core.logs import get_logger
from broker_core.remoting import Server
from broker_core.remoting.connection import Connection

LOOK_MS: Final = 100
"""How often it has to be looked at the clock."""

LONGEST_S: Final = 1.0
"""A longer time between two looks is a standstill."""

BACKLOG_S: Final = 0.5
"""Afterwards connections are accepted that were made, and written to, meanwhile."""

_REASON: Final = "this process stood still, and what came meanwhile is old"
_log: Final = get_logger(__name__)


class Standstill:
    """Closes the connections that were open during a standstill before anything that came over them is handled."""

    def __init__(self, clock: Callable[[], float] = boot_seconds) -> None:
        """`clock` must be that of `Connection.opened_at`, and count a machine's sleep."""
        self._clock = clock
        self._looked: float | None = None
        self._old_before = float("-inf")
        self._servers: Sequence[Server] = ()
        self._is_surely_master: Callable[[], bool] = _never

    def begin(self, servers: Sequence[Server], is_surely_master: Callable[[], bool]) -> None:
        """Watch the connections of servers; from now on `look` must be called every `LOOK_MS`.

        While no other master can have been elected, nothing is old: senders have nobody else to whom they could send.
        """
        self._servers = servers
        self._is_surely_master = is_surely_master
        self._looked = self._clock()

    def look(self, _now: int = 0) -> None:
        """Notice a standstill that has ended just now."""
        if self._looked is None:
            return
        now = self._clock()
        gap, self._looked = now - self._looked, now
        if gap > LONGEST_S and not self._is_surely_master():
            self._end(gap, now)

    def check(self, connection: Connection) -> None:
        """Close a connection if what comes over it may be old; called before that is handled."""
        self.look()
        if connection.opened_at < self._old_before:
            connection.close(_REASON)

    def _end(self, gap: float, now: float) -> None:
        self._old_before = now + BACKLOG_S
        old = [connection for server in self._servers for connection in server.connections]
        _log.warning("standstill: %.1f s; closing %d connections, since what came meanwhile is old", gap, len(old))
        for connection in old:
            connection.close(_REASON)


def _never() -> bool:
    return False
