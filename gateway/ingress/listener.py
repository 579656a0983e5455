"""Listens at the HTTP port of one gateway process, in front of its server (`gateway.serve`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from gateway.arrival import Client
from gateway.data.app import DataPlane
from gateway.ingress.connection import Connection
from gateway.ingress.heads import Heads
from gateway.ingress.places import BACKLOG, Places

_LOOK_SECONDS: Final = 0.5
_POLL_SECONDS: Final = 0.02
_STOP_SECONDS: Final = 3.0
_GOODBYE_SECONDS: Final = 1.0


class Ingress:
    """The connections of one process, between `open` and `stop`."""

    def __init__(self, plane: DataPlane, places: Places, base: str = "") -> None:
        """`base` is the path before all others, or empty."""
        self.plane = plane
        self.heads = Heads(base)
        self.server = places.server
        self.loop = asyncio.get_running_loop()
        self._public = places.public
        self._connections: set[Connection] = set()
        self._seen: dict[int, Client] = {}
        self._counted: dict[Connection, int] = {}
        self._listening: asyncio.Server | None = None
        self._looking: asyncio.Task[None] | None = None

    async def bind(self) -> None:
        """Take the port, at which several processes may listen; raises OSError."""
        self._listening = await self.loop.create_server(
            lambda: Connection(self),
            self._public.host,
            self._public.port,
            backlog=BACKLOG,
            reuse_port=True,
            start_serving=False,
        )

    async def open(self) -> None:
        """Listen as soon as the server does: a request that came before could not be passed on."""
        while self._listening is not None and not await self._server_accepts():  # noqa: ASYNC110 - it does not tell
            await asyncio.sleep(_POLL_SECONDS)
        if self._listening is not None:
            await self._listening.start_serving()
            self._looking = asyncio.create_task(self._look_on(), name="ingress: late requests")

    def close_port(self) -> None:
        """Accept no more."""
        listening, self._listening = self._listening, None
        if listening is not None:
            listening.close()

    async def stop(self) -> None:
        """Accept no more, answer what is under way, and close."""
        self.close_port()
        if self._looking is not None:
            self._looking.cancel()
        for each in list(self._connections):
            each.close_when_answered()
        deadline = self.loop.time() + _STOP_SECONDS
        while any(each.is_busy for each in self._connections) and self.loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        # The server has sent its close frames, which the loop has perhaps not read yet.
        deadline = self.loop.time() + _GOODBYE_SECONDS
        while any(each.is_told_goodbye for each in self._connections) and self.loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
        for each in list(self._connections):
            each.close()

    def client_of(self, scope: Mapping[str, Any]) -> tuple[Any, Any] | None:
        """Return the client of a request that the server got through a tunnel; else the one that the server saw."""
        seen: tuple[Any, Any] | None = scope.get("client")
        return seen if seen is None else self._seen.get(int(seen[1]), seen)

    def used(self) -> set[Client]:
        """Return the clients that had a request answered here since the last call, or wait for an answer."""
        counted, self._counted = self._counted, {each: each.requests for each in self._connections}
        return {each.client for each, now in self._counted.items() if each.is_busy or counted.get(each, 0) != now}

    # ---- called by connections ---------------------------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """A client has come."""
        self._connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """It is gone."""
        self._connections.discard(connection)

    def sees(self, port: int, client: Client) -> None:
        """The server sees this client at a port of this machine."""
        # It stays until the port is used again: the server may begin a request whose client is gone already.
        self._seen[port] = client

    async def _server_accepts(self) -> bool:
        try:
            _, writer = await asyncio.open_connection(*self.server)
        except OSError:
            return False
        writer.close()
        return True

    async def _look_on(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = self.loop.time()
            for each in list(self._connections):
                each.hurry(now)
