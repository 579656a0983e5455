"""Sends messages to the broker and reports the outcome of each.

Messages are sorted into lanes: those without an ordering key go in broker batches to any queue, those with one in
batches to the queue of that key. Delayed ones go singly, those with a key in their turn. Lanes run concurrently, the
batches of a lane one after another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.producer import Producer
from broker_core.client.selection import queue_for_key
from broker_core.client.sending import SendResult, SendStatus
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.errors import MalformedHandle
from broker_core.protocol.recall_handle import RecallHandle
from broker_core.protocol.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from console.moments import rfc3339
from gateway.data.messages import Draft
from gateway.data.schemas import Produced
from gateway.problems import SEND_UNCERTAIN, STORED_NOT_FLUSHED, ProblemError, find_problem

# Below RocketMQ's 4 MiB for a whole batch, since some sizes are estimates.
BATCH_BYTES: Final = 3_500_000
_LANES_AT_ONCE: Final = 64

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class SendOutcome:
    """The result of one message, with the problem if it was not stored as safely as promised."""

    result: Produced
    problem: ProblemError | None = None

    @property
    def holds_back(self) -> ProblemError | None:
        """The problem with which later messages of the ordering key fail, None if they may follow this one."""
        return None if self.problem is None or self.problem.kind is STORED_NOT_FLUSHED else self.problem


@dataclass(slots=True)
class _Lane:
    queue: MessageQueue | None
    batches: list[list[Draft]]


def failed(entry_id: str, problem: ProblemError) -> SendOutcome:
    """Return the outcome of a message that was not stored, or may not have been."""
    result = Produced(entry_id, "failed", problem=problem.brief())
    if problem.kind is SEND_UNCERTAIN or problem.may_be_done:
        result.status = "unknown"
    return SendOutcome(result, problem)


async def send_one(producer: Producer, draft: Draft, *, timeout_ms: int, is_repeatable: bool = True) -> SendOutcome:
    """Send one message; a refusal by the broker is an outcome, not an exception.

    With `is_repeatable` false, here and below, a message is not sent again if it is unknown whether it was stored.
    """
    try:
        queue = None if draft.ordering_key is None else await _queue_of(producer, draft, timeout_ms)
        sent = await producer.send(draft.message, timeout_ms=timeout_ms, queue=queue, is_repeatable=is_repeatable)
    except GantryError as error:
        return failed(draft.entry_id, _problem_of(error))
    return stored(draft.entry_id, sent, sent.message_id, 0, now_ms(), delayed=draft if draft.asks_delay else None)


async def send_as_batch(
    producer: Producer, drafts: Sequence[Draft], *, timeout_ms: int, is_repeatable: bool = True
) -> list[SendOutcome]:
    """Send all messages as one broker batch; a refusal applies to all of them."""
    try:
        queue = None if drafts[0].ordering_key is None else await _queue_of(producer, drafts[0], timeout_ms)
    except GantryError as error:
        problem = _problem_of(error)
        return [failed(draft.entry_id, problem) for draft in drafts]
    return await _send_batch(producer, drafts, queue, timeout_ms, is_repeatable)


async def send_all(
    producer: Producer, drafts: Sequence[Draft], *, timeout_ms: int, is_repeatable: bool = True
) -> dict[str, SendOutcome]:
    """Send all messages in batches as large as possible; return the outcomes by entry id."""
    limit = asyncio.Semaphore(_LANES_AT_ONCE)

    async def run(lane: _Lane) -> list[SendOutcome]:
        async with limit:
            return await _send_lane(producer, lane, timeout_ms, is_repeatable)

    try:
        lanes = await _lanes(producer, drafts, timeout_ms)
    except GantryError as error:
        return {draft.entry_id: failed(draft.entry_id, _problem_of(error)) for draft in drafts}
    outcomes = await asyncio.gather(*map(run, lanes))
    return {outcome.result.entry_id: outcome for outcome in chain.from_iterable(outcomes)}


async def _lanes(producer: Producer, drafts: Iterable[Draft], timeout_ms: int) -> list[_Lane]:
    alone: list[_Lane] = []
    together: dict[MessageQueue | None, list[Draft]] = {}
    for draft in drafts:
        queue = None if draft.ordering_key is None else await _queue_of(producer, draft, timeout_ms)
        if draft.asks_delay and queue is None:
            alone.append(_Lane(queue, [[draft]]))
        else:
            together.setdefault(queue, []).append(draft)
    return alone + [_Lane(queue, list(_cut(drafts))) for queue, drafts in together.items()]


def _cut(drafts: Iterable[Draft]) -> Iterator[list[Draft]]:
    """Split messages into batches that a broker accepts; a delayed one is a batch of its own."""
    batch: list[Draft] = []
    size = 0
    for draft in drafts:
        more = BATCH_BYTES if draft.asks_delay else draft.size
        if batch and size + more > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(draft)
        size += more
    if batch:
        yield batch


async def _send_lane(producer: Producer, lane: _Lane, timeout_ms: int, is_repeatable: bool) -> list[SendOutcome]:
    outcomes: list[SendOutcome] = []
    broken: dict[str | None, ProblemError] = {}
    for batch in lane.batches:
        # A later message of an ordering key must not overtake one that failed.
        outcomes += [failed(each.entry_id, broken[each.ordering_key]) for each in batch if each.ordering_key in broken]
        left = [each for each in batch if each.ordering_key not in broken]
        sent = await _send_batch(producer, left, lane.queue, timeout_ms, is_repeatable) if left else []
        for draft, outcome in zip(left, sent, strict=True):
            if draft.ordering_key is not None and outcome.holds_back is not None:
                broken.setdefault(draft.ordering_key, outcome.holds_back)
        outcomes += sent
    return outcomes


async def _send_batch(
    producer: Producer, drafts: Sequence[Draft], queue: MessageQueue | None, timeout_ms: int, is_repeatable: bool
) -> list[SendOutcome]:
    try:
        if len(drafts) == 1:
            sent = await producer.send(
                drafts[0].message, timeout_ms=timeout_ms, queue=queue, is_repeatable=is_repeatable
            )
            ids: Sequence[str] = (sent.message_id,)
        else:
            messages = [draft.message for draft in drafts]
            sent = await producer.send_batch(
                messages[0].topic, messages, timeout_ms=timeout_ms, queue=queue, is_repeatable=is_repeatable
            )
            ids = sent.message_ids
    except GantryError as error:
        problem = _problem_of(error)
        return [failed(draft.entry_id, problem) for draft in drafts]
    now = now_ms()
    return [
        stored(draft.entry_id, sent, message_id, place, now, delayed=draft if draft.asks_delay else None)
        for place, (draft, message_id) in enumerate(zip(drafts, ids, strict=True))
    ]


def already_stored(draft: Draft, placed: PlacedMessage) -> SendOutcome:
    """Return the outcome of a message that an earlier request stored."""
    message = placed.message
    result = Produced(draft.entry_id, "stored", message_id=message.message_id)
    result.stored_at = rfc3339(message.store_timestamp)
    if message.topic == TIMER_TOPIC:
        result.deliver_at = rfc3339(int(message.properties.get(names.TIMER_OUT_MS, message.store_timestamp)))
    elif message.topic == SCHEDULE_TOPIC:
        result.deliver_at = rfc3339(message.born_timestamp + draft.delay_ms)
    else:
        result.broker = placed.broker_name
        result.queue_id, result.offset = message.queue_id, message.queue_offset
    return SendOutcome(result)


async def _queue_of(producer: Producer, draft: Draft, timeout_ms: int) -> MessageQueue:
    queues = await producer.queues(draft.message.topic, timeout_ms=timeout_ms)
    return queue_for_key(queues, draft.ordering_key or "")


def failed_by(entry_id: str, error: GantryError) -> SendOutcome:
    """Return the outcome of a message that the client could not send."""
    return failed(entry_id, _problem_of(error))


def stored(
    entry_id: str, sent: SendResult, message_id: str, place: int, now_ms: int, *, delayed: Draft | None = None
) -> SendOutcome:
    """Return the outcome of a stored message, the one at `place` of a batch; `now_ms` is when the answer came.

    `delayed` is the message if it asks for a delay.
    """
    result = Produced(entry_id, "stored", message_id=message_id, stored_at=rfc3339(now_ms))
    due = None if delayed is None else _due_time(delayed, sent, now_ms)
    if due is not None:
        # The broker answers with a position in its schedule; queue and offset are known only when the message is due.
        result.deliver_at = rfc3339(due)
    else:
        result.broker = sent.queue.broker_name
        result.queue_id, result.offset = sent.queue.queue_id, sent.queue_offset + place
    if sent.status is SendStatus.SEND_OK:
        return SendOutcome(result)
    result.status = "stored_not_flushed"
    detail = f"The broker stored the message and answered {sent.status}: a crash or fail-over now may lose it."
    problem = ProblemError(STORED_NOT_FLUSHED, detail)
    result.problem = problem.brief()
    return SendOutcome(result, problem)


def _due_time(draft: Draft, sent: SendResult, now_ms: int) -> int | None:
    """Return when a message is due (ms): as the broker says, or as asked for; None if its time had passed."""
    if sent.recall_handle is not None:
        try:
            return RecallHandle.parse(sent.recall_handle).due
        except MalformedHandle as error:
            _log.warning("the answer to a delayed send: %s", error)
    due = now_ms + draft.delay_ms if draft.deliver_ms is None else draft.deliver_ms
    return due if due > now_ms else None


def _problem_of(error: GantryError) -> ProblemError:
    problem = find_problem(error)
    if problem is None:
        raise error
    return problem
