"""The usual messages: a JSON body with plain keys and tag, stored as hoped for, answered in few steps.

Whatever is not usual goes the way of `messages` and `sending`, which makes the same message, the same answer and every
refusal; `tests/gateway/data/test_usual.py` compares both ways.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec import UNSET

from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult, SendStatus
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.message import Message
from console.moments import rfc3339
from gateway.data.bodies import CONTENT_TYPE, JSON_TYPE
from gateway.data.messages import Draft
from gateway.data.parts import Answer, DataPlaneParts, Request
from gateway.data.produce_answers import answer_of_batch, answer_of_one, results_of, shared_problem
from gateway.data.schemas import Entry, Options, ProduceRequest
from gateway.data.sending import BATCH_BYTES, SendOutcome, failed_by, stored
from gateway.limits import Sizes
from gateway.problems import ProblemError

_MOST_CHARACTERS: Final = 1_000
"""Of the keys, and of the tag; far below the limit of the properties of a message."""
_ENTRY_BYTES: Final = 256
"""What a message takes in a batch beyond its JSON: lengths, unique id, names of properties."""


def find_usual(entry: Entry, topic: str, sizes: Sizes) -> Message | None:
    """Return the message of an entry that is plainly valid; None for any other, which may be valid too."""
    body, keys, tag = entry.body, entry.keys, entry.tag
    if body is UNSET or entry.properties or entry.ordering_key is not None:
        return None
    if entry.delay_ms is not None or entry.deliver_at is not None:
        return None
    data = bytes(body.data)
    if body.encoding != "json" or not data.isascii() or len(data) > sizes.message_bytes:
        return None
    properties: dict[str, str] = {}
    if keys:
        text = " ".join(keys)
        if len(keys) > sizes.keys or text.count(" ") >= len(keys) or not _is_plain(text):
            return None
        properties[names.KEYS] = text
    if tag is not None:
        if "|" in tag or tag == "*" or tag != tag.strip() or not _is_plain(tag):
            return None
        properties[names.TAGS] = tag
    properties[CONTENT_TYPE] = JSON_TYPE
    return Message(topic, data, properties)


def find_all_usual(entries: list[Entry], request: Request, sizes: Sizes) -> list[Message] | None:
    """Return the messages if all are usual, fit one batch, and either all are named differently or none is named."""
    if len(entries) < 2 or len(request.body) + _ENTRY_BYTES * len(entries) > BATCH_BYTES:
        return None
    topic = request.route.topic
    named = {entry.entry_id for entry in entries if entry.entry_id is not None}
    if len(named) not in (0, len(entries)):
        return None
    messages: list[Message] = []
    for entry in entries:
        message = find_usual(entry, topic, sizes)
        if message is None:
            return None
        messages.append(message)
    return messages


def _is_plain(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS and text.isprintable()


async def send_usual(parts: DataPlaneParts, request: Request, message: Message, wanted: ProduceRequest) -> Answer:
    """Store one message; raises the problem of one that was not stored as safely as promised."""
    headers = parts.produce_rate.take(request.principal.key, 1, parts.clock())
    producer = await _producer(parts, request)
    try:
        sent = await submit_usual(producer, message, wanted)
    except GantryError as error:
        raise problem_of_usual(wanted, error) from error
    return Answer(201, answer_of_usual(parts, message, wanted, sent), headers)


def submit_usual(producer: Producer, message: Message, wanted: ProduceRequest) -> asyncio.Future[SendResult]:
    """Begin to send one message as its request wants it."""
    _set_flush([message], wanted.options)
    return producer.submit(message, timeout_ms=wanted.options.timeout_ms)


def answer_of_usual(parts: DataPlaneParts, message: Message, wanted: ProduceRequest, sent: SendResult) -> bytes:
    """Return the answer for a message that was stored; raise the problem if that was not as safe as promised."""
    now = now_ms()
    if sent.status is not SendStatus.SEND_OK:
        raise _problem([_less_safe(wanted, message, sent, sent.message_id, 0, now)])
    parts.metrics.messages("produced", 1)
    return answer_of_one(wanted.entry_id, sent.message_id, sent.queue.queue_id, sent.queue_offset, rfc3339(now))


def problem_of_usual(wanted: ProduceRequest, error: GantryError) -> ProblemError:
    """Return the problem of a message that the client could not send."""
    return _problem([failed_by(wanted.entry_id or "0", error)])


async def send_usual_batch(
    parts: DataPlaneParts, request: Request, messages: list[Message], wanted: ProduceRequest
) -> Answer:
    """Store messages as one batch; raises the problem that all of them have."""
    entries = wanted.messages
    assert entries is not UNSET
    headers = parts.produce_rate.take(request.principal.key, len(messages), parts.clock())
    _set_flush(messages, wanted.options)
    producer = await _producer(parts, request)
    try:
        sent = await producer.send_batch(request.route.topic, messages, timeout_ms=wanted.options.timeout_ms)
    except GantryError as error:
        outcomes = [failed_by(entry.entry_id or str(place), error) for place, entry in enumerate(entries)]
        raise _problem(outcomes) from error
    now = now_ms()
    if sent.status is not SendStatus.SEND_OK:
        pairs = enumerate(zip(entries, messages, sent.message_ids, strict=True))
        raise _problem([_less_safe(entry, each, sent, its, place, now) for place, (entry, each, its) in pairs])
    parts.metrics.messages("produced", len(messages))
    ids = [entry.entry_id for entry in entries]
    body = answer_of_batch(ids, sent.message_ids, sent.queue.queue_id, sent.queue_offset, rfc3339(now))
    return Answer(201, body, headers)


async def _producer(parts: DataPlaneParts, request: Request) -> Producer:
    cluster = request.route.cluster
    return parts.connections.find_producer(cluster) or await parts.connections.producer(cluster)


def _set_flush(messages: list[Message], options: Options) -> None:
    if options.flush == "async":
        for message in messages:
            message.properties[names.WAIT] = "false"


def _less_safe(entry: Entry, message: Message, sent: SendResult, message_id: str, place: int, now: int) -> SendOutcome:
    return stored(Draft(entry.entry_id or str(place), message, None, 0), sent, message_id, place, now)


def _problem(outcomes: list[SendOutcome]) -> ProblemError:
    """Return the problem of a request whose messages all have it; usual ones want offsets as numbers."""
    first = outcomes[0].problem
    assert first is not None
    if len(outcomes) > 1:
        return shared_problem(first, outcomes, as_text=False)
    first.extra = results_of(outcomes, as_text=False)
    return first
