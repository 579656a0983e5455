"""The usual messages: a JSON body with plain keys and tag, stored as hoped for, answered in few steps.

Whatever is not usual goes the way of `messages` and `sending`, which makes the same message, the same answer and every
refusal; `tests/gateway/data/test_usual.py` compares both ways.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET, Raw

from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult, SendStatus
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.applications import CONTENT_TYPE
from broker_core.protocol.batch import PlainLimits, encode_plain
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties
from broker_core.protocol.topics import is_retry_topic
from console.moments import rfc3339
from gateway.data.bodies import JSON_TYPE
from gateway.data.parts import Answer, DataPlaneParts, Request
from gateway.data.produce_answers import answer_of_batch, answer_of_one, results_of, shared_problem
from gateway.data.schemas import Entry, ProduceRequest
from gateway.data.sending import BATCH_BYTES, SendOutcome, failed_by, stored
from gateway.limits import Sizes
from gateway.problems import ProblemError

_MOST_CHARACTERS: Final = 1_000
"""Of the keys, and of the tag; far below the limit of the properties of a message."""
_COMMON: Final = format_properties({CONTENT_TYPE: JSON_TYPE})
_COMMON_ASYNC: Final = format_properties({CONTENT_TYPE: JSON_TYPE, names.WAIT: "false"})


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


def _is_plain(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS and text.isprintable()


async def send_usual(parts: DataPlaneParts, request: Request, message: Message, wanted: ProduceRequest) -> Answer:
    """Store one message; raises the problem of one that was not stored as safely as promised."""
    headers = parts.produce_rate.take(request.principal.key, 1, parts.clock())
    cluster = request.route.cluster
    producer = parts.connections.find_producer(cluster) or await parts.connections.producer(cluster)
    try:
        sent = await submit_usual(producer, message, wanted)
    except GantryError as error:
        raise problem_of_usual(wanted, error) from error
    return Answer(201, answer_of_usual(parts, wanted, sent), headers)


def submit_usual(producer: Producer, message: Message, wanted: ProduceRequest) -> asyncio.Future[SendResult]:
    """Begin to send one message as its request wants it."""
    if wanted.options.flush == "async":
        message.properties[names.WAIT] = "false"
    return producer.submit(message, timeout_ms=wanted.options.timeout_ms)


def answer_of_usual(parts: DataPlaneParts, wanted: ProduceRequest, sent: SendResult) -> bytes:
    """Return the answer for a message that was stored; raise the problem if that was not as safe as promised."""
    now = now_ms()
    if sent.status is not SendStatus.SEND_OK:
        raise _problem([stored(wanted.entry_id or "0", sent, sent.message_id, 0, now)])
    parts.metrics.messages("produced", 1)
    return answer_of_one(wanted.entry_id, sent.message_id, sent.queue, sent.queue_offset, rfc3339(now))


def problem_of_usual(wanted: ProduceRequest, error: GantryError) -> ProblemError:
    """Return the problem of a message that the client could not send."""
    return _problem([failed_by(wanted.entry_id or "0", error)])


@dataclass(slots=True)
class UsualBatch:
    """Usual messages without an ordering key, encoded as one broker batch."""

    body: bytes
    message_ids: list[str]
    entry_ids: list[str | None]


def encode_usual_batch(producer: Producer, wanted: ProduceRequest, topic: str, sizes: Sizes) -> UsualBatch | None:
    """Return the messages if all are usual, fit one batch, and either all are named differently or none is named."""
    entries = wanted.messages
    if entries is UNSET or not 2 <= len(entries) <= sizes.batch_messages or is_retry_topic(topic):
        return None
    entry_ids = [entry.entry_id for entry in entries]
    if len({each for each in entry_ids if each is not None}) not in (0, len(entries)):
        return None
    bodies: list[Raw] = []
    for entry in entries:
        body = entry.body
        if body is UNSET or body.encoding != "json" or entry.properties or entry.ordering_key is not None:
            return None
        if entry.delay_ms is not None or entry.deliver_at is not None:
            return None
        bodies.append(body.data)
    ids = producer.make_ids(len(entries))
    keys, tags = [entry.keys for entry in entries], [entry.tag for entry in entries]
    common = _COMMON_ASYNC if wanted.options.flush == "async" else _COMMON
    limits = PlainLimits(sizes.keys, _MOST_CHARACTERS, sizes.message_bytes)
    encoded = encode_plain(bodies, keys, tags, ids, common, limits)
    return None if encoded is None or len(encoded) > BATCH_BYTES else UsualBatch(encoded, ids, entry_ids)


def submit_usual_batch(
    producer: Producer, topic: str, batch: UsualBatch, wanted: ProduceRequest
) -> asyncio.Future[SendResult]:
    """Begin to send a batch as its request wants it."""
    waits, timeout_ms = wanted.options.flush != "async", wanted.options.timeout_ms
    return producer.submit_encoded(topic, batch.body, batch.message_ids, waits_for_store=waits, timeout_ms=timeout_ms)


async def send_usual_batch(
    parts: DataPlaneParts, request: Request, producer: Producer, batch: UsualBatch, wanted: ProduceRequest
) -> Answer:
    """Store messages as one batch; raises the problem that all of them have."""
    headers = parts.produce_rate.take(request.principal.key, len(batch.message_ids), parts.clock())
    try:
        sent = await submit_usual_batch(producer, request.route.topic, batch, wanted)
    except GantryError as error:
        raise problem_of_usual_batch(batch, error) from error
    return Answer(201, answer_of_usual_batch(parts, batch, sent), headers)


def answer_of_usual_batch(parts: DataPlaneParts, batch: UsualBatch, sent: SendResult) -> bytes:
    """Return the answer for a batch that was stored; raise the problem if that was not as safe as promised."""
    now = now_ms()
    if sent.status is not SendStatus.SEND_OK:
        pairs = enumerate(zip(batch.entry_ids, batch.message_ids, strict=True))
        raise _problem([stored(name or str(place), sent, its, place, now) for place, (name, its) in pairs])
    parts.metrics.messages("produced", len(batch.message_ids))
    return answer_of_batch(batch.entry_ids, batch.message_ids, sent.queue, sent.queue_offset, rfc3339(now))


def problem_of_usual_batch(batch: UsualBatch, error: GantryError) -> ProblemError:
    """Return the problem of a batch that the client could not send."""
    return _problem([failed_by(name or str(place), error) for place, name in enumerate(batch.entry_ids)])


def _problem(outcomes: list[SendOutcome]) -> ProblemError:
    """Return the problem of a request whose messages all have it; usual ones want offsets as numbers."""
    first = outcomes[0].problem
    assert first is not None
    if len(outcomes) > 1:
        return shared_problem(first, outcomes, as_text=False)
    first.extra = results_of(outcomes, as_text=False)
    return first
