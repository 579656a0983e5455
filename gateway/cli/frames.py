"""The frames of a live channel of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

from gateway.cli.api import Refused, Unreachable
from gateway.cli.exact import decode
from gateway.cli.root import Session

_OPEN_S: Final = 5.0
_LARGEST_FRAME: Final = 16 * 1024 * 1024
# Close codes that are about the caller: 4000 more than the status of HTTP (docs/http-api.md#websocket).
_REFUSALS: Final = range(4400, 4500)


def frames(session: Session, channel: str, first: Mapping[str, Any]) -> Iterator[Any]:
    """Say the first frame to a live channel and yield what it answers.

    Raises Refused for a problem or a close code that stands for one, Unreachable when the connection is lost.
    """
    url, headers = session.api.socket(channel)
    try:
        with connect(
            url, additional_headers=headers, open_timeout=_OPEN_S, proxy=None, max_size=_LARGEST_FRAME
        ) as socket:
            socket.send(msgspec.json.encode(first).decode())
            yield from _received(socket)
    except ConnectionClosed as error:
        if error.rcvd is not None and error.rcvd.code in _REFUSALS:
            title = "Closed by the gateway"
            raise Refused({"title": title, "code": error.rcvd.code, "detail": error.rcvd.reason}, 403) from error
        raise Unreachable(f"{url} closed the connection: {error}") from error
    except (OSError, WebSocketException) as error:
        raise Unreachable(f"{url} does not answer: {error}") from error


def _received(socket: ClientConnection) -> Iterator[Any]:
    for text in socket:
        frame = decode(text)
        if frame["type"] == "error":
            problem = frame["problem"]
            raise Refused({"title": problem.get("code", "error"), **problem}, problem["status"])
        yield frame
