"""Common to all processors: the table of request codes, reading request bodies, and answering records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeVar

from broker_core.broker.limits import BrokerLimits
from broker_core.protocol import bodies
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import LooseJsonTooLong
from broker_core.remoting.dispatch import Handler

T = TypeVar("T")

VIEWS_FROM_BYTES: Final = 32 * 1024
VIEW_BYTES: Final = 4 * 1024
"""Records that are so large together, and so large on average, are not copied."""

Handlers = Mapping[int, Handler]
"""Maps a request code to its handler."""


def body_of(kind: type[T], request: Command, limits: BrokerLimits) -> T:
    """Return the JSON body of a request; raises MalformedBody, and LimitReached for one that would block others.

    It is read once: the check of rights and the handler ask for the same.
    """
    body = request.read_body
    if isinstance(body, kind):
        return body
    try:
        body = bodies.decode(kind, text_of(request, limits), limits.loose_json_bytes)
    except LooseJsonTooLong as error:
        what = f"a body of {error.size} bytes that are not strict JSON was not read"
        raise limits.refuse("loose_json_bytes", what) from None
    request.read_body = body
    return body


def text_of(request: Command, limits: BrokerLimits) -> bytes:
    """Return the body of a request whose text takes time to read; raises LimitReached."""
    if len(request.body) > limits.json_bytes:
        raise limits.refuse("json_bytes", f"a body of {len(request.body)} bytes was not read")
    return request.body


def answer_with(
    code: ResponseCode, header: object, records: Sequence[bytes | memoryview], remark: str | None
) -> Command:
    """Return an answer with raw records; large ones are sent from where they lie in the log.

    Many small pieces cost more than a copy of them. A view keeps its file mapped until the peer has read it, also when
    the file is deleted meanwhile.
    """
    size = sum(map(len, records))
    if size >= VIEWS_FROM_BYTES and size >= VIEW_BYTES * len(records):
        response = Command.response(code, header, remark=remark)
        response.views = records
        return response
    return Command.response(code, header, b"".join(records), remark)


class Processor(Protocol):
    """Serves the requests of one subject."""

    def handlers(self) -> Handlers:
        """Return the method that answers each request code."""
