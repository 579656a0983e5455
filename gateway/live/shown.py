"""What sockets of lag were told, kept for a while so that one that connects again goes on where it was.

A socket keeps its last views, by the numbers of their frames: what a client missed is the difference between the view
that it saw last and the present. When it disconnects they are held for a minute, in this process alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

VIEWS_KEPT: Final = 16
HELD_SECONDS: Final = 60.0
MOST_HELD: Final = 1_000

V = TypeVar("V")
W = TypeVar("W")


@dataclass(slots=True)
class Shown(Generic[V, W]):
    """The last views of one socket by the numbers of their frames, what it watches, and whose it is."""

    who: tuple[str, object]
    watched: W | None = None
    views: dict[int, V] = field(default_factory=dict)

    def add(self, seq: int, view: V) -> None:
        """Keep a view, and forget the oldest one above the limit."""
        self.views[seq] = view
        if len(self.views) > VIEWS_KEPT:
            del self.views[next(iter(self.views))]


class HeldViews(Generic[V, W]):
    """The views of sockets that were disconnected, by session."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, tuple[float, Shown[V, W]]] = {}

    def hold(self, session: str, shown: Shown[V, W]) -> None:
        """Hold the views of a session for a minute; the one held longest goes if there are too many."""
        now = self._clock()
        self._held = {name: held for name, held in self._held.items() if held[0] > now}
        if len(self._held) >= MOST_HELD:
            del self._held[next(iter(self._held))]
        self._held[session] = (now + HELD_SECONDS, shown)

    def take(self, session: str, who: tuple[str, object]) -> Shown[V, W] | None:
        """Return the views of a session once, to the caller whose they are; None if they are not held."""
        until, shown = self._held.get(session, (0.0, None))
        if shown is None or until <= self._clock() or shown.who != who:
            return None
        del self._held[session]
        return shown
