"""A frame with an `idempotency_key`: the message is produced by the same steps as an HTTP request with that key.

So keys count for caller and topic on sockets and over HTTP together, and a frame repeated on another socket or through
another gateway gets the first answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gateway.data import idempotency
from gateway.data.parts import Answer, Request
from gateway.data.produce import produce
from gateway.data.routing import Route
from gateway.data.schemas import Entry, encode
from gateway.data.stream import Socket
from gateway.problems import ProblemError

_JSON: Final = (b"content-type", b"application/json")
_PATH: Final = "/ws/v1/produce"
_TOLD: Final[Sequence[str]] = ("code", "status", "retryable", "detail", "errors")
"""What `ProblemError.told` has."""


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer frame says about a message."""

    result: dict[str, Any]
    problem: dict[str, Any] | None
    is_replayed: bool


async def send_once(socket: Socket, entry: Entry, *, cluster: str, topic: str, key: str) -> Told:
    """Store the message of a frame unless the key's first frame did; raise what `find_problem` knows."""
    request = _request(socket, entry, Route("produce", cluster, topic), key)
    try:
        answer = await produce(socket.parts, request)
    except ProblemError as problem:
        return Told(_first(problem.extra), problem.told(), is_replayed=False)
    return _told(answer)


def _told(answer: Answer) -> Told:
    document: dict[str, Any] = msgspec.json.decode(answer.body)
    problem = {name: document[name] for name in _TOLD if name in document} if answer.status >= 400 else None
    return Told(_first(document), problem, is_replayed=idempotency.REPLAYED in answer.headers)


def _first(document: dict[str, Any]) -> dict[str, Any]:
    """Return the result of the only message; without one the message was refused before it had a result."""
    results: list[dict[str, Any]] = document.get("results", [])
    return results[0] if results else {}


def _request(socket: Socket, entry: Entry, route: Route, key: str) -> Request:
    fields = {name: getattr(entry, name) for name in Entry.__struct_fields__}
    headers = dict([_JSON, (idempotency.HEADER, key.encode())])
    scope: dict[str, Any] = {"path": _PATH, "headers": [_JSON], "query_string": b""}
    who = (socket.principal, socket.parts.address_of)
    return Request(route, scope, headers, encode(Entry(**fields)), *who, "", _never)


async def _never() -> MutableMapping[str, Any]:
    """Stand for the end of a request, which a frame does not have."""
    await asyncio.get_running_loop().create_future()
    return {}
