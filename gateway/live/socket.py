"""The common part of the live sockets: JSON frames over Channels, the hello frame, and closing on invalid frames."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
import redis.asyncio
from channels.generic.websocket import AsyncWebsocketConsumer
from msgspec import Struct

from console.lag.limited import Sight
from gateway import sockets
from gateway.auth import Principal
from gateway.data.schemas import decode, encode
from gateway.data.stream import Head
from gateway.problems import MALFORMED, ProblemError

_HEAD = msgspec.json.Decoder(Head)
_MAX_FRAME_BYTES = 64 * 1024


class LiveSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """A live socket: `decoders` names the frames it accepts, `handle_frame` handles one of them."""

    decoders: ClassVar[Mapping[str, msgspec.json.Decoder[Any]]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.session = secrets.token_hex(8)
        """The name of this connection, as the hello frame says it."""

    @property
    def principal(self) -> Principal:
        """The principal that opened the socket."""
        principal: Principal = self.scope["principal"]
        return principal

    @property
    def sight(self) -> Sight:
        """What the principal may read."""
        return Sight(lambda resource: self.principal.may("read", resource))

    @property
    def store(self) -> redis.asyncio.Redis:
        """The Redis that keeps the last states."""
        store: redis.asyncio.Redis = self.scope["store"]
        return store

    async def connect(self) -> None:
        """Accept any caller who may read anything."""
        await self.accept(sockets.chosen_protocol(self.scope))
        if not self.principal.may("read"):
            await self.close(sockets.FORBIDDEN, "You do not have the right to read.")
            return
        await self.send_frame(sockets.hello({"frame_bytes": _MAX_FRAME_BYTES}, session=self.session))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Handle one frame; close the socket if it is not valid."""
        data = text_data.encode() if text_data is not None else bytes_data or b""
        if len(data) > _MAX_FRAME_BYTES:
            await self.close(sockets.TOO_BIG, f"A frame can have at most {_MAX_FRAME_BYTES:,} bytes.")
            return
        try:
            head = _HEAD.decode(data)
            decoder = self.decoders[head.type]
        except (ValueError, RecursionError, KeyError) as error:
            problem = ProblemError(MALFORMED, f"This is not a valid frame of this socket: {error}.")
            await self.send_problem(problem)
            await self.close(sockets.BAD_FRAME, problem.detail)
            return
        try:
            await self.handle_frame(decode(decoder, data))
        except ProblemError as problem:
            await self.send_problem(problem)

    async def handle_frame(self, frame: Any) -> None:
        """Handle a frame of a known type."""
        raise NotImplementedError

    async def send_frame(self, frame: Struct | Mapping[str, Any]) -> None:
        """Send one frame."""
        await self.send(encode(frame).decode())

    async def send_problem(self, problem: ProblemError) -> None:
        """Send an error frame."""
        await self.send_frame({"type": "error", "problem": problem.told()})

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close with a code and as much of the reason as fits."""
        await super().close(code, None if reason is None else sockets.close_reason(reason))
