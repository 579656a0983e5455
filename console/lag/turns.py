"""Who is asked next, where there are more than can be asked in one step."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from heapq import nsmallest
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Turns(Generic[K]):
    """Deals out turns: those that matter now come first, and nobody waits for ever."""

    def __init__(self) -> None:
        self._asked: dict[K, int] = {}

    def pick(self, every: Collection[K], size: int, now: int, *, first: Collection[K] = ()) -> list[K]:
        """Return up to `size` of `every`, whose turn it is at `now` (ms).

        Those of `first` get three quarters of the places at most; the others go by who waited longest, those never
        asked before all.
        """
        if len(every) <= size:
            chosen = list(every)
        else:
            wanted = set(first)
            urgent = self._longest(size - size // 4, (each for each in every if each in wanted))
            taken = set(urgent)
            chosen = urgent + self._longest(size - len(urgent), (each for each in every if each not in taken))
        if len(self._asked) > 2 * len(every):
            there = set(every)
            self._asked = {each: at for each, at in self._asked.items() if each in there}
        self._asked.update(dict.fromkeys(chosen, now))
        return chosen

    def _longest(self, size: int, candidates: Iterable[K]) -> list[K]:
        return nsmallest(size, candidates, key=lambda each: self._asked.get(each, -1))
