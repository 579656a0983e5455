"""A network that delays, loses, doubles and cuts: requests one by one, streams in order and as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from tests.broker_core.replication.simulation.clock import Agenda


class Place(Protocol):
    """A process on the network."""

    name: str

    def get(self, event: Callable[[], None]) -> None:
        """Let something happen in the process: now, when it wakes up, or never if it is dead."""


class Network:
    """Who reaches whom, and how well."""

    def __init__(self, agenda: Agenda) -> None:
        self.agenda = agenda
        self.loss = 0.0
        self.cuts: set[tuple[str, str]] = set()
        self.slow: dict[str, float] = {}  # the name of a place → what is added to each delay of its streams, at most
        self.is_resetting = False
        """Whether a cut ends streams at once; otherwise they stall."""

    def delay(self) -> float:
        random = self.agenda.random
        return random.uniform(0.4, 3.0) if random.random() < 0.004 else random.uniform(0.001, 0.02)

    def stream_delay(self, one: str, other: str) -> float:
        most = max(self.slow.get(one, 0.0), self.slow.get(other, 0.0))
        return self.agenda.random.uniform(0.001, 0.02 + most)

    def is_cut(self, source: str, target: str) -> bool:
        return (source, target) in self.cuts

    def send(self, source: Place, target: Place, event: Callable[[], None]) -> None:
        """Carry a message: it may come late, twice or never."""
        random = self.agenda.random
        if self.is_cut(source.name, target.name) or random.random() < self.loss:
            return
        for _ in range(2 if random.random() < 0.03 else 1):
            self.agenda.after(self.delay(), lambda: target.get(event))


class Stream:
    """One connection between a slave (the side that opened it) and a master."""

    def __init__(self, network: Network, slave: Place, master: Place, number: int) -> None:
        self.number = number
        self.slave = slave
        self.master = master
        self.is_open = True
        self.on_slave: Callable[[Any], None] = lambda _: None
        self.on_master: Callable[[Any], None] = lambda _: None
        self.on_slave_closed: Callable[[], None] = lambda: None
        self.on_master_closed: Callable[[], None] = lambda: None
        self._network = network
        self._ways = {True: _Way(), False: _Way()}

    def to_master(self, message: Any) -> None:
        self._put(True, message)

    def to_slave(self, message: Any) -> None:
        self._put(False, message)

    def _put(self, to_master: bool, message: Any) -> None:
        if not self.is_open:
            return
        way, agenda = self._ways[to_master], self._network.agenda
        way.waiting.append(message)
        way.last = max(way.last, agenda.now + self._network.stream_delay(self.slave.name, self.master.name))
        agenda.after(way.last - agenda.now, lambda: self._pump(to_master))

    def _pump(self, to_master: bool) -> None:
        way, agenda = self._ways[to_master], self._network.agenda
        source, target = (self.slave, self.master) if to_master else (self.master, self.slave)
        if not way.waiting or not self.is_open:
            return
        if self._network.is_cut(source.name, target.name):
            way.stalled += 1
            if way.stalled > 12 or self._network.is_resetting:
                self.end(None)
            else:
                agenda.after(0.25, lambda: self._pump(to_master))
            return
        way.stalled = 0
        message = way.waiting.popleft()
        take = self.on_master if to_master else self.on_slave
        target.get(lambda: take(message))

    def end(self, by: Place | None) -> None:
        """Close it: the other side is told, after what is under way to it; both are if the network ended it."""
        if not self.is_open:
            return
        if by is not self.slave:
            self._tell(False)
        if by is not self.master:
            self._tell(True)
        if by is None:
            self.is_open = False
        else:
            self._ways[by is self.master].waiting.clear()
            self._network.agenda.after(1.0, self._forget)

    def _forget(self) -> None:
        self.is_open = False

    def _tell(self, to_master: bool) -> None:
        way, agenda = self._ways[to_master], self._network.agenda
        place, told = (self.master, self.on_master_closed) if to_master else (self.slave, self.on_slave_closed)
        agenda.after(max(way.last - agenda.now, 0.0) + 0.005, lambda: place.get(told))

    def vanish(self) -> None:
        """End it without a word: a machine lost power."""
        self.is_open = False


class _Way:
    def __init__(self) -> None:
        self.waiting: deque[Any] = deque()
        self.last = 0.0
        self.stalled = 0
