"""The same request twice is done once: its answer is kept in Redis and given again.

One key holds a fingerprint of the request and, once it is there, the answer. While the request runs the key is a lock
that ends by itself, so that a process which dies leaves nothing behind that would refuse the next try.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import Final

import msgspec
from redis.exceptions import RedisError

from console.idempotency import KEEP_MS, MISMATCH, REPLAYED_HEADER, RUNNING, RUNNING_MS, length_fault
from gateway.data.parts import Answer, Parts, Request
from gateway.data.schemas import invalid
from gateway.problems import (
    IDEMPOTENCY_MISMATCH,
    IN_PROGRESS,
    REDIS_UNREACHABLE,
    ProblemError,
    find_problem,
    respond,
)

# Failures after which the same request may be tried under the same key: nothing was stored.
_FORGOTTEN: Final = frozenset({500, 502, 503, 429})
_REPLAYED: Final = (REPLAYED_HEADER.lower().encode(), b"true")

Run = Callable[[Parts, Request], Awaitable[Answer]]


class _Kept(msgspec.Struct, array_like=True):
    fingerprint: bytes
    status: int = 0
    body: bytes = b""
    content_type: bytes = b"application/json"


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Kept).decode


async def once(parts: Parts, request: Request, key: bytes, run: Run) -> Answer:
    """Run the request, or return the answer of the first one with this caller, route and key within 24 hours.

    Raises IDEMPOTENCY_MISMATCH when the first one was another request, IN_PROGRESS while it runs.
    """
    fault = length_fault(key)
    if fault is not None:
        raise invalid("Idempotency-Key", fault)
    return await remembered(parts, request, key, run, keep_ms=lambda _: KEEP_MS)


async def remembered(
    parts: Parts, request: Request, key: bytes, run: Run, *, keep_ms: Callable[[Answer], int]
) -> Answer:
    """Like `once` for a key of any length; an answer is kept as long as `keep_ms` says, 0 for not at all."""
    place, fingerprint = _place(request, key), _fingerprint(request)
    kept = await _claim(parts, place, fingerprint)
    if kept is not None:
        return _replay(kept, fingerprint)
    try:
        answer = await run(parts, request)
    except Exception as error:
        await _keep_failure(parts, request, place, fingerprint, error)
        raise
    except BaseException:
        await parts.redis.delete(place)
        raise
    await _keep(parts, place, _Kept(fingerprint, answer.status, answer.body), keep_ms(answer))
    return answer


async def _claim(parts: Parts, place: str, fingerprint: bytes) -> _Kept | None:
    """Return what is kept at the place, or None after having marked it as running."""
    pipe = parts.redis.pipeline(transaction=True)
    pipe.set(place, _encode(_Kept(fingerprint)), nx=True, px=RUNNING_MS)
    pipe.get(place)
    try:
        is_first, found = await pipe.execute()
    except RedisError as error:
        raise ProblemError(REDIS_UNREACHABLE, f"Without Redis nothing can be done once: {error}") from error
    return None if is_first else _decode(found)


def _replay(kept: _Kept, fingerprint: bytes) -> Answer:
    if kept.fingerprint != fingerprint:
        raise ProblemError(IDEMPOTENCY_MISMATCH, MISMATCH)
    if not kept.status:
        raise ProblemError(IN_PROGRESS, RUNNING)
    return Answer(kept.status, kept.body, (_REPLAYED,), kept.content_type)


async def _keep_failure(parts: Parts, request: Request, place: str, fingerprint: bytes, error: Exception) -> None:
    """Keep a refusal, since it would be the same again, and an uncertain end, since a second try might store twice."""
    problem = find_problem(error)
    if problem is None or problem.kind.status in _FORGOTTEN:
        await _keep(parts, place, _Kept(fingerprint), 0)
        return
    status, headers, body = respond(problem, instance=request.scope["path"], request_id=request.id)
    await _keep(parts, place, _Kept(fingerprint, status, body, dict(headers)[b"content-type"]), KEEP_MS)


async def _keep(parts: Parts, place: str, kept: _Kept, keep_ms: int) -> None:
    try:
        if keep_ms > 0:
            await parts.redis.set(place, _encode(kept), px=keep_ms)
        else:
            await parts.redis.delete(place)
    except RedisError:
        # The messages are stored. The lock ends by itself; a repetition meanwhile is told to wait.
        return


def _place(request: Request, key: bytes) -> str:
    route = request.route
    parts = (request.principal.key, route.action, route.cluster, route.group, route.topic)
    digest = blake2b(b"\x00".join([*(part.encode() for part in parts), key]), digest_size=20)
    return f"gantry:once:{digest.hexdigest()}"


def _fingerprint(request: Request) -> bytes:
    digest = blake2b(request.body, digest_size=16)
    for name, value in sorted(request.scope["headers"]):
        if name == b"content-type" or name.startswith(b"mq-"):
            digest.update(b"\x00" + name + b"\x00" + value)
    return digest.digest()
