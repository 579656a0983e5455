"""Usual messages in a usual request, from its bytes to those of its answer without a task for the request.

`begin` takes a request only if the whole way through `gateway.data.app` would come to send the same; it has then done
all checks of that way. Whatever it does not take goes that way from the start.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult
from broker_core.errors import GantryError
from console.accounts.rights import Resource
from gateway.auth import Principal
from gateway.data import idempotency
from gateway.data.parts import DataPlaneParts, Header, wants_text_offsets
from gateway.data.produce import check_only_messages
from gateway.data.request_head import check_headers
from gateway.data.request_ids import RequestIds
from gateway.data.routing import Route, check_target
from gateway.data.schemas import ProduceRequest, decoder
from gateway.data.usual import (
    answer_of_usual,
    answer_of_usual_batch,
    encode_usual_batch,
    find_usual,
    problem_of_usual,
    problem_of_usual_batch,
    submit_usual,
    submit_usual_batch,
)
from gateway.problems import ProblemError, find_problem, internal, respond

_decode: Final = decoder(ProduceRequest).decode
_MOST_MESSAGES: Final = 256
"""The answer to more of them may be large enough to be compressed."""
_JSON: Final = (b"content-type", b"application/json")

Reply = Callable[[int, Sequence[Header], bytes], None]
"""Called once with status, headers and body of the answer."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class QuickCall:
    """The head of a request that may carry usual messages."""

    route: Route
    path: str
    authorization: bytes
    host: bytes
    given_id: bytes | None
    granted_to: Principal | None = None
    """Who was last found to have the right; a principal's rights do not change."""


class _Send(NamedTuple):
    """The usual messages of a request, and what becomes of them."""

    messages: int
    submit: Callable[[], asyncio.Future[SendResult]]
    """Begins to send them; raises a GantryError."""
    answer: Callable[[SendResult], bytes]
    """Returns the answer; raises the problem of messages that are not as safe as promised."""
    problem: Callable[[GantryError], ProblemError]


@dataclass(slots=True, eq=False)
class _Sent:
    """Messages on their way to a broker."""

    call: QuickCall
    send: _Send
    headers: tuple[Header, ...]
    started: float
    reply: Reply


def find_quick_call(
    route: Route, path: str, headers: Sequence[Header], by_name: dict[bytes, bytes]
) -> QuickCall | None:
    """Return what a POST's head says; None if usual messages cannot come with it, or it is to be refused.

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
    """Begins to send usual messages; belongs to one loop."""

    def __init__(self, parts: DataPlaneParts, ids: RequestIds) -> None:
        self._parts = parts
        self._ids = ids

    def begin(self, call: QuickCall, body: bytes, reply: Reply) -> bool:
        """Begin to send the messages of a request if they are usual, and return whether they are; `reply` follows then.

        `reply` is called later, never during this call.
        """
        started = time.perf_counter()
        parts = self._parts
        principal = parts.auth.cached(call.authorization)
        if principal is None or not self._is_granted(call, principal) or not parts.serves_host(call.host):
            return False
        if len(body) > parts.limits.sizes.body_bytes:
            return False
        producer = parts.connections.find_producer(call.route.cluster)
        if producer is None:
            return False
        try:
            wanted = _decode(body)
            send = self._find_send(producer, wanted, call.route.topic)
            if send is None:
                return False
            headers = parts.produce_rate.take(principal.key, send.messages, parts.clock())
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ProblemError):
            return False  # nothing was taken of the rate
        sent = _Sent(call, send, headers, started, reply)
        try:
            send.submit().add_done_callback(partial(self._end, sent))
        except GantryError as error:
            asyncio.get_running_loop().call_soon(self._refuse, sent, send.problem(error))
        return True

    def _find_send(self, producer: Producer, wanted: ProduceRequest, topic: str) -> _Send | None:
        """Return how to send what a request wants; None for what is not usual. Raises a problem, or returns None."""
        sizes = self._parts.limits.sizes
        if wanted.options.flush == "sync":
            return None
        if wanted.messages is UNSET:
            message = find_usual(wanted, topic, sizes)
            if message is None:
                return None
            return _Send(
                1,
                partial(submit_usual, producer, message, wanted),
                partial(answer_of_usual, self._parts, wanted),
                partial(problem_of_usual, wanted),
            )
        if len(wanted.messages) > _MOST_MESSAGES:
            return None
        check_only_messages(wanted)
        batch = encode_usual_batch(producer, wanted, topic, sizes)
        if batch is None or batch.entry_ids[0] is not None:
            return None
        return _Send(
            len(batch.message_ids),
            partial(submit_usual_batch, producer, topic, batch, wanted),
            partial(answer_of_usual_batch, self._parts, batch),
            partial(problem_of_usual_batch, batch),
        )

    def _is_granted(self, call: QuickCall, principal: Principal) -> bool:
        if call.granted_to is not principal:
            if not principal.may("produce", Resource("topic", call.route.topic)):
                return False
            call.granted_to = principal
        return True

    def _end(self, sent: _Sent, answer: asyncio.Future[SendResult]) -> None:
        """Reply to a request whose messages were stored, or not."""
        try:
            content = sent.send.answer(answer.result())
        except GantryError as error:
            self._refuse(sent, sent.send.problem(error))
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
            problem = internal(request_id, is_uncertain=True)
        self._parts.metrics.refused(problem.kind.code)
        self._reply(sent, *respond(problem, instance=call.path, request_id=request_id), request_id)

    def _reply(self, sent: _Sent, status: int, headers: Sequence[Header], content: bytes, request_id: str) -> None:
        sent.reply(status, (*headers, (b"x-request-id", request_id.encode())), content)
        self._parts.metrics.request(sent.call.route.action, status, time.perf_counter() - sent.started)
