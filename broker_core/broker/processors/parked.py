"""Waiting long polls, found by the place they wait for and by the time slot in which their wait ends.

A request that finds nothing is parked until a deadline (broker/README.md#long-polls). An arrival at its place or the
deadline takes it out again; then it runs once more, and may be parked again. The slots are short enough that a wait of
one second lasts one second.

::

    places   ("orders", 3) ──► {request, request}          an arrival takes all of them, in order of arrival
    slots    deadline // 50 ──► {request, request}         the clock takes every slot that has passed
    owners   connection ──► {request, request}             one that closes takes its requests with it

Each of the three finds its requests without scanning the others, however many wait.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping
from typing import Final, Generic, Protocol, TypeVar

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.shares import Shares
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory

SLOT_MS: Final = 50
"""The precision of deadlines, ms; also the period at which `expire` is called."""

REQUEST_BYTES: Final = 2 * 1024
"""The memory that a waiting request takes, without its filter."""

_FILTER_FACTOR: Final = 48
"""Bytes that a filter takes for each letter of its expression: 24 in the worst case of one-letter tags, 40 of SQL92."""


def size_of_wait(expression: str | None) -> int:
    """Return the bytes of memory that a request with a filter expression takes while it waits."""
    return REQUEST_BYTES + _FILTER_FACTOR * len(expression or "")


def without_payload(request: Command) -> Command:
    """Return the parts of a request that are needed to answer it, without its body or a long header."""
    return Command(request.code, opaque=request.opaque, flag=request.flag, serializer=request.serializer)


class Waiting(Protocol):
    """A request that can be parked: it has a place and a deadline."""

    @property
    def place(self) -> Hashable:
        """What it waits for."""

    @property
    def deadline(self) -> int:
        """The time in ms at which it is answered in any case."""

    @property
    def connection(self) -> Connection:
        """The connection that waits for the answer."""

    @property
    def size_bytes(self) -> int:
        """The memory that it takes while it waits."""

    @property
    def account(self) -> str:
        """The account for which it counts, empty if it counts for none."""


K = TypeVar("K", bound=Hashable)
W = TypeVar("W", bound=Waiting)


class Parked(Generic[W]):
    """A bounded set of waiting requests; each is in exactly one place and one slot, and has one owner."""

    def __init__(
        self,
        limits: BrokerLimits,
        limit: str,
        memory: ConnectionMemory,
        on_leave: Callable[[W], None] | None = None,
    ) -> None:
        """`limit` is the name of the one for their number.

        `on_leave` is called with every request that stops waiting, for whatever reason.
        """
        self._limits = limits
        self._limit = limit
        self._most: int = getattr(limits, limit)
        self._shares = Shares(limits, limit)
        self._memory = memory
        self._on_leave = on_leave
        self._owners: dict[Connection, dict[W, None]] = {}
        self._watched: set[Connection] = set()
        self._slot_of: dict[W, int] = {}
        self._places: dict[Hashable, dict[W, None]] = {}
        self._slots: dict[int, dict[W, None]] = {}
        self._next_slot = 0

    def __len__(self) -> int:
        return len(self._slot_of)

    def has_room(self, account: str) -> bool:
        """Return whether one more request of an account may be parked."""
        return len(self._slot_of) < self._most and self._shares.has_room(account)

    def check_room(self, account: str, what: str) -> None:
        """Raise LimitReached, which says `what` was refused, if no more request of an account may be parked."""
        if len(self._slot_of) >= self._most:
            raise self._limits.refuse(self._limit, what)
        self._shares.check(account, 1, what)

    def waits(self, request: W) -> bool:
        """Return whether a request waits."""
        return request in self._slot_of

    def waits_at(self, place: Hashable) -> bool:
        """Return whether a request waits at `place`."""
        return place in self._places

    def park(self, request: W) -> bool:
        """Keep `request` until something arrives at its place or its deadline passes; callers look for room first.

        Returns whether there was memory for it; if not, it does not wait.
        """
        if not self._memory.reserve(request.size_bytes):
            return False
        self._shares.add(request.account)
        self._watch(request.connection)
        self._owners.setdefault(request.connection, {})[request] = None
        slot = max(-(-request.deadline // SLOT_MS), self._next_slot)
        self._slot_of[request] = slot
        self._slots.setdefault(slot, {})[request] = None
        self._places.setdefault(request.place, {})[request] = None
        return True

    def at(self, place: Hashable) -> list[W]:
        """Return the requests that wait at `place`, the longest waiting first."""
        return list(self._places.get(place, ()))

    def first(self, place: Hashable) -> W | None:
        """Return the request that waits longest at `place`."""
        return next(iter(self._places.get(place, ())), None)

    def shorten_wait(self, request: W, deadline: int) -> None:
        """Move the deadline of a waiting request to `deadline` (ms), if that is earlier."""
        before, slot = self._slot_of[request], max(-(-deadline // SLOT_MS), self._next_slot)
        if slot < before:
            self._leave(self._slots, before, request)
            self._slot_of[request] = slot
            self._slots.setdefault(slot, {})[request] = None

    def remove(self, request: W) -> None:
        """Remove a request that is answered or whose client is gone; it must be waiting."""
        self._leave(self._slots, self._slot_of.pop(request), request)
        self._let_go(request)

    def expire(self, now: int) -> list[W]:
        """Remove and return the requests whose deadline has passed at `now`."""
        last = now // SLOT_MS
        if last - self._next_slot < len(self._slots):
            due = [slot for slot in range(self._next_slot, last + 1) if slot in self._slots]
        else:
            due = [slot for slot in self._slots if slot <= last]
        self._next_slot = max(self._next_slot, last + 1)
        expired = [request for slot in due for request in self._slots.pop(slot)]
        for request in expired:
            del self._slot_of[request]
            self._let_go(request)
        return expired

    def drain(self) -> list[W]:
        """Remove and return every request, when the broker stops."""
        requests = list(self._slot_of)
        for request in requests:
            self.remove(request)
        return requests

    def _watch(self, connection: Connection) -> None:
        """Remove a connection's requests when it closes; registered once, however many requests it parks."""
        if connection not in self._watched:
            self._watched.add(connection)
            connection.on_close(self._closed)

    def _closed(self, connection: Connection) -> None:
        self._watched.discard(connection)
        for request in list(self._owners.get(connection, ())):
            self.remove(request)

    def _let_go(self, request: W) -> None:
        self._leave(self._places, request.place, request)
        self._leave(self._owners, request.connection, request)
        self._memory.release(request.size_bytes)
        self._shares.remove(request.account)
        if self._on_leave is not None:
            self._on_leave(request)

    @staticmethod
    def _leave(shelves: MutableMapping[K, dict[W, None]], shelf: K, request: W) -> None:
        waiting = shelves[shelf]
        del waiting[request]
        if not waiting:
            del shelves[shelf]
