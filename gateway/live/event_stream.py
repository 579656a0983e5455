"""The live sockets for clients that read server-sent events (the HTML standard's `text/event-stream`).

::

    GET /ws/v1/lag?groups=billing,ship-*        Accept: text/event-stream
    id: 9f0c…:1
    data: {"type":"snapshot","seq":1,…}

The query is the first frame of the socket: lists separated by commas, inner fields by their path (`filter.tags=paid`).
The frames are those of the socket. An `id` stands where one can go on; a client sends the last one as `Last-Event-ID`
when it connects again, as browsers do by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec
import orjson
from msgspec import Struct

from gateway import problems, sockets
from gateway.data.schemas import invalid
from gateway.live.events import SubscribeFrame
from gateway.live.lag import WatchFrame
from gateway.live.tail.frames import StartFrame
from gateway.problems import METHOD_NOT_ALLOWED, UPGRADE_REQUIRED, FieldError, ProblemError, ProblemKind
from gateway.sockets import App, Event, Receive, Scope, Send

CONTENT_TYPE: Final = b"text/event-stream"
# How long an error may take that is answered as a status of HTTP rather than as an event.
_FIRST_SECONDS: Final = 1.0
_MOST_QUERY: Final = 16_384
_BLANKS: Final = bytes.maketrans(b"\r\n", b"  ")


class _Head(Struct):
    """What an event needs to know of a frame."""

    type: str
    subject: str | None = None
    seq: int | None = None
    resume: str | None = None
    session: str | None = None
    problem: dict[str, Any] | None = None


_HEAD: Final = msgspec.json.Decoder(_Head)
_KINDS: Final = {each.code: each for each in vars(problems).values() if isinstance(each, ProblemKind)}


@dataclass(frozen=True, slots=True)
class Channel:
    """How the query of one path becomes its first frame, and where a stream goes on."""

    frame: type[Struct]
    kind: str
    id_of: Callable[[_Head, str], str | None]
    go_on: Callable[[dict[str, Any], str], None]


def _number_in_activity(head: _Head, _: str) -> str | None:
    """Return the number of the events: of all subjects only activities go on where they were."""
    subject = head.subject or ""
    return f"{subject}={head.seq}" if subject.startswith("activity:") and head.seq is not None else None


def _number_in_session(head: _Head, session: str) -> str | None:
    return None if head.seq is None else f"{session}:{head.seq}"


def _place_in_topics(head: _Head, _: str) -> str | None:
    return head.resume


def _after_frame(frame: dict[str, Any], last_id: str) -> None:
    session, _, seq = last_id.partition(":")
    if session and seq.isdecimal():
        frame["after"] = {"session": session, "last_seq": int(seq[:18])}


def _after_place(frame: dict[str, Any], last_id: str) -> None:
    frame["resume"] = last_id


def _after_events(frame: dict[str, Any], last_id: str) -> None:
    """Go on with one activity; each other subject begins with its whole state."""
    subject, _, seq = last_id.rpartition("=")
    if subject in frame.get("subjects", ()) and seq.isdecimal() and len(seq) < 17:
        frame["after"] = {subject: int(seq)}


CHANNELS: Final[Mapping[str, Channel]] = {
    "/ws/v1/events": Channel(SubscribeFrame, "subscribe", _number_in_activity, _after_events),
    "/ws/v1/lag": Channel(WatchFrame, "watch", _number_in_session, _after_frame),
    "/ws/v1/tail": Channel(StartFrame, "start", _place_in_topics, _after_place),
}


def check_asked(scope: Scope) -> None:
    """Raise UPGRADE_REQUIRED or METHOD_NOT_ALLOWED unless a request asks for a live channel as server-sent events."""
    if scope["method"] != "GET":
        raise ProblemError(METHOD_NOT_ALLOWED, "Only GET is allowed.", headers=[(b"allow", b"GET")])
    has_stream = scope["path"] in CHANNELS
    if has_stream and any(name == b"accept" and CONTENT_TYPE in value for name, value in scope["headers"]):
        return
    detail = "This path is a WebSocket: connect with 'Connection: Upgrade' and 'Upgrade: websocket'"
    if has_stream:
        detail += f", or read it as server-sent events with 'Accept: {CONTENT_TYPE.decode()}'"
    raise ProblemError(UPGRADE_REQUIRED, f"{detail}.", headers=[(b"upgrade", b"websocket")])


def first_frame(channel: Channel, query: bytes, last_id: str | None) -> bytes:
    """Return the frame that the query stands for; raise INVALID for one that is too long or names a field wrongly."""
    if len(query) > _MOST_QUERY:
        raise invalid("?", f"The query has {len(query):,} bytes; the limit is {_MOST_QUERY:,}.")
    frame: dict[str, Any] = {"type": channel.kind}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name != "ticket":
            _put(frame, name, _value(channel.frame, name.split("."), value))
    if last_id:
        channel.go_on(frame, last_id)
    # Not by orjson: it takes no number of more than 64 bits, which is the frame's reader's to refuse.
    return msgspec.json.encode(frame)


def _put(frame: dict[str, Any], name: str, value: Any) -> None:
    *path, last = name.split(".")
    inner = frame
    for part in path:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise invalid(f"?{name}", f"{part!r} has no fields.")
    if last in inner:
        raise invalid(f"?{name}", f"{name!r} is given twice.")
    inner[last] = value


def _value(kind: type[Struct], path: list[str], text: str) -> Any:
    """Return a value of the query in the type of its field; a field that there is not is left to the frame's reader."""
    fields = {each.encode_name: each.type for each in msgspec.structs.fields(kind)}
    wanted = fields.get(path[0])
    if wanted is None:
        return text
    if len(path) > 1:
        if isinstance(wanted, type) and issubclass(wanted, Struct):
            return _value(wanted, path[1:], text)
        return _converted(get_args(wanted)[1], text) if get_origin(wanted) is dict else text
    return _converted(wanted, text)


