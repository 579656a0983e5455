"""Shared questions: a caller whose question is already being asked waits for that answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """The running questions by name, shared by the threads of this process."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._under_way: dict[str, Future[T]] = {}

    def join(self, name: str, ask: Callable[[], T]) -> T:
        """Return or raise the result of the running question of this name; start the question if none is running."""
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
