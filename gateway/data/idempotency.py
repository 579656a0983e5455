"""Executes a repeated request only once: its answer is kept in Redis and returned again.

One key holds a fingerprint of the request and, when known, the answer. Until then it says how long the request may run;
an older mark is from a process that died or a send without an answer: the next try runs, and knows that an earlier one
may have done its work.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import msgspec
from redis.exceptions import RedisError

from broker_core.clock import now_ms
from console.idempotency import KEEP_MS, MISMATCH, REPLAYED_HEADER, RUNNING, RUNNING_MS, length_fault
from gateway.data.parts import Answer, DataPlaneParts, Request
from gateway.data.request_head import media_type
from gateway.data.routing import Action
from gateway.data.schemas import (
    AckRequest,
    DecideRequest,
    ExtendRequest,
    NackRequest,
    Options,
    ProduceRequest,
    ReceiveRequest,
    decoder,
    invalid,
)
from gateway.problems import (
    IDEMPOTENCY_MISMATCH,
    IN_PROGRESS,
    REDIS_UNREACHABLE,
    SEND_UNCERTAIN,
    TIMED_OUT,
    ProblemError,
    find_problem,
    respond,
)

_PREFIX: Final = "gantry:once:"
_log = logging.getLogger(__name__)

# Failures after which the same request may be tried under the same key: nothing was stored.
_FORGOTTEN: Final = frozenset({500, 502, 503, 429})
REPLAYED: Final = (REPLAYED_HEADER.lower().encode(), b"true")
_REPLACE: Final = """
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3])
return 1
"""


_SHAPES: Final[Mapping[Action, msgspec.json.Decoder[Any]]] = {
    "produce": decoder(ProduceRequest),
    "receive": decoder(ReceiveRequest),
    "ack": decoder(AckRequest),
    "nack": decoder(NackRequest),
    "extend": decoder(ExtendRequest),
    "commit": decoder(DecideRequest),
    "rollback": decoder(DecideRequest),
}
_encode_in_order: Final = msgspec.json.Encoder(order="deterministic").encode


class _Kept(msgspec.Struct, array_like=True):
    fingerprint: bytes
    status: int = 0
    body: bytes = b""
    content_type: bytes = b"application/json"
    since_ms: int = 0
    """When the first try began."""
    runs_until_ms: int = 0
    """Without a status: the request runs until then; afterwards its outcome is unknown."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Kept).decode


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to run the request of a key now; seed and time are the same for every try."""

    place: str
    fingerprint: bytes
    since_ms: int
    is_retry: bool
    """Whether an earlier try ended with an unknown outcome."""

    @property
    def seed(self) -> bytes:
        """Twenty bytes that no other key has."""
        return bytes.fromhex(self.place.removeprefix(_PREFIX))


HEADER: Final = b"idempotency-key"
Runner = Callable[[DataPlaneParts, Request, Claim], Awaitable[Answer]]


async def once(parts: DataPlaneParts, request: Request, key: bytes, run: Runner) -> Answer:
    """Run the request, or return the answer of the first one with this caller, route and key within 24 hours.

    An unknown outcome, such as a crash in the middle, is not an answer: the next request runs, and its claim says so.
    Raises IDEMPOTENCY_MISMATCH if the first one was a different request, IN_PROGRESS while it runs.
    """
    fault = length_fault(key)
    if fault is not None:
        raise invalid("Idempotency-Key", fault)
    claim = await _claim(parts, request, key)
    if isinstance(claim, Answer):
        return claim
    try:
        answer = await run(parts, request, claim)
    except Exception as error:
        await _keep_failure(parts, request, claim, error)
        raise
    except BaseException:
        await _keep_uncertain(parts, claim)
        raise
    if answer.is_uncertain:
        await _keep_uncertain(parts, claim)
    else:
        await _keep_answer(parts, claim, answer, KEEP_MS)
    return answer


async def once_if_named(
    parts: DataPlaneParts, request: Request, run: Callable[[DataPlaneParts, Request], Awaitable[Answer]]
) -> Answer:
    """Run the request; with an Idempotency-Key, once."""
    key = request.headers.get(HEADER)
    if key is None:
        return await run(parts, request)

    async def claimed(parts: DataPlaneParts, request: Request, _: Claim) -> Answer:
        return await run(parts, request)

    return await once(parts, request, key, claimed)


async def remembered(
    parts: DataPlaneParts, request: Request, key: bytes, run: Runner, *, keep_ms: Callable[[Answer], int]
) -> Answer:
    """Like `once` for what may safely run again, and a key of any length; `keep_ms` says how long an answer is kept."""
    claim = await _claim(parts, request, key)
    if isinstance(claim, Answer):
        return claim
    try:
        answer = await run(parts, request, claim)
    except Exception as error:
        problem = find_problem(error)
        if problem is None or problem.kind.status in _FORGOTTEN or problem.kind is TIMED_OUT:
            await _forget(parts, claim)
        else:
            await _keep_problem(parts, request, claim, problem)
        raise
    except BaseException:
        await _forget(parts, claim)
        raise
    await _keep_answer(parts, claim, answer, keep_ms(answer))
    return answer


async def _claim(parts: DataPlaneParts, request: Request, key: bytes) -> Claim | Answer:
    """Mark the request as running and return the right to run it, or return what is kept of an earlier one."""
    place, fingerprint, now = _place(request, key), _fingerprint(request), now_ms()
    first = _encode(_Kept(fingerprint, since_ms=now, runs_until_ms=now + RUNNING_MS))
    try:
        pipe = parts.redis.pipeline(transaction=True)
        pipe.set(place, first, nx=True, px=KEEP_MS)
        pipe.get(place)
        is_first, found = await pipe.execute()
        if is_first:
            return Claim(place, fingerprint, now, is_retry=False)
        kept = _decode(found)
        if kept.fingerprint != fingerprint:
            raise ProblemError(IDEMPOTENCY_MISMATCH, MISMATCH)
        if kept.status:
            return Answer(kept.status, kept.body, (REPLAYED,), kept.content_type)
        again = _encode(_Kept(fingerprint, since_ms=kept.since_ms, runs_until_ms=now + RUNNING_MS))
        is_over = kept.runs_until_ms <= now
        if not is_over or not await parts.redis.eval(_REPLACE, 1, place, found, again, str(KEEP_MS)):
            raise ProblemError(IN_PROGRESS, RUNNING)
    except RedisError as error:
        raise ProblemError(REDIS_UNREACHABLE, f"Idempotency-Key needs Redis, which does not answer: {error}") from error
    return Claim(place, fingerprint, kept.since_ms, is_retry=True)


async def _keep_failure(parts: DataPlaneParts, request: Request, claim: Claim, error: Exception) -> None:
    """Keep a refusal, since it would repeat; forget a failure that stored nothing; mark an uncertain outcome."""
    problem = find_problem(error)
    if problem is None or problem.kind is SEND_UNCERTAIN:
        await _keep_uncertain(parts, claim)
    elif problem.kind.status not in _FORGOTTEN and problem.kind is not TIMED_OUT:
        await _keep_problem(parts, request, claim, problem)
    elif claim.is_retry:
        await _keep_uncertain(parts, claim)  # this try stored nothing, but the one before may have
    else:
        await _forget(parts, claim)


async def _keep_answer(parts: DataPlaneParts, claim: Claim, answer: Answer, keep_ms: int) -> None:
    if keep_ms > 0:
        await _keep(parts, claim, _Kept(claim.fingerprint, answer.status, answer.body), keep_ms)
    else:
        await _forget(parts, claim)


async def _keep_problem(parts: DataPlaneParts, request: Request, claim: Claim, problem: ProblemError) -> None:
    status, headers, body = respond(problem, instance=request.scope["path"], request_id=request.id)
    await _keep(parts, claim, _Kept(claim.fingerprint, status, body, dict(headers)[b"content-type"]), KEEP_MS)


async def _keep_uncertain(parts: DataPlaneParts, claim: Claim) -> None:
    await _keep(parts, claim, _Kept(claim.fingerprint, since_ms=claim.since_ms), KEEP_MS)


async def _keep(parts: DataPlaneParts, claim: Claim, kept: _Kept, keep_ms: int) -> None:
    try:
        await parts.redis.set(claim.place, _encode(kept), px=keep_ms)
    except RedisError as error:
        # The running mark expires; then the outcome counts as unknown, which is right.
        _log.warning("the answer to an Idempotency-Key could not be stored: %s", error)


async def _forget(parts: DataPlaneParts, claim: Claim) -> None:
    try:
        await parts.redis.delete(claim.place)
    except RedisError as error:
        _log.warning("an Idempotency-Key could not be freed: %s", error)


def _place(request: Request, key: bytes) -> str:
    route = request.route
    parts = (request.principal.key, route.action, route.cluster, route.group or route.transaction, route.topic)
    digest = blake2b(b"\x00".join([*(part.encode() for part in parts), key]), digest_size=20)
    return _PREFIX + digest.hexdigest()


def _fingerprint(request: Request) -> bytes:
    query: bytes = request.scope["query_string"]  # of a produce: what kind of message it is
    is_json = request.route.action != "produce" or media_type(request.headers) == b"application/json"
    if is_json:
        return blake2b(_wanted(request) + query, digest_size=16, person=b"json").digest()
    digest = blake2b(request.body + query, digest_size=16)
    for name, value in sorted(request.scope["headers"]):
        if name == b"content-type" or name.startswith(b"mq-"):
            digest.update(b"\x00" + name + b"\x00" + value)
    return digest.digest()


def _wanted(request: Request) -> bytes:
    """Return what a request of JSON wants in one spelling: blanks, the order of fields and defaults make no difference.

    Nor does how long to wait for the broker, or the name of an attempt, which is the key itself.
    """
    try:
        wanted = _SHAPES[request.route.action].decode(request.body)
        if isinstance(wanted, ProduceRequest):
            wanted.options.timeout_ms = Options().timeout_ms
        elif isinstance(wanted, ReceiveRequest):
            wanted.attempt_id = None
        # Only blanks are dropped from bodies that are JSON: another number is another message.
        return msgspec.json.format(_encode_in_order(wanted), indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return request.body  # it is refused; so is its repetition
