"""Requests that take long wait for each other, and nothing else waits for them (namesrv/README.md#turns).

A few bytes can ask for a list of a million topics, and a peer may send thousands of such requests at once. What comes
in one turn of the loop is carried out at once until that took `TURN_SECONDS`. The rest waits in a line for each
connection, and of the lines one request at a time is carried out. After each the loop serves others for as long.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeAlias

from broker_core.protocol import Command
from broker_core.remoting import Connection, Handler
from broker_core.remoting.connection import Result

TURN_SECONDS: Final = 0.02
_LONGEST_REST_SECONDS: Final = 0.5

_Answer: TypeAlias = asyncio.Future[Command | None]
_Job: TypeAlias = tuple[Callable[[], Result], _Answer]


class Turns:
    """Limits how long the requests of one server take of each turn of the loop. Belongs to one loop."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """`clock` returns seconds."""
        self._clock = clock
        self._spent = 0.0  # seconds of this turn of the loop
        self._is_new_turn_due = False
        self._lines: dict[Connection, deque[_Job]] = {}  # the first one is next
        self._working: asyncio.Task[None] | None = None

    def limited(self, handler: Handler) -> Handler:
        """Return a handler that does what `handler` does, at once or when it is its connection's turn."""

        def handle(request: Command, connection: Connection) -> Result:
            work = partial(handler, request, connection)
            if connection in self._lines or self._spent > TURN_SECONDS:
                return self._later(connection, work)
            return self._timed(work)

        return handle

    async def close(self) -> None:
        """Carry out nothing more of what waits."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait([self._working])
        for line in self._lines.values():
            for _, answer in line:
                answer.cancel()

    def _timed(self, work: Callable[[], Result]) -> Result:
        began = self._clock()
        try:
            return work()
        finally:
            self._spent += self._clock() - began
            if not self._is_new_turn_due:
                self._is_new_turn_due = True
                asyncio.get_running_loop().call_soon(self._begin_turn)

    def _begin_turn(self) -> None:
        self._spent = 0.0
        self._is_new_turn_due = False

    def _later(self, connection: Connection, work: Callable[[], Result]) -> _Answer:
        answer: _Answer = asyncio.get_running_loop().create_future()
        self._lines.setdefault(connection, deque()).append((work, answer))
        if self._working is None:
            self._working = asyncio.create_task(self._work(), name="name server: requests that take long")
        return answer

    async def _work(self) -> None:
        while self._lines:
            connection = next(iter(self._lines))
            line = self._lines.pop(connection)
            if connection.is_closing:
                for _, answer in line:
                    answer.cancel()
                continue
            work, answer = line.popleft()
            if line:
                self._lines[connection] = line  # behind the others
            began = self._clock()
            if not answer.done():
                _carry_out(work, answer)
            await asyncio.sleep(min(self._clock() - began, _LONGEST_REST_SECONDS))
        self._working = None


def _carry_out(work: Callable[[], Result], answer: _Answer) -> None:
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 - it is the outcome of the answer, as of any handler
        answer.set_exception(error)
        return
    if isinstance(result, Awaitable):
        asyncio.ensure_future(result).add_done_callback(partial(_pass_on, answer))
    else:
        answer.set_result(result)


def _pass_on(answer: _Answer, ended: asyncio.Future[Command | None]) -> None:
    if answer.done() or ended.cancelled():
        answer.cancel()
    elif (error := ended.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(ended.result())
