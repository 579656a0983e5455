"""Sends that meet share a request (client/README.md#shared-requests).

::

    send ─► lane of its terms ─► waiting, waiting, … ─┬─ fewer than two requests of the lane under way: in the same turn
                                                      ├─ 128 messages or 512 KiB wait: at once
                                                      └─ else: when one of them is answered, at the latest after 10 ms
                                                         │
             result of each ◄── offset, offset + 1, … ◄──┘ one batch, or a plain send for one message
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from broker_core.client.attempts import Attempts, Terms
from broker_core.client.errors import MessageIllegal, MessageRefused, MessageTooLarge, NotSupported
from broker_core.client.packing import Packed, join
from broker_core.client.sending import SendResult, results_of_each
from broker_core.errors import GantryError

MOST_MESSAGES: Final = 128
MOST_BYTES: Final = 512 * 1024
UNDER_WAY: Final = 2
"""Requests of one lane: while one is answered, the next one can be on its way."""
LONGEST_WAIT_S: Final = 0.01
"""A broker that does not answer must not hold up sends that another one would take."""

_Key = tuple[str, bool, Terms]


@dataclass(slots=True)
class _Send:
    packed: Packed
    answer: asyncio.Future[SendResult]
    deadline: float


@dataclass(slots=True)
class _Lane:
    """The sends of one topic with the same terms, in the order of the calls."""

    key: _Key
    waiting: list[_Send] = field(default_factory=list)
    bytes: int = 0
    under_way: int = 0
    is_due: bool = False
    """Whether the waiting sends leave in this turn of the loop."""
    timer: asyncio.TimerHandle | None = None


class SharedSends:
    """Carries the messages of one producer to brokers, several in one request where they meet."""

    def __init__(self, attempts: Attempts) -> None:
        self._attempts = attempts
        self._lanes: dict[_Key, _Lane] = {}
        self._carrying: set[asyncio.Task[None]] = set()

    def put(self, packed: Packed, terms: Terms) -> asyncio.Future[SendResult]:
        """Return the future result of a message; its error is one of those that `Producer.send` raises."""
        loop = asyncio.get_running_loop()
        key = packed.topic, packed.waits_for_store, terms
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane(key)
        answer: asyncio.Future[SendResult] = loop.create_future()
        lane.waiting.append(_Send(packed, answer, time.monotonic() + terms.timeout_ms / 1000))
        lane.bytes += len(packed.body)
        if not packed.may_share or len(lane.waiting) >= MOST_MESSAGES or lane.bytes >= MOST_BYTES:
            # What waits before it leaves with it: the messages of one queue keep the order of their calls.
            self._leave(lane)
        elif not lane.is_due and lane.under_way < UNDER_WAY:
            lane.is_due = True
            loop.call_soon(self._leave, lane)
        elif not lane.is_due and lane.timer is None:
            lane.timer = loop.call_later(LONGEST_WAIT_S, self._leave, lane)
        return answer

    def _leave(self, lane: _Lane) -> None:
        """Start the requests of all sends that wait."""
        waiting, lane.waiting, lane.bytes, lane.is_due = lane.waiting, [], 0, False
        if lane.timer is not None:
            lane.timer.cancel()
            lane.timer = None
        together: list[_Send] = []
        for send in waiting:
            if send.packed.may_share:
                together.append(send)
                continue
            self._start(lane, together)
            self._start(lane, [send])
            together = []
        self._start(lane, together)

    def _start(self, lane: _Lane, sends: list[_Send]) -> None:
        if sends:
            lane.under_way += 1
            task = asyncio.get_running_loop().create_task(self._carry(lane, sends), name="send")
            self._carrying.add(task)
            task.add_done_callback(self._carrying.discard)

    async def _carry(self, lane: _Lane, sends: list[_Send]) -> None:
        try:
            await self._deliver(lane.key[2], sends)
        finally:
            lane.under_way -= 1
            if lane.waiting:
                if not lane.is_due:
                    self._leave(lane)
            elif not lane.under_way:
                self._lanes.pop(lane.key, None)

    async def _deliver(self, terms: Terms, sends: list[_Send]) -> None:
        """Send them in one request, and tell each caller its result."""
        try:
            packed = sends[0].packed if len(sends) == 1 else join([send.packed for send in sends])
            result = await self._attempts.deliver(packed, terms, sends[0].deadline)
        except (GantryError, UnicodeEncodeError) as error:
            if len(sends) > 1 and _may_concern_one(error):
                for send in sends:
                    await self._deliver(terms, [send])
                return
            _fail(sends, error)
        except Exception as error:  # noqa: BLE001 - the callers raise it
            _fail(sends, error)
        except BaseException as error:
            _fail(sends, error)
            raise
        else:
            for send, its in zip(sends, results_of_each(result), strict=True):
                if not send.answer.done():
                    send.answer.set_result(its)


def _may_concern_one(error: Exception) -> bool:
    """Return whether one message makes the batch impossible, or the broker refused it for one or knows no batches."""
    if isinstance(error, MessageRefused | MessageTooLarge | NotSupported | UnicodeEncodeError):
        return True
    return isinstance(error, MessageIllegal)


def _fail(sends: Sequence[_Send], error: BaseException) -> None:
    for send in sends:
        if not send.answer.done():
            send.answer.set_exception(error)
