"""The data plane as an ASGI application: one request from its first byte to its last.

It identifies the caller, checks the rights, reads the body, runs the endpoint and answers; exceptions become problems
(`gateway.problems`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from console.accounts.rights import ANYTHING, Resource
from gateway.auth import Principal
from gateway.compression import LEAST_DATA_BYTES, compressing
from gateway.data import produce, receive, settle, transactions
from gateway.data.parts import Answer, ClientGone, DataPlaneParts, Request
from gateway.data.produce_lines import LineProducer, are_lines
from gateway.data.quick import QuickCall, QuickSends, Reply
from gateway.data.request_head import check_headers, check_media_type, check_query
from gateway.data.routing import Action, Route, check_consumer, check_target
from gateway.limits import MIB, check_body_size
from gateway.problems import (
    MALFORMED,
    METHOD_NOT_ALLOWED,
    NOT_AUTHENTICATED,
    ProblemError,
    find_problem,
    internal,
    respond,
)

Scope = MutableMapping[str, Any]
AsgiEvent = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiEvent]]
Send = Callable[[AsgiEvent], Awaitable[None]]

_log = logging.getLogger(__name__)

_ENDPOINTS: Final[dict[Action, Callable[[DataPlaneParts, Request], Awaitable[Answer]]]] = {
    "produce": produce.produce,
    "receive": receive.receive,
    "ack": settle.ack,
    "nack": settle.nack,
    "extend": settle.extend,
    "commit": transactions.commit,
    "rollback": transactions.rollback,
}
_DISCARDED_BYTES: Final = 32 * MIB


class DataPlane:
    """Serves the routes of `gateway.data.routing` over HTTP."""

    def __init__(self, parts: DataPlaneParts) -> None:
        self._parts = parts
        self._ids = parts.request_ids
        self._quick = QuickSends(parts, self._ids)

    def begin(self, call: QuickCall, body: bytes, reply: Reply) -> bool:
        """Begin to serve a request whose body is whole, if that needs no task; else nothing is done (`quick`)."""
        return self._quick.begin(call, body, reply)

    def refuse(self, problem: ProblemError) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Return status, headers and body of the answer to a request that is not even read; it is counted."""
        self._parts.metrics.refused(problem.kind.code)
        request_id = self._ids.of(None)
        status, headers, body = respond(problem, instance="", request_id=request_id)
        return status, [*headers, (b"x-request-id", request_id.encode())], body

    async def __call__(
        self, route: Route, scope: Scope, receive: Receive, send: Send, let_stream: Callable[[], None] = lambda: None
    ) -> None:
        """Answer one HTTP request; `let_stream` is called for a body that may take any time to arrive."""
        started = time.perf_counter()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        request_id = self._ids.of(headers.get(b"x-request-id"))
        try:
            if scope["method"] != "POST":
                raise ProblemError(
                    METHOD_NOT_ALLOWED, f"{route.action} takes only POST.", headers=[(b"allow", b"POST")]
                )
            self._parts.check_host(headers, scope["headers"])
            principal = await self._admit(route, scope, headers, request_id)
            request = Request(route, scope, headers, b"", principal, self._parts.address_of, request_id, receive)
            if route.action == "produce" and are_lines(headers):
                let_stream()
                await self._produce_lines(request, send)
                self._parts.metrics.request(route.action, 200, time.perf_counter() - started)
                return
            request.body = await read_body(receive, headers, self._parts.limits.sizes.body_bytes)
            self._check_head(route, scope, headers)
            answer = await _ENDPOINTS[route.action](self._parts, request)
            status, content = answer.status, answer.body
            answer_headers = [(b"content-type", answer.content_type), *answer.headers]
            answer_headers.append((b"content-length", b"%d" % len(content)))
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 - the top of a request
            problem = find_problem(error)
            if problem is None:
                _log.exception("request %s: %s %s failed", request_id, scope["method"], scope["path"])
                problem = internal(request_id, is_uncertain=True)
            if problem.kind is NOT_AUTHENTICATED:
                problem = self._count_unknown(problem, route, scope)
            self._parts.metrics.refused(problem.kind.code)
            status, answer_headers, content = respond(problem, instance=scope["path"], request_id=request_id)
        answer_headers.append((b"x-request-id", request_id.encode()))
        if len(content) >= LEAST_DATA_BYTES:
            send = compressing(scope, send, least=LEAST_DATA_BYTES)
        await send({"type": "http.response.start", "status": status, "headers": answer_headers})
        await send({"type": "http.response.body", "body": content})
        self._parts.metrics.request(route.action, status, time.perf_counter() - started)

    def _count_unknown(self, problem: ProblemError, route: Route, scope: Scope) -> ProblemError:
        """Count a request of nobody known for its address; return its problem, or that the address is over the rate."""
        parts = self._parts
        limiter = parts.produce_rate if route.action == "produce" else parts.consume_rate
        try:
            headers = limiter.take(f"a{parts.address_of(scope)}", 1, parts.clock())
        except ProblemError as refusal:
            return refusal
        return ProblemError(problem.kind, problem.detail, headers=[*problem.headers, *headers])

    async def _admit(self, route: Route, scope: Scope, headers: dict[bytes, bytes], request_id: str) -> Principal:
        """Return the caller; raise the problem if there is none, or it may not do this."""
        auth = self._parts.auth
        principal = auth.cached(headers.get(b"authorization", b"")) or await auth.of_request(
            headers, self._parts.address_of(scope)
        )
        self._check_rights(principal, route, scope, request_id)
        return principal

    async def _produce_lines(self, request: Request, send: Send) -> None:
        route, scope, headers = request.route, request.scope, request.headers
        self._check_head(route, scope, headers)
        if scope["query_string"]:
            raise transactions.one_by_one()

        async def check() -> Principal:
            return await self._admit(route, scope, headers, request.id)

        await LineProducer(self._parts, request, send, check).run(request.next_event)

    def _check_head(self, route: Route, scope: Scope, headers: dict[bytes, bytes]) -> None:
        if scope["query_string"]:
            check_query(route.action, scope["query_string"])
        check_media_type(route.action, headers)
        check_headers(route.action, scope["headers"], headers)

    def _check_rights(self, principal: Principal, route: Route, scope: Scope, request_id: str) -> None:
        """Raise a problem unless the names are valid and the caller may do the action; report a missing right."""
        try:
            if route.action == "produce":
                check_target(route.topic)
                principal.require("produce", Resource("topic", route.topic))
            elif route.transaction:
                principal.require("produce", Resource("topic", ANYTHING))  # its id says later which
            else:
                check_consumer(principal, route.topic, route.group)
        except ProblemError as problem:
            self._parts.note_refusal(principal, route.action, scope, problem, request_id)
            raise