def _converted(wanted: Any, text: str) -> Any:
    if text[:1] in ("[", "{"):
        with contextlib.suppress(orjson.JSONDecodeError):
            return orjson.loads(text)
    # The frame's reader says what is wrong with a value out of bounds, or with one of another kind.
    for value in (text, text.split(",")):
        with contextlib.suppress(msgspec.ValidationError):
            return msgspec.to_builtins(msgspec.convert(value, _unbounded(wanted), strict=False))
    return text


def _unbounded(wanted: Any) -> Any:
    """Return the type without the bounds of its values: those that break them are of the right kind."""
    if get_origin(wanted) is Annotated:
        return _unbounded(get_args(wanted)[0])
    if get_origin(wanted) is list:
        return list[_unbounded(get_args(wanted)[0])]  # type: ignore[misc]  # a type made at run time
    if isinstance(wanted, UnionType) or get_origin(wanted) is Union:
        return Union[tuple(map(_unbounded, get_args(wanted)))]  # noqa: UP007 - of types that are not known here
    return wanted


class EventStream:
    """Runs the application of a live socket for one client of HTTP."""

    def __init__(self, channel: Channel, scope: Scope, receive: Receive, send: Send, first: bytes) -> None:
        self._channel = channel
        self._receive = receive
        self._send = send
        self._scope = {**scope, "type": "websocket", "subprotocols": []}
        self._incoming: list[Event] = [
            {"type": "websocket.connect"},
            {"type": "websocket.receive", "text": first.decode()},
        ]
        self._session = ""
        self._turn = asyncio.Lock()
        self._waiting: list[bytes] = []
        self._is_open = False
        self._is_over = False

    @property
    def is_open(self) -> bool:
        """Whether the answer has begun: then a problem cannot be its status any more."""
        return self._is_open

    async def run(
        self, app: App, receive: Receive, more: Mapping[str, Any], *, ended: Callable[[Send], Awaitable[None]]
    ) -> None:
        """Serve until the client or the application ends; raises the problem of a first frame that is refused.

        `receive` is `next_event`, or wraps it; `more` belongs to the scope of the application; `ended` is called when
        it has returned, and may still send.
        """
        beating = asyncio.create_task(self._beat(), name="event stream: heartbeat")
        try:
            await app({**self._scope, **more}, receive, self.take)
            await ended(self.take)
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
        await self._end()

    async def next_event(self) -> Event:
        """Return what a client of the socket would have sent: the first frame, and in the end the disconnect."""
        if self._incoming:
            return self._incoming.pop(0)
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._is_over = True
        return {"type": "websocket.disconnect", "code": 1001}

    async def take(self, event: Event) -> None:
        """Turn what the application sends into events."""
        if event["type"] == "websocket.send":
            await self._frame(event["text"].encode())
        elif event["type"] == "websocket.close":
            closed = {"type": "closed", "code": event.get("code"), "reason": event.get("reason", "")}
            await self._write(b"event: closed\ndata: %b\n\n" % orjson.dumps(closed))
            await self._end()

    async def _frame(self, text: bytes) -> None:
        head = _HEAD.decode(text)
        if head.type == "hello":
            self._session = head.session or ""
            self._waiting.append(b"data: %b\n\n" % text)
            return
        if head.type == "error" and not self._is_open:
            raise _refusal(head.problem or {})
        # A body is shown as it was written, and a line break would end the event: between tokens a blank is the same.
        text = text.translate(_BLANKS)
        place = self._channel.id_of(head, self._session)
        name = b"" if place is None else b"id: %b\n" % place.encode()
        await self._write(b"%bdata: %b\n\n" % (name, text))

    async def _write(self, event: bytes) -> None:
        async with self._turn:
            await self._open()
            if not self._is_over:
                await self._send({"type": "http.response.body", "body": event, "more_body": True})

    async def _open(self) -> None:
        """Begin the answer with what waited for it; the caller has the turn."""
        if self._is_open or self._is_over:
            return
        self._is_open = True
        headers = [(b"content-type", CONTENT_TYPE), (b"cache-control", b"no-store"), (b"x-accel-buffering", b"no")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        waiting = b"".join(self._waiting)
        await self._send({"type": "http.response.body", "body": waiting, "more_body": True})

    async def _beat(self) -> None:
        """Begin the answer after a second at the latest; then send comments, so that proxies wait."""
        await asyncio.sleep(_FIRST_SECONDS)
        while not self._is_over:
            await self._write(b": heartbeat\n\n")
            await asyncio.sleep(sockets.HEARTBEAT_MS / 1000)

    async def _end(self) -> None:
        async with self._turn:
            if self._is_open and not self._is_over:
                self._is_over = True
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _refusal(told: Mapping[str, Any]) -> ProblemError:
    """Return the problem of an error frame: before the answer has begun it is an answer of HTTP, about its query."""
    errors = [FieldError(_in_query(each["pointer"]), each["code"], each["detail"]) for each in told.get("errors", ())]
    return ProblemError(_KINDS[told["code"]], told["detail"], errors=errors)


def _in_query(pointer: str) -> str:
    """Return where in the query the field of a frame was given: ``#/filter/tags`` is ``?filter.tags``."""
    return f"?{pointer.removeprefix('#').removeprefix('/').replace('/', '.')}"
