"""Group commit: sends that wait until the disk has them, and the one flush that serves all of them.

::

    put ──► wait(end, answer) ──┐
    put ──► wait(end, answer) ──┤   one flush elsewhere (disk.py)   flushed up to X
    put ──► wait(end, answer) ──┴──────────────────────────────────► answer(True) for every end ≤ X

While one flush runs, the sends that arrive gather for the next, so the disk is never asked for less than everything
there is. With asynchronous flush no sender waits, and the same flush runs twice a second.

A disk that answers in less time than it takes to hand the work to another thread and back is asked right here, between
two turns of the loop (`DiskPace`); one slow answer, and the thread has it again.

A flush that fails is never tried again as if nothing had happened: the system may have thrown the pages away. All who
wait, and all who come later, are told that their message is not known to be on the disk.
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
# The time that an unknown disk is assumed to need; some dozens of flushes show what it does need.
_UNKNOWN_NS: Final = 10_000_000
# The number of flushes over which a slow one fades to a third of its weight.
_REMEMBERED: Final = 20

_log = get_logger(__name__)

OnFlushed = Callable[[bool], None]
"""Called once: True when the message is on the disk, False when that is not known in time."""


class Flushes(Protocol):
    """What is needed of a store."""

    @property
    def flushed_log_offset(self) -> int:
        """Everything before it is on the disk."""

    @property
    def flush_ns(self) -> int:
        """How long the disk took for the last flush."""

    def flush(self) -> object:
        """Bring what was appended to the disk; called in another thread."""


class DiskPace:
    """Judges from the times of past flushes whether the next will be quick; it forgets a slow one only bit by bit."""

    def __init__(self) -> None:
        self._expected_ns = float(_UNKNOWN_NS)

    @property
    def is_quick(self) -> bool:
        """Whether waiting for the disk costs the loop less than handing the work to a thread."""
        return self._expected_ns < _QUICK_NS

    def learn(self, took_ns: int) -> None:
        """Take note of how long a flush took."""
        self._expected_ns = max(took_ns, self._expected_ns + (took_ns - self._expected_ns) / _REMEMBERED)


@dataclass(slots=True)
class _Waiter:
    end: int
    deadline: int
    answer: OnFlushed


class GroupCommit:
    """The flushes of one store, and who waits for them. Belongs to one event loop."""

    def __init__(self, store: Flushes, disk: Disk, *, limits: BrokerLimits, timeout_ms: int) -> None:
        self._store = store
        self._disk = disk
        self._limits = limits
        self._timeout_ms = timeout_ms
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[_Waiter] = deque()  # ends rise from left to right, and so do deadlines
        self._asked: list[asyncio.Future[None]] = []  # for a flush that begins from now on
        self._is_wanted = False  # one begins when this turn of the loop is over
        self._is_running = False
        self._pace = DiskPace()
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def failure(self) -> BaseException | None:
        """Why the disk takes no more, if it does not."""
        return self._failure

    def check_room(self) -> None:
        """Raise LimitReached when no further send may wait; asked before the message is stored."""
        if len(self._waiting) >= self._limits.unflushed_waiters:
            raise self._limits.refuse("unflushed_waiters", "the disk is slower than the senders")

    def wait(self, end: int, answer: OnFlushed, *, now: int) -> None:
        """Have `answer` called when everything before log offset `end` is on the disk, or after the timeout."""
        if self._failure is not None:
            answer(False)
            return
        self._waiting.append(_Waiter(end, now + self._timeout_ms, answer))
        if self._is_running:
            # In the middle of many sends: a flush that has ended is answered, and the next one begins, without delay.
            self._disk.look()
        else:
            self._want()

    def expire(self, now: int) -> None:
        """Answer those whose time is over: their messages are stored, but not known to be on the disk."""
        while self._waiting and self._waiting[0].deadline <= now:
            self._waiting.popleft().answer(False)

    async def run(self, idle_ms: int) -> None:
        """Flush every `idle_ms`, whether somebody waits or not; ends when it is cancelled."""
        while True:
            await asyncio.sleep(idle_ms / 1000)
            await self.flush()

    async def flush(self) -> None:
        """Return when a flush that began after this call has ended and all that waited for it are answered."""
        ended = self._loop.create_future()
        self._asked.append(ended)
        self._want()
        await ended

    def close(self) -> None:
        """Close the disk after the flush that is under way."""
        self._disk.close()

    # Callbacks, not coroutines: each turn of the loop between a send and its answer is time that the sender waits.

    def _want(self) -> None:
        if not self._is_wanted and not self._is_running:
            self._is_wanted = True
            self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._is_wanted = False
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
            _log.error("flush=failed: %s; messages are no longer known to be on the disk", failure)
            self._failure = failure
        self._pace.learn(self._store.flush_ns)
        flushed = self._store.flushed_log_offset
        while self._waiting and (self._waiting[0].end <= flushed or self._failure is not None):
            waiter = self._waiting.popleft()
            waiter.answer(waiter.end <= flushed)
        for each in served:
            if not each.done():
                each.set_result(None)
        if self._waiting or self._asked:
            self._begin()
