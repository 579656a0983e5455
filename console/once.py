"""Executes a repeated POST only once: its answer is kept in Redis and returned again.

One key holds a fingerprint of the request and, when known, how it ended; a second key holds the answer. While the
request runs the first key is a lock that expires, so that a process that dies does not block later tries. No stored
value reveals a password: fingerprints use the installation's secret key. An answer that contains a secret, such as a
new token's text, is kept for a minute only; after that a repetition gets an error that says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import orjson
import redis
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac
from rest_framework.request import Request

from console.accounts.models import Token
from console.errors import Conflict, Fault, IdempotencyMismatch, InProgress, NotServed, RedisUnreachable
from console.idempotency import KEEP_MS, REPLAYED_HEADER, RUNNING_MS, length_fault
from console.redis_client import store

HEADER: Final = "Idempotency-Key"
SECRET_MS: Final = 60_000
"""How long an answer that contains a secret can be repeated."""
_KEY: Final = "gantry:once:control:"
# Partly done, throttled, or failed on our side: the same request may be tried again with the same key.
_FORGOTTEN: Final = frozenset({207, 429})
_KEPT_HEADERS: Final = ("Content-Type", "Location", "ETag")


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with a key, while it runs."""

    place: str
    fingerprint: str
    answer_ms: int

    def end(self, response: HttpResponseBase) -> None:
        """Keep the answer, or free the key if the same request may be tried again."""
        try:
            if response.status_code in _FORGOTTEN or response.status_code >= 500:
                store().delete(self.place)
                return
            assert isinstance(response, HttpResponse)
            pipe = store().pipeline(transaction=True)
            pipe.set(self.place, orjson.dumps([self.fingerprint, True]), px=KEEP_MS)
            pipe.set(f"{self.place}:answer", _packed(response), px=self.answer_ms)
            pipe.execute()
        except redis.RedisError:
            # The request is done. The lock expires; until then a repetition is asked to wait.
            return

    def forget(self) -> None:
        """Free the key."""
        try:
            store().delete(self.place)
        except redis.RedisError:
            return


def begin(request: Request, *, answer_ms: int) -> KeyedRequest | HttpResponse | None:
    """Return a keyed request that the caller must end, the kept answer of the first request, or None without a key.

    Raises IdempotencyMismatch if the first request was a different one, InProgress while it runs, NotServed for a key
    that is too long or, with `answer_ms` 0, for any key.
    """
    key = request.headers.get(HEADER)
    if key is None or request.method != "POST":
        return None
    _check(key, answer_ms)
    keyed = KeyedRequest(_place(request, key), _fingerprint(request), answer_ms)
    try:
        pipe = store().pipeline(transaction=True)
        pipe.set(keyed.place, orjson.dumps([keyed.fingerprint, False]), nx=True, px=RUNNING_MS)
        pipe.mget(keyed.place, f"{keyed.place}:answer")
        is_first, (found, answer) = pipe.execute()
    except redis.RedisError as error:
        raise RedisUnreachable(f"Idempotency-Key needs Redis, which does not answer: {error}") from error
    return keyed if is_first else _again(keyed, orjson.loads(found), answer)


def _again(keyed: KeyedRequest, found: list[Any], answer: bytes | None) -> HttpResponse:
    fingerprint, has_ended = found
    if fingerprint != keyed.fingerprint:
        raise IdempotencyMismatch
    if not has_ended:
        raise InProgress
    if answer is None:
        raise Conflict("A request with this key is done; its answer contained a secret and is not kept.")
    return _unpacked(answer)


def _check(key: str, answer_ms: int) -> None:
    fault = length_fault(key)
    if fault is None and not answer_ms:
        fault = "This request takes no key, because it changes nothing, or signs in or out; leave the header out."
    if fault is not None:
        raise NotServed([Fault(HEADER, "INVALID", fault)])


def _place(request: Request, key: str) -> str:
    user: Any = request.user
    caller = f"t{request.auth.pk}" if isinstance(request.auth, Token) else f"u{user.pk}"
    return _KEY + salted_hmac("console.once.place", orjson.dumps([caller, request.path, key])).hexdigest()


def _fingerprint(request: Request) -> str:
    query = sorted(request.query_params.lists())
    # The parsed body, not its text: an extra blank does not make a different request.
    body = json.dumps([query, request.data], sort_keys=True, default=str)
    return salted_hmac("console.once.request", body).hexdigest()


def _packed(response: HttpResponse) -> bytes:
    headers = {name: response[name] for name in _KEPT_HEADERS if response.has_header(name)}
    return orjson.dumps([response.status_code, headers, response.content.decode()])


def _unpacked(answer: bytes) -> HttpResponse:
    status, headers, body = orjson.loads(answer)
    return HttpResponse(body, status=status, headers={**headers, REPLAYED_HEADER: "true"})
