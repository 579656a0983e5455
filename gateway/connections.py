"""Limits the connections to this gateway: it keeps those in use and a limited number of idle ones.

The server itself has no limit, so idle clients could use up all file descriptors of the process. The process therefore
checks its own sockets once a second. It closes a connection that was idle for too long. Above the limit it closes at
once those that were idle longest, then those whose body has been arriving longest. A connection that no earlier check
saw does not count yet: its request may be on the way, and nobody else goes in its place.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from gateway.arrival import Arrival, Client
from gateway.limits import ArrivalLimits
from gateway.own_sockets import Connection, OwnSockets, answer_seconds, close
from gateway.problems import TOO_MANY_CONNECTIONS, ProblemError

_CHECK_SECONDS: Final = 1.0
# File descriptors for other uses: database, brokers, Redis, pages.
_OTHER_FILES: Final = 512

_log = logging.getLogger(__name__)


class OpenConnections:
    """The connections of this process; checks them between `start` and `stop`."""

    def __init__(self, limits: ArrivalLimits, own: OwnSockets | None = None, *, behind: int | None = None) -> None:
        """`behind` is the port of a server behind an ingress: what that one passes on to it is no client's."""
        self._limits = limits
        self._own = own or OwnSockets(not_ours=behind)
        # A connection that is passed on is three sockets of this process.
        self._sockets_each = 1 if behind is None else 3
        self._also_used: Callable[[], Iterable[Client]] = tuple
        self._under_way: set[Arrival] = set()
        self._used: set[Client] = set()
        self._sockets: dict[Client, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.most = limits.connections
        """How many may be open; fewer than the configured limit if the system allows fewer open files."""

    def start(self, also_used: Callable[[], Iterable[Client]] = tuple) -> None:
        """Start checking the connections; `also_used` returns clients whose requests `begin` was not told of."""
        self._also_used = also_used
        room = (_raise_file_limit() - _OTHER_FILES) // self._sockets_each
        if room < self.most:
            _log.warning("this process may open too few files for %d connections: the limit is %d", self.most, room)
            self.most = room
        self._tasks.append(asyncio.create_task(self._expire_late(), name="connections: late bodies"))
        if not self._own.are_listed:
            _log.warning("this system does not list the sockets of a process: idle connections are not watched")
            return
        self._tasks.append(asyncio.create_task(self._check_on(), name="connections: check"))

    async def stop(self) -> None:
        """Cancel the checks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def expire_all(self) -> None:
        """Stop waiting for all bodies, because the process stops."""
        for arrival in list(self._under_way):
            arrival.expire()

    def begin(self, arrival: Arrival) -> None:
        """Record that a connection carries a request."""
        self._under_way.add(arrival)

    def end(self, arrival: Arrival) -> None:
        """Record that the request was answered."""
        self._under_way.discard(arrival)
        self._used.add(arrival.client)

    @contextmanager
    def socket(self, client: Client) -> Iterator[None]:
        """Count a WebSocket while it is open; raise TOO_MANY_CONNECTIONS at the limit."""
        if sum(self._sockets.values()) >= self.most:
            raise ProblemError(TOO_MANY_CONNECTIONS, f"{self.most} WebSockets are open, which is the limit.")
        self._sockets[client] = self._sockets.get(client, 0) + 1
        try:
            yield
        finally:
            self._sockets[client] -= 1
            if not self._sockets[client]:
                del self._sockets[client]
            self._used.add(client)

    async def _expire_late(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            now = clock()
            for arrival in [each for each in self._under_way if each.late_at <= now]:
                arrival.expire()

    async def _check_on(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            used, self._used = self._used.union(self._sockets, self._also_used()), set()
            under_way = {arrival.client: arrival for arrival in self._under_way}
            try:
                await asyncio.to_thread(self._check, used, under_way, clock())
            except OSError:
                _log.exception("connections: the check failed")

    def _check(self, used: Collection[Client], under_way: dict[Client, Arrival], now: float) -> None:
        """Close connections that are idle for too long, and those above the limit."""
        connections = self._own.connections(now)
        idle: list[Connection] = []
        arriving: list[Connection] = []
        for each in connections:
            arrival = under_way.get(each.client)
            if arrival is None and each.client not in used:
                idle.append(each)
                continue
            each.idle_since = now
            if arrival is not None and not arrival.is_whole:
                arriving.append(each)
        idle.sort(key=lambda each: each.idle_since)
        victims = [each for each in idle if self._is_too_idle(each, now)]
        seen_before = [each for each in idle if each.idle_since < now]
        counted = len(connections) - len(idle) + len(seen_before)
        excess = counted - self.most
        if excess > len(victims):
            arriving.sort(key=lambda each: under_way[each.client].since)
            victims = [*seen_before, *arriving][:excess]
            _log.warning("%d connections, the limit is %d: closing those idle longest", counted, self.most)
        for each in victims:
            close(each)

    def _is_too_idle(self, connection: Connection, now: float) -> bool:
        """Return whether a connection is idle for too long; while its last answer is being sent it is not idle."""
        longest = self._limits.idle_seconds
        if now - connection.idle_since <= longest:
            return False
        if answer_seconds(connection) > longest:
            return True
        connection.idle_since = now
        return False


def _raise_file_limit() -> int:
    """Raise the limit of open files of this process to the system's maximum; return it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most
