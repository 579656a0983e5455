"""Wakes what waits at a place, a portion in each turn of the loop, so that no crowd holds up the other clients.

One message may wake a hundred thousand long polls, and to serve each of them takes some ten microseconds. A few are
served at once. Of more, the first portion is, and the others follow in turns; places that are under way take turns.
What arrives at a place meanwhile begins the round there again when it is through: those that were early in it keep
waiting if nothing was for them, and must see that too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic

from broker_core.broker.processors.parked import Parked, W

PORTION: Final = 128
"""So many requests are served before other clients are: they take one or two milliseconds."""


@dataclass(slots=True)
class _Round(Generic[W]):
    """Those that wait at a place and are not served yet; `is_wanted_again` says that something arrived since."""

    rest: Iterator[W]
    is_wanted_again: bool = False


class Portions(Generic[W]):
    """Calls `serve` with requests that wait in `parked`; it may remove them."""

    def __init__(self, parked: Parked[W], serve: Callable[[W], None]) -> None:
        self._parked = parked
        self._serve = serve
        self._rounds: dict[Hashable, _Round[W]] = {}
        self._is_scheduled = False

    def wake(self, place: Hashable) -> None:
        """Serve what waits at `place`."""
        under_way = self._rounds.get(place)
        if under_way is not None:
            under_way.is_wanted_again = True
            return
        waiting = self._parked.at(place)
        if len(waiting) > PORTION:
            self._rounds[place] = _Round(iter(waiting[PORTION:]))
            self._schedule()
            del waiting[PORTION:]
        for request in waiting:
            self._serve(request)

    def _schedule(self) -> None:
        if self._rounds and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Serve one portion of the place whose turn it is."""
        self._is_scheduled = False
        place = next(iter(self._rounds))
        one = self._rounds.pop(place)
        portion = list(islice(one.rest, PORTION))
        if len(portion) == PORTION:
            self._rounds[place] = one
        elif one.is_wanted_again:
            self._rounds[place] = _Round(iter(self._parked.at(place)))
        self._schedule()
        for request in portion:
            if self._parked.waits(request):
                self._serve(request)
