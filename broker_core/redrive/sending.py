"""Sends windows of copies, and finds out what became of those of which the outcome is not known."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from broker_core.client.admin import Admin, NotSettled
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.errors import (
    BrokerBusy,
    BrokerUnavailable,
    ClientError,
    NoRoute,
    SendUncertain,
    TopicNotFound,
    TopicReadOnly,
    Unreachable,
)
from broker_core.client.producer import Producer
from broker_core.client.retry import backoff
from broker_core.client.sending import SendResult
from broker_core.clock import now_ms
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.dead_letters import cause_of
from broker_core.protocol.message import Message
from broker_core.protocol.message_id import UniqueIds
from broker_core.redrive.copies import NotPossible, copy_of, outcome_of, target_of
from broker_core.redrive.journal import Intent, Journal, Outcome, stored_at
from broker_core.redrive.request import RedriveRequest
from broker_core.remoting.own_address import local_ip

_SEND_MS: Final = 10_000
_PATIENCE_S: Final = 60.0
"""For the outcome of a send, over a change of master too."""
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 2.0
# Right after a change of master a name server may not know the topic.
_LATER: Final = (NotSettled, BrokerBusy, BrokerUnavailable, Unreachable, NoRoute, TopicNotFound)


class NoneReached(ClientError):
    """No copy of a window reached a broker: the cluster is away, and the messages are not to blame."""


class Sender:
    """Sends copies for one run of a job."""

    def __init__(
        self, admin: Admin, producer: Producer, journal: Journal, request: RedriveRequest, stop: asyncio.Event
    ) -> None:
        """`stop` ends the waiting for outcomes."""
        self._admin = admin
        self._producer = producer
        self._journal = journal
        self._request = request
        self._stop = stop
        # Every run has other ids, as the loader is the attempt.
        self._ids = UniqueIds(ip=local_ip(), pid=hash(request.job_id) & 0xFFFF, loader=now_ms() & 0xFFFFFFFF)

    async def send(self, letters: Sequence[PlacedMessage]) -> None:
        """Send a copy of each dead letter and note the outcomes; raise NoneReached if no broker took any."""
        refused: list[Outcome] = []
        drafts: list[tuple[Intent, Message]] = []
        for placed in letters:
            failed = outcome_of(placed, cause_of(placed.message).text)
            try:
                topic = target_of(placed.message, self._request)
            except NotPossible as error:
                refused.append(replace(failed, why=str(error)))
                continue
            copy_id = self._ids.make(now_ms())
            intent = Intent(letter=replace(failed, topic=topic), topic=topic, copy_id=copy_id)
            drafts.append((intent, copy_of(placed, topic, copy_id, self._request)))
        self._journal.end(refused)
        self._journal.intend([intent for intent, _ in drafts])
        results = await asyncio.gather(*(self._deliver(*draft) for draft in drafts))
        if results and all(_is_away(each) for each in results):
            raise NoneReached(str(results[0]))
        self._journal.end([_ended(intent, result) for (intent, _), result in zip(drafts, results, strict=True)])

    async def settle(self) -> int:
        """Find the copies that an earlier run may have stored, and note those that are; return how many are.

        One of which it is still not known is noted as such, and this run does not send it.
        """
        intents = self._journal.open_intents()
        found = await asyncio.gather(*(self._find(each) for each in intents))
        noted = [
            each or _not_stored(intent)
            for intent, each in zip(intents, found, strict=True)
            if each is not None or self._journal.is_unknown(intent.letter.source)
        ]
        self._journal.end(noted)
        return sum(each.outcome == "redriven" for each in noted)

    async def _deliver(self, intent: Intent, message: Message) -> SendResult | ClientError | Outcome:
        """Send a copy; one that is not confirmed only again if it is known that it is not stored."""
        ends = time.monotonic() + _PATIENCE_S
        while True:
            result = await self._try(message)
            if not isinstance(result, SendUncertain):
                return result
            found = await self._find(intent, broker_name=result.broker_name, failure=result)
            if found is not None:
                return found
            if self._stop.is_set() or time.monotonic() >= ends:
                return _not_stored(intent)

    async def _try(self, message: Message) -> SendResult | ClientError:
        try:
            return await self._producer.send(message, timeout_ms=_SEND_MS, is_repeatable=False)
        except ClientError as error:
            return error

    async def _find(
        self, intent: Intent, *, broker_name: str | None = None, failure: SendUncertain | None = None
    ) -> Outcome | None:
        """Return the outcome of a copy if it is stored, or if nobody can say in time; None if it is not stored."""
        reason: ClientError | None = failure
        for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=_PATIENCE_S):
            if await self._is_stopped_within(pause_s):
                break
            try:
                placed = await self._admin.settled.find(intent.topic, intent.copy_id, broker_name=broker_name)
            except _LATER as error:
                reason = error
                continue
            except ClientError as error:
                reason = error
                break
            return None if placed is None else _found(intent, placed)
        why = f"not known whether stored: {reason or 'the run was stopped before it was looked for'}"
        return replace(intent.letter, outcome="unknown", copy_id=intent.copy_id, why=why)

    async def _is_stopped_within(self, pause_s: float) -> bool:
        if pause_s:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause_s)
        return self._stop.is_set()


def _ended(intent: Intent, result: SendResult | ClientError | Outcome) -> Outcome:
    match result:
        case Outcome():
            return result
        case SendResult():
            return stored_at(replace(intent.letter, copy_id=result.message_id), result.queue, result.queue_offset)
    return replace(intent.letter, why=str(result))


def _found(intent: Intent, placed: PlacedMessage) -> Outcome:
    queue = MessageQueue(intent.topic, placed.broker_name, placed.message.queue_id)
    return stored_at(replace(intent.letter, copy_id=intent.copy_id), queue, placed.message.queue_offset)


def _not_stored(intent: Intent) -> Outcome:
    return replace(intent.letter, why="it was sent and is not stored")


def _is_away(result: SendResult | ClientError | Outcome) -> bool:
    """Return whether nothing was sent because no broker could be reached."""
    if isinstance(result, TopicReadOnly):
        return False
    return isinstance(result, (Unreachable, NoRoute)) and not isinstance(result, SendUncertain)
