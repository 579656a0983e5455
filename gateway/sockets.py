"""What all WebSockets of the API have in common: sub-protocol, close codes, handshake, hello."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final

import orjson

from broker_core.clock import now_ms
from console.moments import rfc3339
from gateway.problems import INVALID, FieldError, ProblemError

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SUBPROTOCOL: Final = "mqgw.v1.json"
HEARTBEAT_MS: Final = 15_000

BAD_FRAME: Final = 4400
NOT_AUTHENTICATED: Final = 4401
FORBIDDEN: Final = 4403
NOT_FOUND: Final = 4404
IDLE: Final = 4408
TOO_BIG: Final = 4413
TOO_MANY: Final = 4429
DRAINING: Final = 4503
DRAINING_REASON: Final = "The gateway is shutting down; connect again in 2 s."

WITHOUT_CODE: Final = 1005
"""What the server reports of a frame that it cannot read, and of a client that ended without a code: that one hears
nothing of a close frame of ours."""
UNREADABLE_REASON: Final = "The frame has more than 16 MiB, or is none: the server cannot read it."

_BY_STATUS: Final = {401: NOT_AUTHENTICATED, 403: FORBIDDEN, 404: NOT_FOUND, 413: TOO_BIG, 429: TOO_MANY, 503: DRAINING}
_MAX_REASON_BYTES: Final = 123


def chosen_protocol(scope: Scope) -> str | None:
    """Return the sub-protocol for the answer to the handshake: ours if it was offered, or None."""
    return SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None


def check_protocol(scope: Scope) -> None:
    """Raise INVALID if the client offers sub-protocols and ours is none of them; one that offers none is served."""
    offered = scope.get("subprotocols", ())
    if offered and chosen_protocol(scope) is None:
        reason = f"The sub-protocol of this socket is {SUBPROTOCOL}; offered: {', '.join(offered)[:100]}."
        raise ProblemError(INVALID, reason, errors=[FieldError("Sec-WebSocket-Protocol", "INVALID", reason)])


def hello(limits: Mapping[str, int], *, session: str | None = None) -> dict[str, object]:
    """Return the first frame of a socket; it names the session."""
    return {
        "type": "hello",
        "session": session or secrets.token_hex(8),
        "server_time": rfc3339(now_ms()),
        "heartbeat_ms": HEARTBEAT_MS,
        "limits": dict(limits),
    }


def close_code(problem: ProblemError) -> int:
    """Return the close code for a problem that ends the socket."""
    return _BY_STATUS.get(problem.kind.status, BAD_FRAME)


def close_reason(text: str) -> str:
    """Return as much of the text as a close frame holds (RFC 6455 5.5)."""
    return text.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")


async def refuse(scope: Scope, receive: Receive, send: Send, problem: ProblemError) -> None:
    """Accept the handshake, send the problem and close: browsers hide the status of a refused handshake."""
    await receive()
    await send({"type": "websocket.accept", "subprotocol": chosen_protocol(scope)})
    text = orjson.dumps({"type": "error", "context": None, "problem": problem.told()}).decode()
    await send({"type": "websocket.send", "text": text})
    await send({"type": "websocket.close", "code": close_code(problem), "reason": close_reason(problem.detail)})
