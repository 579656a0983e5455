"""Simulated time: one heap of events, and clocks that run at their own rate."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from random import Random


class Agenda:
    """What happens when. Events at one moment happen in the order in which they were put down."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.events = 0
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0

    def after(self, delay: float, event: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._heap, (self.now + delay, self._number, event))

    def step(self) -> None:
        self.now, _, event = heapq.heappop(self._heap)
        self.events += 1
        event()


class Clock:
    """A machine's clock of leases: it never jumps back, and runs too fast or too slow."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._since = 0.0
        self._base = agenda.random.uniform(0, 1000)
        self._rate = 1.0

    @property
    def now(self) -> float:
        return self._base + (self._agenda.now - self._since) * self._rate

    def run_at(self, rate: float) -> None:
        self._base, self._since, self._rate = self.now, self._agenda.now, rate

    def real(self, seconds: float) -> float:
        """Return how long `seconds` of this clock take."""
        return seconds / self._rate
