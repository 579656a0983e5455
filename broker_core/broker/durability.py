"""Group commit: sends wait until their messages are on the disk, and one flush serves all of them.

::

    put ──► wait(end, answer) ──┐
    put ──► wait(end, answer) ──┤   one flush elsewhere (disk.py)   flushed up to X
    put ──► wait(end, answer) ──┴──────────────────────────────────► answer(True) for every end ≤ X

While one flush runs, arriving sends gather for the next, so each flush covers everything appended before it. The next
one begins when the sends of one read are all stored, or at once if enough of them wait: the disk works while the rest
are stored. With asynchronous flush no sender waits, and the same flush runs twice a second.

If the disk is faster than handing the work to another thread and back, the flush runs on the loop's own thread
(`DiskPace`); one slow flush moves the work back to the other thread.

A failed flush is never retried as if nothing had happened: the system may have discarded the pages. All waiting sends
and all later ones are answered that it is unknown whether their message is on the disk.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from broker_core.broker.disk import Disk
from broker_core.broker.limits import BrokerLimits
from broker_core.errors import GantryError
from broker_core.logs import get_logger

_QUICK_NS: Final = 200_000
# The assumed flush time of an unknown disk; a few dozen flushes show the real one.
_UNKNOWN_NS: Final = 10_000_000
# After this many flushes the weight of a slow one has fallen to a third.
_REMEMBERED: Final = 20
# So many waiting sends are worth a flush of their own.
_ENOUGH: Final = 24

_log = get_logger(__name__)

OnFlushed = Callable[[bool], None]
"""Called once: True when the message is on the disk, False when that is not known in time."""


class Flushes(Protocol):
    """The part of a store that is used here."""

    @property
    def flushed_log_offset(self) -> int:
        """Everything before this log offset is on the disk."""

    @property
    def flush_ns(self) -> int:
        """The duration of the last flush."""

    def flush(self) -> object:
        """Flush appended data to the disk; called in another thread."""


class DiskPace:
    """Predicts from the times of past flushes whether the next will be quick; a slow one is forgotten gradually."""

    def __init__(self) -> None:
        self._expected_ns = float(_UNKNOWN_NS)

    @property
    def is_quick(self) -> bool:
        """Whether waiting for the disk costs the loop less than handing the work to a thread."""
        return self._expected_ns < _QUICK_NS

    def learn(self, took_ns: int) -> None:
        """Record the duration of a flush."""
        self._expected_ns = max(took_ns, self._expected_ns + (took_ns - self._expected_ns) / _REMEMBERED)


@dataclass(slots=True)
class _Waiter:
    end: int
    deadline: int
    answer: OnFlushed
    sends: int


class GroupCommit:
    """The flushes of one store and the sends that wait for them. Belongs to one event loop."""

    def __init__(self, store: Flushes, disk: Disk, *, limits: BrokerLimits, timeout_ms: int) -> None:
        self._store = store
        self._disk = disk
        self._limits = limits
        self._timeout_ms = timeout_ms
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Waiter] = deque()  # ends and deadlines both increase from left to right
        self._sends = 0  # that wait
        self._asked: list[asyncio.Future[None]] = []  # for a flush that starts from now on
        self._is_wanted = False  # a flush starts after this turn of the loop
        self._is_running = False
        self._pace = DiskPace()
        self._failure: BaseException | None = None
        self._watchers: list[Callable[[], None]] = []

    def __len__(self) -> int:
        """How many sends wait."""
        return self._sends

    @property
    def room(self) -> int:
        """How many more sends may wait."""
        return max(0, self._limits.unflushed_waiters - self._sends)

    @property
    def failure(self) -> BaseException | None:
        """The error after which the disk accepts nothing more, if there was one."""
        return self._failure

    def check_room(self) -> None:
        """Raise LimitReached when no further send may wait; called before the message is stored."""
        if not self.room:
            raise self._limits.refuse("unflushed_waiters", "the disk is slower than the senders")

    def wait(self, end: int, answer: OnFlushed, *, now: int, sends: int = 1) -> None:
        """Call `answer` when everything before log offset `end` is on the disk, or after the timeout.

        It answers so many sends at once.
        """
        if self._failure is not None:
            answer(False)
            return
        self._waiting.append(_Waiter(end, now + self._timeout_ms, answer, sends))
        self._sends += sends
        if self._is_running:
            # Among many sends: answer for a flush that has ended without waiting for the end of this turn.
            self._disk.look()
        else:
            self._want()

    def expire(self, now: int) -> None:
        """Answer the sends whose time is over: their messages are stored, but may not be on the disk."""
        while self._waiting and self._waiting[0].deadline <= now:
            self._next().answer(False)

    def _next(self) -> _Waiter:
        waiter = self._waiting.popleft()
        self._sends -= waiter.sends
        return waiter

    async def run(self, idle_ms: int) -> None:
        """Flush every `idle_ms`, whether a send waits or not, until cancelled."""
        while True:
            await asyncio.sleep(idle_ms / 1000)
            await self.flush()

    async def flush(self) -> None:
        """Return when a flush that started after this call has ended and all sends that waited for it are answered."""
        ended = self._loop.create_future()
        self._asked.append(ended)
        self._want()
        await ended

    def want(self) -> None:
        """Flush soon, and once more if a flush is running; nobody waits for it."""
        if not self._asked:
            self._asked.append(self._loop.create_future())
        self._want()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` after each flush, when those that waited for it are answered."""
        self._watchers.append(watcher)

    def close(self) -> None:
        """Close the disk after the running flush."""
        self._disk.close()

    # Callbacks, not coroutines: each turn of the loop between a send and its answer adds to the sender's wait.

    def _want(self) -> None:
        """Begin a flush after this turn of the loop, or now if it is worth it."""
        if self._is_running:
            return
        if self._sends >= _ENOUGH:
            self._begin()
        elif not self._is_wanted:
            self._is_wanted = True
            self._loop.call_soon(self._begin_wanted)

    def _begin_wanted(self) -> None:
        self._is_wanted = False
        if not self._is_running:
            self._begin()

    def _begin(self) -> None:
        self._is_running = True
        served, self._asked = self._asked, []
        if self._failure is not None:
            self._end(served, None)
            return
        if self._pace.is_quick and self._waiting:
            self._flush_here(served)
            return
        self._disk.flush(partial(self._end, served))

    def _flush_here(self, served: list[asyncio.Future[None]]) -> None:
        try:
            self._store.flush()
        except (GantryError, OSError) as error:
            self._end(served, error)
        else:
            self._end(served, None)

    def _end(self, served: list[asyncio.Future[None]], failure: BaseException | None) -> None:
        self._is_running = False
        if failure is not None:
            _log.error("flush=failed: %s; from now on it is unknown whether messages are on the disk", failure)
            self._failure = failure
        self._pace.learn(self._store.flush_ns)
        flushed = self._store.flushed_log_offset
        while self._waiting and (self._waiting[0].end <= flushed or self._failure is not None):
            waiter = self._next()
            waiter.answer(waiter.end <= flushed)
        for each in served:
            if not each.done():
                each.set_result(None)
        for watcher in self._watchers:
            watcher()
        if self._waiting or self._asked:
            self._want()
