"""A WebSocket of the data plane: its frames and its end.

One task reads frames, others may write. A socket ends when the client closes it, sends something that is not a frame or
is silent for ten minutes, or when the process shuts down; tasks that wait on it are then cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

import msgspec

from gateway import sockets
from gateway.auth import Principal
from gateway.data.faults import json_fault, shape_fault
from gateway.data.parts import DataPlaneParts
from gateway.data.schemas import decode
from gateway.problems import MALFORMED, ProblemError, find_problem, internal
from gateway.sockets import Receive, Scope, Send

IDLE_SECONDS: Final = 600.0
_INTERNAL: Final = 1011

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class SocketClosed(Exception):
    """The socket has ended, from either side."""


class BadFrame(Exception):
    """The client sent something that is not a frame of this endpoint; the socket must close."""


class Socket:
    """An accepted WebSocket that speaks JSON."""

    def __init__(self, parts: DataPlaneParts, scope: Scope, receive: Receive, send: Send, principal: Principal) -> None:
        self.parts = parts
        self.principal = principal
        self._scope = scope
        self._receive = receive
        self._send = send
        self._is_open = False
        self._ending: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self.idle_seconds: float | None = IDLE_SECONDS
        self.request_id = parts.request_ids.of(dict(scope["headers"]).get(b"x-request-id"))
        """Of the handshake: the session of the hello frame, since servers add no header to the answer."""

    @property
    def address(self) -> str:
        """The address of the client."""
        return self.parts.address_of(self._scope)

    @property
    def ending(self) -> asyncio.Future[tuple[int, str]]:
        """Done when our side decides to close."""
        return self._ending

    async def accept(self, limits: Mapping[str, int]) -> None:
        """Answer the handshake and send the hello frame, with these limits too."""
        await self._receive()
        await self._send({"type": "websocket.accept", "subprotocol": sockets.chosen_protocol(self._scope)})
        self._is_open = True
        sizes = self.parts.limits.sizes
        of_all = {"frame_bytes": sizes.frame_bytes, "message_bytes": sizes.message_bytes}
        await self.send(sockets.hello({**of_all, **limits}, session=self.request_id))

    async def send(self, frame: object) -> None:
        """Send one frame; raise SocketClosed if the socket has ended."""
        await self.send_text(_encode(frame))

    async def send_text(self, frame: bytes) -> None:
        """Send one frame that is JSON already; raise SocketClosed."""
        if not self._is_open:
            raise SocketClosed
        try:
            await self._send({"type": "websocket.send", "text": frame.decode()})
        except (OSError, RuntimeError) as error:  # raised by servers after the client has disconnected
            self._is_open = False
            raise SocketClosed from error

    async def send_problem(self, problem: ProblemError, context: str | None = None) -> None:
        """Send an error frame."""
        await self.send({"type": "error", "context": context, "problem": problem.told()})

    def problem_of(self, error: Exception, act: str) -> ProblemError:
        """Return the problem for what a frame or the socket failed with; an error that nobody foresaw is logged."""
        problem = find_problem(error)
        if problem is None:
            _log.error("socket %s: %s failed", self.request_id, act, exc_info=error)
            problem = internal(self.request_id, is_uncertain=True)
        return problem

    def note_refusal(self, act: str, problem: ProblemError) -> None:
        """Report to the audit a frame that was refused for a missing right."""
        self.parts.note_refusal(self.principal, act, self._scope, problem, self.request_id)

    def close(self, code: int, reason: str) -> None:
        """Close the socket from our side; only the first call counts."""
        self._is_open = False
        if not self._ending.done():
            self._ending.set_result((code, reason))

    async def send_close(self) -> None:
        """Send the close frame if we ended the socket.

        Call it after the reader has stopped: servers withhold the frame while a receive is pending.
        """
        if self._ending.done():
            code, reason = self._ending.result()
            with suppress(OSError, RuntimeError):
                await self._send({"type": "websocket.close", "code": code, "reason": sockets.close_reason(reason)})

    async def frames(self) -> AsyncIterator[bytes]:
        """Return the client's frames until it closes; raise TimeoutError when none comes for `idle_seconds`."""
        limit = self.parts.limits.sizes.frame_bytes
        while True:
            async with asyncio.timeout(self.idle_seconds):
                event = await self._receive()
            if event["type"] == "websocket.disconnect":
                self._is_open = False
                if event.get("code") == sockets.WITHOUT_CODE:
                    self.close(sockets.TOO_BIG, sockets.UNREADABLE_REASON)
                return
            text = event.get("text")
            data: bytes = event.get("bytes") or b"" if text is None else text.encode()
            if len(data) > limit:
                self.close(sockets.TOO_BIG, f"A frame can have at most {limit:,} bytes.")
                return
            yield data


class Head(msgspec.Struct):
    """The common fields of all client frames."""

    type: str
    context: str | None = None


FrameHandler = tuple[msgspec.json.Decoder[Any], Callable[[Any], Awaitable[None]]]


class Conversation(Protocol):
    """Handles the frames of a socket for an endpoint."""

    @property
    def handlers(self) -> Mapping[str, FrameHandler]:
        """By type of frame: its decoder and its handler."""

    async def end(self) -> None:
        """Release everything; the socket is closed."""


async def converse(socket: Socket, conversation: Conversation) -> None:
    """Run a conversation until the socket ends."""
    reading = asyncio.create_task(_read(socket, conversation), name="socket: read frames")
    draining = asyncio.create_task(socket.parts.draining.wait(), name="socket: watch for the end")
    try:
        ends: list[asyncio.Future[Any]] = [reading, draining, socket.ending]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if draining.done():
            socket.close(sockets.DRAINING, sockets.DRAINING_REASON)
    finally:
        for task in (reading, draining):
            task.cancel()
        await asyncio.gather(reading, draining, return_exceptions=True)
        await socket.send_close()
        await conversation.end()


async def _read(socket: Socket, conversation: Conversation) -> None:
    try:
        async for data in socket.frames():
            await _handle(socket, conversation.handlers, data)
    except SocketClosed:
        return
    except BadFrame as error:
        with suppress(SocketClosed):
            await socket.send_problem(ProblemError(MALFORMED, str(error)))
        socket.close(sockets.BAD_FRAME, str(error))
    except TimeoutError:
        socket.close(sockets.IDLE, f"No frame arrived for {socket.idle_seconds:g} s.")
    except Exception:  # noqa: BLE001 - the top of a connection
        _log.exception("socket: failed")
        socket.close(_INTERNAL, "The gateway failed; its log has the details.")


async def _handle(socket: Socket, handlers: Mapping[str, FrameHandler], data: bytes) -> None:
    """Handle one frame; a refusal or failure is answered, and the socket stays open."""
    head = _head(data)
    handler = handlers.get(head.type)
    if handler is None:
        raise BadFrame(f"Unknown frame type {head.type[:50]!r}; known: {', '.join(handlers)}.")
    decode_as, act = handler
    try:
        await act(decode(decode_as, data))
    except SocketClosed:
        raise
    except Exception as error:  # noqa: BLE001 - the top of a frame
        problem = socket.problem_of(error, head.type)
        socket.note_refusal(head.type, problem)
        await socket.send_problem(problem, head.context)


def _head(data: bytes) -> Head:
    try:
        return _HEAD.decode(data)
    except msgspec.ValidationError as error:
        raise BadFrame(f"This is not a valid frame. {shape_fault(str(error), Head, data)[1]}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFrame(f"The frame {json_fault(error, data)}.") from None
    except RecursionError:
        raise BadFrame("The frame is nested too deeply.") from None


_HEAD: Final = msgspec.json.Decoder(Head)
