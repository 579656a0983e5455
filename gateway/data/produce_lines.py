"""Produce a stream: a message in each line of the request, its result in a line of the answer, in the same order.

Lines that arrived together are sent together, and their results are written before more is read: a client that does not
read its results, or a slow broker, stops the stream at the socket. A line that cannot be stored fails alone; later
lines of its ordering key fail with it, because they must not overtake it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from gateway.auth import Principal
from gateway.data import idempotency
from gateway.data.key_order import held_back
from gateway.data.messages import Draft, draft_of_entry
from gateway.data.parts import DataPlaneParts, Request
from gateway.data.schemas import Entry, Options, Produced, decode, decoder, encode, invalid
from gateway.data.sending import SendOutcome, failed, send_all
from gateway.problems import (
    BODY_TOO_LARGE,
    MALFORMED,
    RATE_LIMITED,
    ProblemError,
    find_problem,
    internal,
)
from gateway.sockets import Receive, Send

LINES: Final = b"application/x-ndjson"
_ENTRY: Final = decoder(Entry)
_TIMEOUT_MS: Final = Options().timeout_ms

_log = logging.getLogger(__name__)


def are_lines(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether the body of a request with these headers is a stream of lines."""
    return headers.get(b"content-type", b"").lower().startswith(LINES)


class _Keyed(Struct):
    """What tells where a line belongs, whatever else is wrong with it."""

    ordering_key: str | None = None


_KEYED: Final = decoder(_Keyed)


def _key_of(line: bytes) -> str | None:
    try:
        return decode(_KEYED, line).ordering_key
    except ProblemError:
        return None


class _Line(NamedTuple):
    """A line that was read."""

    number: str
    name: str
    """The client's name of its message."""
    key: str | None
    read: Draft | ProblemError
    """Its message, or why that cannot be sent."""


class _Ended(Struct, tag_field="type", tag="error"):
    """The last line of a stream that ended early.

    Unless the problem is INTERNAL, no line without a result was stored.
    """

    problem: dict[str, object]


class LineCutter:
    """Cuts the parts of a body into lines of at most `limit` bytes.

    None stands for a longer line. Empty lines are left out.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._is_too_long = False

    def cut(self, part: bytes, *, is_last: bool) -> Iterator[bytes | None]:
        """Return the lines that end in this part; the last part ends the line it begins, too."""
        *ended, rest = part.split(b"\n")
        for piece in [*ended, rest] if is_last else ended:
            self._add(piece)
            line = bytes(self._begun).strip()
            if self._is_too_long or line:
                yield None if self._is_too_long else line
            self._begun.clear()
            self._is_too_long = False
        if not is_last:
            self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._is_too_long = self._is_too_long or len(self._begun) + len(piece) > self._limit
        if self._is_too_long:
            self._begun.clear()
        else:
            self._begun += piece


class LineProducer:
    """One stream of lines. `check` returns the caller if it may still produce, or raises the problem."""

    def __init__(
        self, parts: DataPlaneParts, request: Request, send: Send, check: Callable[[], Awaitable[Principal]]
    ) -> None:
        self._parts = parts
        self._request = request
        self._send = send
        self._check = check
        self._is_answering = False
        self._next_line = 0
        self._broken: dict[str, ProblemError] = {}

    async def run(self, receive: Receive) -> None:
        """Store each line and write its result; raise the problem of a request of which nothing was answered yet.

        A problem after that becomes the last line of the answer.
        """
        if idempotency.HEADER in self._request.headers:
            raise invalid("Idempotency-Key", "A stream of lines has no key; send application/json to repeat a request.")
        try:
            await self._take_all(receive)
        except Exception as error:
            if not self._is_answering:
                raise
            problem = find_problem(error)
            if problem is None:
                _log.exception("request %s: a stream of lines failed", self._request.id)
                problem = internal(self._request.id, is_uncertain=True)
            await self._write(encode(_Ended(problem.brief())) + b"\n")
        await self._send({"type": "http.response.body", "body": b""})

    async def _take_all(self, receive: Receive) -> None:
        sizes, more = self._parts.limits.sizes, True
        cutter = LineCutter(sizes.body_bytes)
        while more:
            event = await receive()
            if event["type"] == "http.disconnect":
                raise ProblemError(MALFORMED, "The body is cut off; the line that it ends in was not stored.")
            more = event.get("more_body", False)
            lines = list(cutter.cut(event.get("body", b""), is_last=not more))
            for begin in range(0, len(lines), sizes.batch_messages):
                await self._store(lines[begin : begin + sizes.batch_messages])
        if not self._is_answering:
            raise invalid("#", "The body has no line; send a JSON object for each message.")

    async def _store(self, lines: list[bytes | None]) -> None:
        await self._wait_for_room(await self._check(), len(lines))
        read = [self._read(line) for line in lines]
        outcomes = await self._outcomes(read)
        results: list[Produced] = []
        for each in read:
            result = outcomes[each.number].result
            result.entry_id = each.name
            results.append(result)
        self._parts.metrics.messages("produced", sum(result.status == "stored" for result in results))
        await self._write(b"".join(map(self._line_of, results)))

    async def _wait_for_room(self, principal: Principal, cost: int) -> None:
        """Wait until the caller's rate allows the messages: reading later is how a stream is slowed down."""
        while True:
            try:
                self._parts.produce_rate.take(principal.key, cost, self._parts.clock())
            except ProblemError as problem:
                if problem.kind is not RATE_LIMITED:
                    raise
                await asyncio.sleep(problem.retry_after_s or 1)
            else:
                return

    def _read(self, line: bytes | None) -> _Line:
        name = number = str(self._next_line)
        self._next_line += 1
        sizes, topic = self._parts.limits.sizes, self._request.route.topic
        try:
            if line is None:
                raise ProblemError(BODY_TOO_LARGE, f"The line has more than {sizes.body_bytes:,} bytes.")
            entry = decode(_ENTRY, line)
            name = entry.entry_id or number
            draft = draft_of_entry(entry, topic, entry_id=number, at="#", sizes=sizes)
        except ProblemError as problem:
            return _Line(number, name, None if line is None else _key_of(line), problem)
        return _Line(number, name, draft.ordering_key, draft)

    async def _outcomes(self, lines: list[_Line]) -> dict[str, SendOutcome]:
        """Send what can be sent; return the outcomes of all by the numbers of their lines."""
        cluster = self._request.route.cluster
        drafts = [each.read for each in lines if isinstance(each.read, Draft)]
        ended = {each.number: failed(each.number, each.read) for each in lines if isinstance(each.read, ProblemError)}
        ended |= await self._parts.delays.serve(cluster, drafts)
        ended |= held_back(((each.number, each.key) for each in lines), ended, self._broken)
        left = [draft for draft in drafts if draft.entry_id not in ended]
        if left:
            producer = await self._parts.connections.producer(cluster)
            ended |= await send_all(producer, left, timeout_ms=_TIMEOUT_MS)
        for draft in left:
            problem = ended[draft.entry_id].holds_back
            if problem is not None and draft.ordering_key is not None:
                self._broken.setdefault(draft.ordering_key, problem)
        return ended

    def _line_of(self, result: Produced) -> bytes:
        if self._request.wants_text_offsets and isinstance(result.offset, int):
            result.offset = str(result.offset)
        return encode(result) + b"\n"

    async def _write(self, lines: bytes) -> None:
        if not self._is_answering:
            self._is_answering = True
            headers = [(b"content-type", LINES), (b"x-request-id", self._request.id.encode())]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": lines, "more_body": True})
