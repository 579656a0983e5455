"""Chooses what to ask next if there is more than one step can ask."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from heapq import nsmallest
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Turns(Generic[K]):
    """Distributes turns: important ones come first, and none waits forever."""

    def __init__(self) -> None:
        self._asked: dict[K, int] = {}

    def pick(self, every: Collection[K], size: int, now: int, *, first: Collection[K] = ()) -> list[K]:
        """Return up to `size` of `every` whose turn it is at `now` (ms).

        Those in `first` get at most three quarters of the places; the others follow in the order of their waiting
        time, starting with those never asked.
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