async def read_body(receive: Receive, headers: dict[bytes, bytes], limit: int) -> bytes:
    """Return the request's body; raise BODY_TOO_LARGE for one over `limit`, MALFORMED for one that is cut off."""
    announced = headers.get(b"content-length")
    length = int(announced[:20]) if announced is not None and announced.isdigit() else -1
    body, more = _content(await receive())
    # A body of the announced length is complete; asking the server for more would cost another wait.
    if not more or len(body) == length:
        check_body_size(len(body), limit)
        return body
    chunks, size = [body], len(body)
    while more:
        if max(size, length) > limit:
            await _discard(receive)
            check_body_size(max(size, length), limit)
        body, more = _content(await receive())
        chunks.append(body)
        size += len(body)
    check_body_size(size, limit)
    return b"".join(chunks)


async def _discard(receive: Receive) -> None:
    """Discard some more of a body: a client that is still sending does not read an answer before it has finished."""
    size, more = 0, True
    while more and size < _DISCARDED_BYTES:
        body, more = _content(await receive())
        size += len(body)


def _content(message: AsgiEvent) -> tuple[bytes, bool]:
    if message["type"] == "http.disconnect":
        # The server reports a chunk that is not valid in the same way, and that client still reads the answer.
        raise ProblemError(MALFORMED, "The body is cut off, or is not valid chunked encoding.")
    return message.get("body", b""), message.get("more_body", False)
