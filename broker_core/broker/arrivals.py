"""Announces what became readable to listeners: once a turn of the loop, however many messages were stored in it.

Every put calls `expect`; the first of a turn schedules one round, which makes readable what was appended and calls each
listener once for every queue that got something. Rounds come at most once a millisecond (`paced`), as those of Apache
RocketMQ do: with thousands of sends a second one of them serves many. Whoever asks for something meanwhile has the
round made before it is answered (`settle`), so nobody sees less than what was acknowledged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from broker_core.logs import get_logger
from broker_core.store import Arrived
from broker_core.store.errors import StoreError

Listener = Callable[[str, int], None]
"""Called with topic and queue id."""

CallSoon = Callable[[Callable[[], None]], object]
"""Has a function called when this turn of the loop is over."""

_log = get_logger(__name__)


def paced(loop: asyncio.AbstractEventLoop, seconds: float) -> CallSoon:
    """Return what calls a function when this turn of `loop` is over, and no sooner than `seconds` after the last."""
    last = 0.0

    def call_soon(function: Callable[[], None]) -> None:
        nonlocal last
        now = loop.time()
        last = max(now, last + seconds)
        if last == now:
            loop.call_soon(function)
        else:
            loop.call_at(last, function)

    return call_soon


class Dispatches(Protocol):
    """What is needed of a store."""

    def dispatch(self) -> Sequence[Arrived]:
        """Make appended messages readable and return where."""


class Arrivals:
    """Dispatches one store and calls the listeners."""

    def __init__(self, store: Dispatches, call_soon: CallSoon) -> None:
        self._store = store
        self._call_soon = call_soon
        self._listeners: list[Listener] = []
        self._is_expected = False

    def listen(self, listener: Listener) -> None:
        """Have `listener` called for every queue that gets messages."""
        self._listeners.append(listener)

    def expect(self) -> None:
        """Have a round soon; something was appended."""
        if not self._is_expected:
            self._is_expected = True
            self._call_soon(self.settle)

    def settle(self) -> None:
        """Have the round that is expected, if one is, at once."""
        if self._is_expected:
            self.round()

    def round(self) -> None:
        """Make readable what was appended and call the listeners; what the disk refuses is left for a later round."""
        self._is_expected = False
        try:
            arrived = self._store.dispatch()
        except (StoreError, OSError) as error:
            _log.error("dispatch: messages are stored but not readable yet: %s", error)
            return
        for topic, queue_id, _, _ in arrived:
            for listener in self._listeners:
                listener(topic, queue_id)
