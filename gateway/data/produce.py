"""Produce: one message or many, as JSON or as a raw body, to one topic.

Messages of a request that may go to any queue, and those of one ordering key, are sent as one broker batch: one request
on the wire, consecutive offsets, stored all or not at all. Delayed messages are sent singly: a batch cannot be delayed.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from msgspec import UNSET

from broker_core.clock import now_ms
from broker_core.protocol import properties as names
from gateway.data import idempotency
from gateway.data.idempotency import Claim
from gateway.data.key_order import held_back
from gateway.data.messages import Draft, draft_of_entry, draft_of_raw
from gateway.data.parts import Answer, DataPlaneParts, Request
from gateway.data.produce_answers import answer_of, results_of, shared_problem
from gateway.data.request_head import media_type
from gateway.data.retries import find_ended, identify
from gateway.data.schemas import Entry, Options, ProduceRequest, decode, decoder, invalid
from gateway.data.sending import BATCH_BYTES, SendOutcome, failed, send_all, send_as_batch, send_one
from gateway.data.transactions import prepare
from gateway.data.usual import encode_usual_batch, find_usual, send_usual, send_usual_batch
from gateway.limits import Sizes
from gateway.problems import ATOMIC_NOT_POSSIBLE, SEND_UNCERTAIN, ProblemError

_REQUEST: Final = decoder(ProduceRequest)
_NO_MESSAGE: Final = Entry()
_DEFAULT_OPTIONS: Final = Options()


def produce(parts: DataPlaneParts, request: Request) -> Awaitable[Answer]:
    """Store the messages of the request and answer with the outcome of each; with an Idempotency-Key, only once.

    Not a coroutine itself, as the steps below: each one that is costs every request a frame.
    """
    key = request.headers.get(idempotency.HEADER)
    run = prepare if request.scope["query_string"] else _produce
    if key is not None:
        return idempotency.once(parts, request, key, run)
    return run(parts, request)


def _produce(parts: DataPlaneParts, request: Request, claim: Claim | None = None) -> Awaitable[Answer]:
    if request.headers.get(b"content-type") == b"application/json":
        return _produce_json(parts, request, claim)
    kind = media_type(request.headers)
    if kind == b"application/json":
        return _produce_json(parts, request, claim)
    draft = draft_of_raw(request.scope["headers"], request.body, request.route.topic, sizes=parts.limits.sizes)
    return _send_one(parts, request, draft, _DEFAULT_OPTIONS, claim)


def _produce_json(parts: DataPlaneParts, request: Request, claim: Claim | None) -> Awaitable[Answer]:
    wanted = decode(_REQUEST, request.body)
    options, topic, sizes = wanted.options, request.route.topic, parts.limits.sizes
    if options.flush == "sync":
        raise invalid(
            "#/options/flush", "Only async is possible: whether a send waits for the disk is a setting of the broker."
        )
    is_usual = claim is None and not request.wants_text_offsets
    if wanted.messages is UNSET:
        message = find_usual(wanted, topic, sizes) if is_usual else None
        if message is not None:
            return send_usual(parts, request, message, wanted)
        draft = draft_of_entry(wanted, topic, entry_id=wanted.entry_id or "0", at="#", sizes=sizes)
        return _send_one(parts, request, draft, options, claim)
    entries = wanted.messages
    if len(entries) > sizes.batch_messages:
        raise invalid("#/messages", f"{len(entries)} messages; the limit is {sizes.batch_messages}.")
    check_only_messages(wanted)
    producer = parts.connections.find_producer(request.route.cluster) if is_usual else None
    batch = None if producer is None else encode_usual_batch(producer, wanted, topic, sizes)
    if producer is not None and batch is not None:
        return send_usual_batch(parts, request, producer, batch, wanted)
    return _send_many(parts, request, entries, options, claim)


def _drafts(entries: list[Entry], topic: str, sizes: Sizes) -> tuple[list[Draft], dict[str, SendOutcome]]:
    """Return the messages to send, and the outcomes of invalid ones; raise for a repeated entry id."""
    drafts: list[Draft] = []
    refused: dict[str, SendOutcome] = {}
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        entry_id = entry.entry_id or str(index)
        if entry_id in seen:
            raise invalid(f"#/messages/{index}/entry_id", f"The entry id {entry_id!r} is given twice.")
        seen.add(entry_id)
        try:
            drafts.append(draft_of_entry(entry, topic, entry_id=entry_id, at=f"#/messages/{index}", sizes=sizes))
        except ProblemError as problem:
            refused[entry_id] = failed(entry_id, problem)
    return drafts, refused


async def _send_one(
    parts: DataPlaneParts, request: Request, draft: Draft, options: Options, claim: Claim | None
) -> Answer:
    headers = parts.produce_rate.take(request.principal.key, 1, parts.clock())
    _set_flush([draft], options)
    refused = await parts.delays.serve(request.route.cluster, [draft]) if draft.asks_delay else {}
    ended = refused or await _ended_before(parts, request, [draft], claim)
    outcome = ended.get(draft.entry_id)
    if outcome is None:
        producer = await parts.connections.producer(request.route.cluster)
        outcome = await send_one(producer, draft, timeout_ms=options.timeout_ms, is_repeatable=claim is None)
    if outcome.problem is not None:
        outcome.problem.extra = results_of([outcome], as_text=request.wants_text_offsets)
        raise outcome.problem
    parts.metrics.messages("produced", 1)
    return answer_of(201, [outcome], request, headers)


async def _send_many(
    parts: DataPlaneParts, request: Request, entries: list[Entry], options: Options, claim: Claim | None
) -> Answer:
    headers = parts.produce_rate.take(request.principal.key, len(entries), parts.clock())
    drafts, refused = _drafts(entries, request.route.topic, parts.limits.sizes)
    if options.atomic:
        _check_atomic(drafts, refused)
    _set_flush(drafts, options)
    refused |= await parts.delays.serve(request.route.cluster, drafts)
    keys = [(entry.entry_id or str(index), entry.ordering_key) for index, entry in enumerate(entries)]
    refused |= held_back(keys, refused, {})
    drafts = [draft for draft in drafts if draft.entry_id not in refused]
    by_id = refused | await _ended_before(parts, request, drafts, claim)
    left = [draft for draft in drafts if draft.entry_id not in by_id]
    if left:
        by_id |= await _ship(parts, request, left, options, claim)
    outcomes = [by_id[entry.entry_id or str(index)] for index, entry in enumerate(entries)]
    problems = [outcome.problem for outcome in outcomes if outcome.problem is not None]
    parts.metrics.messages("produced", len(outcomes) - len(problems))
    if not problems:
        return answer_of(201, outcomes, request, headers)
    if len(problems) == len(outcomes) and len({problem.kind for problem in problems}) == 1:
        raise shared_problem(problems[0], outcomes, as_text=request.wants_text_offsets)
    answer = answer_of(207, outcomes, request, headers)
    answer.is_uncertain = any(problem.kind is SEND_UNCERTAIN for problem in problems)
    return answer


async def _ship(
    parts: DataPlaneParts, request: Request, drafts: list[Draft], options: Options, claim: Claim | None
) -> dict[str, SendOutcome]:
    producer = await parts.connections.producer(request.route.cluster)
    if not options.atomic:
        return await send_all(producer, drafts, timeout_ms=options.timeout_ms, is_repeatable=claim is None)
    sent = await send_as_batch(producer, drafts, timeout_ms=options.timeout_ms, is_repeatable=claim is None)
    return {outcome.result.entry_id: outcome for outcome in sent}


async def _ended_before(
    parts: DataPlaneParts, request: Request, drafts: list[Draft], claim: Claim | None
) -> dict[str, SendOutcome]:
    """Return the outcomes of messages in an earlier try with the same key; empty at the first try."""
    if claim is None:
        return {}
    identify(drafts, claim)
    return await find_ended(parts, request.route.cluster, drafts) if claim.is_retry else {}


def _check_atomic(drafts: list[Draft], refused: dict[str, SendOutcome]) -> None:
    """Raise ATOMIC_NOT_POSSIBLE unless one broker batch can hold all, or the problem of a refused message."""
    for outcome in refused.values():
        if outcome.problem is not None:
            raise outcome.problem
    now = now_ms()
    if any(draft.asks_delay and not draft.is_due(now) for draft in drafts):
        raise ProblemError(ATOMIC_NOT_POSSIBLE, "A delayed message cannot be part of an atomic request.")
    if len({draft.ordering_key for draft in drafts}) > 1:
        raise ProblemError(
            ATOMIC_NOT_POSSIBLE, "An atomic request goes to one queue, so it can have at most one ordering key."
        )
    size = sum(draft.size for draft in drafts)
    if size > BATCH_BYTES:
        raise ProblemError(
            ATOMIC_NOT_POSSIBLE, f"About {size:,} bytes do not fit into one broker batch of {BATCH_BYTES:,}."
        )


def check_only_messages(wanted: ProduceRequest) -> None:
    """Raise INVALID for a field of a single message beside a list of messages."""
    for name in ("body", "entry_id", "keys", "tag", "properties", "ordering_key", "delay_ms", "deliver_at"):
        if getattr(wanted, name) != getattr(_NO_MESSAGE, name):
            raise invalid(f"#/{name}", f"With a list of messages, {name} belongs in each message.")


def _set_flush(drafts: list[Draft], options: Options) -> None:
    if options.flush == "async":
        for draft in drafts:
            draft.message.properties[names.WAIT] = "false"
