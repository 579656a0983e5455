"""Sends windows of copies, and finds out what became of those of which the outcome is not known."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.config import local_ip
from broker_core.client.errors import ClientError, NoRoute, SendUncertain, TopicReadOnly, Unreachable
from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult
from broker_core.clock import now_ms
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.dead_letters import cause_of
from broker_core.protocol.message import Message
from broker_core.protocol.message_id import UniqueIds
from broker_core.redrive.copies import NotPossible, copy_of, outcome_of, target_of
from broker_core.redrive.journal import Intent, Journal, Outcome, stored_at
from broker_core.redrive.request import RedriveRequest

_SEND_MS: Final = 10_000
_LOOKS: Final = 5
_BETWEEN_LOOKS_S: Final = 0.3


class NoneReached(ClientError):
    """No copy of a window reached a broker: the cluster is away, and the messages are not to blame."""


class Sender:
    """Sends copies for one run of a job."""

    def __init__(self, admin: Admin, producer: Producer, journal: Journal, request: RedriveRequest) -> None:
        self._admin = admin
        self._producer = producer
        self._journal = journal
        self._request = request
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
        results = await asyncio.gather(*(self._try(message) for _, message in drafts))
        if results and all(_is_away(each) for each in results):
            raise NoneReached(str(results[0]))
        ended = [self._ended(intent, result) for (intent, _), result in zip(drafts, results, strict=True)]
        self._journal.end(await asyncio.gather(*ended))

    async def settle(self) -> int:
        """Find the copies that an earlier run may have stored, and note those that are; return how many are."""
        found = await asyncio.gather(*(self._look(each, looks=1) for each in self._journal.open_intents()))
        stored = [each for each in found if each is not None]
        self._journal.end(stored)
        return len(stored)

    async def _try(self, message: Message) -> SendResult | ClientError:
        try:
            return await self._producer.send(message, timeout_ms=_SEND_MS, is_repeatable=False)
        except ClientError as error:
            return error

    async def _ended(self, intent: Intent, result: SendResult | ClientError) -> Outcome:
        if isinstance(result, SendResult):
            sent = replace(intent.letter, copy_id=result.message_id)
            return stored_at(sent, result.queue, result.queue_offset)
        if not isinstance(result, SendUncertain):
            return replace(intent.letter, why=str(result))
        found = await self._look(intent, looks=_LOOKS)
        return found or replace(intent.letter, copy_id=intent.copy_id, why=f"not known whether stored: {result}")

    async def _look(self, intent: Intent, *, looks: int) -> Outcome | None:
        """Return the outcome if the copy is stored; raise what the search raises if a broker does not answer."""
        for number in range(looks):
            if number:
                await asyncio.sleep(_BETWEEN_LOOKS_S)
            placed = await self._admin.messages.find(intent.topic, intent.copy_id)
            if placed is not None:
                queue = MessageQueue(intent.topic, placed.broker_name, placed.message.queue_id)
                return stored_at(replace(intent.letter, copy_id=intent.copy_id), queue, placed.message.queue_offset)
        return None


def _is_away(result: SendResult | ClientError) -> bool:
    """Return whether nothing was sent because no broker could be reached."""
    if isinstance(result, TopicReadOnly):
        return False
    return isinstance(result, (Unreachable, NoRoute)) and not isinstance(result, SendUncertain)
