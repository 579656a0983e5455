"""Common to all processors: the table of request codes, and reading request bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from broker_core.broker.limits import BrokerLimits
from broker_core.protocol import bodies
from broker_core.protocol.command import Command
from broker_core.remoting.dispatch import Handler

T = TypeVar("T")

Handlers = Mapping[int, Handler]
"""Maps a request code to its handler."""


def body_of(kind: type[T], request: Command, limits: BrokerLimits) -> T:
    """Return the JSON body of a request; raises MalformedBody, and LimitReached for one that would block others."""
    return bodies.decode(kind, text_of(request, limits))


def text_of(request: Command, limits: BrokerLimits) -> bytes:
    """Return the body of a request whose text takes time to read; raises LimitReached."""
    if len(request.body) > limits.json_bytes:
        raise limits.refuse("json_bytes", f"a body of {len(request.body)} bytes was not read")
    return request.body


class Processor(Protocol):
    """Serves the requests of one subject."""

    def handlers(self) -> Handlers:
        """Return the method that answers each request code."""
