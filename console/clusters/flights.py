"""One question at a time: who wants to know what is being asked already waits for that answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Flights(Generic[T]):
    """Questions under way, by name, shared by the threads of this process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._under_way: dict[str, Future[T]] = {}

    def join(self, name: str, ask: Callable[[], T]) -> T:
        """Return what the question under way returns, or raise what it raises; without one, ask."""
        with self._guard:
            flight = self._under_way.get(name)
            is_mine = flight is None
            if flight is None:
                flight = self._under_way[name] = Future()
        if not is_mine:
            return flight.result()
        try:
            flight.set_result(ask())
        except BaseException as error:
            flight.set_exception(error)
            raise
        finally:
            with self._guard:
                del self._under_way[name]
        return flight.result()
