"""The control plane as an ASGI application: Django, behind limits for the size and duration of a body."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.arrival import Arrival
from gateway.data.app import read_body
from gateway.data.request_ids import RequestIds
from gateway.limits import Sizes
from gateway.lookups import has_possible_port
from gateway.problems import HOST_NOT_SERVED, INVALID, UNSUPPORTED_MEDIA_TYPE, FieldError, ProblemError, respond
from gateway.sockets import Event, Receive, Scope, Send

_REQUEST_ID: Final = b"x-request-id"
_LENGTH: Final = b"content-length"
_PLAIN: Final = b"identity"
_ONCE: Final = frozenset(
    {b"authorization", b"content-encoding", b"content-type", b"idempotency-key", b"if-match", b"x-csrftoken"}
)


class ControlPlane:
    """Passes requests to Django after their body has arrived; too large or late ones do not reach it."""

    def __init__(self, django: Callable[[Scope, Receive, Send], Awaitable[None]], sizes: Sizes) -> None:
        self._django = django
        self._limit = sizes.control_bytes
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, arrival: Arrival, send: Send) -> None:
        """Answer one HTTP request."""
        headers = dict(scope["headers"])
        try:
            body = await read_body(arrival, headers, self._limit)
            _check_headers(scope, headers, body)
        except ProblemError as problem:
            await self._refuse(problem, scope, headers, send)
            return
        if body and _LENGTH not in headers:
            # Django reads as much as is announced: nothing of a body in chunks.
            scope = {**scope, "headers": [*scope["headers"], (_LENGTH, b"%d" % len(body))]}
        await self._django(scope, _Whole(body, arrival), send)

    async def _refuse(self, problem: ProblemError, scope: Scope, headers: dict[bytes, bytes], send: Send) -> None:
        request_id = self._ids.of(headers.get(_REQUEST_ID))
        status, answer, body = respond(problem, instance=scope["path"], request_id=request_id)
        answer.append((_REQUEST_ID, request_id.encode()))
        await send({"type": "http.response.start", "status": status, "headers": answer})
        await send({"type": "http.response.body", "body": body})


def _check_headers(scope: Scope, headers: dict[bytes, bytes], body: bytes) -> None:
    """Raise INVALID for a repeated header that can have only one value, HOST_NOT_SERVED, 415 for an encoded body."""
    if len(scope["headers"]) > len(headers):
        names = [name for name, _ in scope["headers"] if name in _ONCE]
        for name in names:
            if names.count(name) > 1:
                text = name.decode()
                detail = f"The header {text} is given {names.count(name)} times."
                raise ProblemError(INVALID, detail, errors=[FieldError(text, "INVALID", detail)])
    host = headers.get(b"host", b"")
    if not has_possible_port(host):
        raise ProblemError(HOST_NOT_SERVED, f"The host name {host[:100].decode('latin-1')!r} has a port above 65535.")
    encoding = headers.get(b"content-encoding", _PLAIN).strip().lower()
    if body and encoding != _PLAIN:
        raise ProblemError(UNSUPPORTED_MEDIA_TYPE, "Send the body without Content-Encoding: it is not decoded.")


class _Whole:
    """ASGI's receive of a request whose body has arrived: returns the body, then the client's disconnect."""

    def __init__(self, body: bytes, arrival: Arrival) -> None:
        self._body: bytes | None = body
        self._arrival = arrival

    async def __call__(self) -> Event:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        while True:
            event = await self._arrival()
            if event["type"] == "http.disconnect":
                return event
