"""The usual message in a usual request, from its bytes to those of its answer without a task.

`begin` takes a request only if the whole way through `gateway.data.app` would come to send this message; it has then
done all checks of that way. Whatever it does not take goes that way from the start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
from msgspec import UNSET

from broker_core.client.sending import SendResult
from broker_core.errors import GantryError
from broker_core.protocol.message import Message
from console.accounts.rights import Resource
from gateway.auth import Principal
from gateway.data import idempotency
from gateway.data.parts import DataPlaneParts, Header, wants_text_offsets
from gateway.data.request_head import check_headers
from gateway.data.request_ids import RequestIds
from gateway.data.routing import Route, check_target
from gateway.data.schemas import ProduceRequest, decoder
from gateway.data.usual import answer_of_usual, find_usual, problem_of_usual, submit_usual
from gateway.problems import ProblemError, find_problem, internal, respond

_decode: Final = decoder(ProduceRequest).decode
_JSON: Final = (b"content-type", b"application/json")

Reply = Callable[[int, Sequence[Header], bytes], None]
"""Called once with status, headers and body of the answer."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class QuickCall:
    """The head of a request that may carry a usual message."""

    route: Route
    path: str
    authorization: bytes
    host: bytes
    given_id: bytes | None
    granted_to: Principal | None = None
    """Who was last found to have the right; a principal's rights do not change."""


@dataclass(slots=True, eq=False)
class _Sent:
    """A message on its way to a broker."""

    call: QuickCall
    message: Message
    wanted: ProduceRequest
    headers: tuple[Header, ...]
    started: float
    reply: Reply


def find_quick_call(
    route: Route, path: str, headers: Sequence[Header], by_name: dict[bytes, bytes]
) -> QuickCall | None:
    """Return what a POST's head says; None if a usual message cannot come with it, or it is to be refused.

    `by_name` has the last value of each of `headers`.
    """
    if route.action != "produce" or by_name.get(b"content-type") != b"application/json":
        return None
    if idempotency.HEADER in by_name or wants_text_offsets(by_name):
        return None
    try:
        check_target(route.topic)
        check_headers(route.action, headers, by_name)
    except ProblemError:
        return None
    given_id = by_name.get(b"x-request-id")
    return QuickCall(route, path, by_name.get(b"authorization", b""), by_name[b"host"], given_id)


class QuickSends:
    """Begins the sends of usual messages; belongs to one loop."""

    def __init__(self, parts: DataPlaneParts, ids: RequestIds) -> None:
        self._parts = parts
        self._ids = ids

    def begin(self, call: QuickCall, body: bytes, reply: Reply) -> bool:
        """Begin to send the message of a request if it is a usual one, and return whether it is; then `reply` follows.

        `reply` is called later, never during this call.
        """
        started = time.perf_counter()
        parts = self._parts
        principal = parts.auth.cached(call.authorization)
        if principal is None or not self._is_granted(call, principal) or not parts.serves_host(call.host):
            return False
        sizes = parts.limits.sizes
        if len(body) > sizes.body_bytes:
            return False
        try:
            wanted = _decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        if wanted.messages is not UNSET or wanted.options.flush == "sync":
            return False
        message = find_usual(wanted, call.route.topic, sizes)
        producer = parts.connections.find_producer(call.route.cluster)
        if message is None or producer is None:
            return False
        try:
            headers = parts.produce_rate.take(principal.key, 1, parts.clock())
        except ProblemError:
            return False  # nothing was taken
        sent = _Sent(call, message, wanted, headers, started, reply)
        try:
            submit_usual(producer, message, wanted).add_done_callback(partial(self._end, sent))
        except GantryError as error:
            asyncio.get_running_loop().call_soon(self._refuse, sent, problem_of_usual(wanted, error))
        return True

    def _is_granted(self, call: QuickCall, principal: Principal) -> bool:
        if call.granted_to is not principal:
            if not principal.may("produce", Resource("topic", call.route.topic)):
                return False
            call.granted_to = principal
        return True

    def _end(self, sent: _Sent, answer: asyncio.Future[SendResult]) -> None:
        """Reply to a request whose message was stored, or not."""
        try:
            content = answer_of_usual(self._parts, sent.message, sent.wanted, answer.result())
        except GantryError as error:
            self._refuse(sent, problem_of_usual(sent.wanted, error))
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the top of a request
            self._refuse(sent, error)
        else:
            headers = (_JSON, *sent.headers, (b"content-length", b"%d" % len(content)))
            self._reply(sent, 201, headers, content, self._ids.of(sent.call.given_id))

    def _refuse(self, sent: _Sent, error: BaseException) -> None:
        call, request_id = sent.call, self._ids.of(sent.call.given_id)
        problem = find_problem(error)
        if problem is None:
            _log.error("request %s: POST %s failed", request_id, call.path, exc_info=error)
            problem = internal(request_id)
        self._parts.metrics.refused(problem.kind.code)
        self._reply(sent, *respond(problem, instance=call.path, request_id=request_id), request_id)

    def _reply(self, sent: _Sent, status: int, headers: Sequence[Header], content: bytes, request_id: str) -> None:
        sent.reply(status, (*headers, (b"x-request-id", request_id.encode())), content)
        self._parts.metrics.request(sent.call.route.action, status, time.perf_counter() - sent.started)
