"""Notifies listeners of messages that became readable: once per turn of the loop, however many were stored in it.

Every put calls `expect`; the first in a turn schedules one round, which makes appended messages readable and calls each
listener once for every queue that received some. Rounds run at most once a millisecond (`paced`), as in Apache
RocketMQ: with thousands of sends a second, one round serves many. A
request that reads in the meantime runs the round first (`settle`), so it sees every acknowledged message.
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
"""Schedules a function to run after this turn of the loop."""

_log = get_logger(__name__)


def paced(loop: asyncio.AbstractEventLoop, seconds: float) -> CallSoon:
    """Return a scheduler that runs a function after this turn of `loop`, at least `seconds` after the last run."""
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
    """The part of a store that is used here."""

    def dispatch(self) -> Sequence[Arrived]:
        """Make appended messages readable and return their queues."""

    def find_named(self, log_offset: int) -> bytes | None:
        """Return the record at a log offset that a client names."""


class Arrivals:
    """Dispatches one store and calls the listeners."""

    def __init__(self, store: Dispatches, call_soon: CallSoon) -> None:
        self._store = store
        self._call_soon = call_soon
        self._listeners: list[Listener] = []
        self._watchers: list[Callable[[], None]] = []
        self._is_expected = False
        self._said = ""

    def listen(self, listener: Listener) -> None:
        """Call `listener` for every queue that receives messages."""
        self._listeners.append(listener)

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` in every round: the log has grown, whether its messages can be read yet or not."""
        self._watchers.append(watcher)

    def expect(self) -> None:
        """Schedule a round; something was appended."""
        if not self._is_expected:
            self._is_expected = True
            self._call_soon(self.settle)

    def settle(self) -> None:
        """Run the scheduled round now, if there is one."""
        if self._is_expected:
            self.round()

    def find_named(self, log_offset: int) -> bytes | None:
        """Return the record at a log offset that a client names, also one that was appended a moment ago.

        Raises MessageDamaged.
        """
        self.settle()
        return self._store.find_named(log_offset)

    def round(self) -> None:
        """Make appended messages readable and call the listeners; what fails on disk is left for a later round."""
        self._is_expected = False
        for watcher in self._watchers:
            watcher()
        try:
            arrived = self._store.dispatch()
        except (StoreError, OSError) as error:
            self._say(str(error))
            return
        self._said = ""
        for topic, queue_id, _, _ in arrived:
            for listener in self._listeners:
                listener(topic, queue_id)

    def _say(self, reason: str) -> None:
        """Log why messages are not readable, once for each reason: there may be a round for every send."""
        if reason != self._said:
            self._said = reason
            _log.error("dispatch: messages are stored but not readable yet: %s", reason)
