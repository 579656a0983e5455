"""The data plane served over real HTTP for tests, with a cast of callers; broker and Redis are in `tests.support`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import redis.asyncio
from granian.constants import Interfaces
from granian.server.embed import Server

from broker_core.client.blocking import LoopThread
from console.clusters.connections import ClusterAddress, Connections
from gateway import transaction_ids
from gateway.auth import Authenticator, Principal
from gateway.data.app import DataPlane
from gateway.data.parts import DataPlaneParts
from gateway.data.receipts import Receipts, derive_key
from gateway.data.routing import find_route
from gateway.data.stream import Socket, converse
from gateway.data.stream_consume import Consuming
from gateway.data.stream_produce import Producing
from gateway.ingress.listener import Ingress
from gateway.ingress.places import Address, Places
from gateway.limits import GatewayLimits
from gateway.problems import ProblemError
from gateway.sockets import refuse
from gateway.transaction_ids import TransactionIds
from tests.support.ports import free_ports

CAST = {
    "admin": Principal(1, "ada", "admin", None, 1, token_name="ada-laptop"),
    "developer": Principal(2, "dev", "developer", ("produce", "consume", "read"), 2),
    "narrow": Principal(2, "dev", "developer", ("produce:orders*", "consume:orders*"), 3),
    "billing": Principal(2, "dev", "developer", ("consume:orders*@billing*",), 5),
    "viewer": Principal(3, "vic", "viewer", ("read",), 4),
}
"""Tokens by their text: an admin, a developer, one who may touch orders alone, one who may consume them
with the groups billing* alone, one who may only look."""


async def find_token(text: str, address: str) -> Principal | None:
    """Return the member of the cast whose name is the token."""
    return CAST.get(text)


def make_parts(name_server: str, redis_url: str, *, limits: GatewayLimits | None = None) -> DataPlaneParts:
    """Return the parts of a data plane for the cluster `local` at a name server."""

    async def find_cluster(name: str) -> ClusterAddress | None:
        return ClusterAddress(name, (name_server,)) if name == "local" else None

    return DataPlaneParts(
        connections=Connections(find_cluster),
        auth=Authenticator(find_token, allowed_origin=lambda _: True),
        receipts=Receipts(derive_key("test")),
        transaction_ids=TransactionIds(transaction_ids.derive_key("test")),
        redis=redis.asyncio.Redis.from_url(redis_url),
        limits=limits or GatewayLimits(),
    )


def data_application(plane: DataPlane, parts: DataPlaneParts) -> Callable[[Any, Any, Any], Awaitable[None]]:
    """Return an ASGI application with only the data plane."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            route = find_route(scope["method"], scope["path"])
            assert route is not None, scope["path"]
            await plane(route, scope, receive, send)
            return
        try:
            principal = await parts.auth.of_socket(dict(scope["headers"]), scope["query_string"])
        except ProblemError as problem:
            await refuse(scope, receive, send, problem)
            return
        socket = Socket(parts, scope, receive, send, principal)
        conversation = Producing(socket) if scope["path"].endswith("produce") else Consuming(socket)
        await socket.accept(conversation.limits)
        with parts.metrics.socket():
            await converse(socket, conversation)

    return application


@asynccontextmanager
async def served(application: Any, *, interface: Interfaces = Interfaces.ASGINL) -> AsyncIterator[str]:
    """Serve an ASGI application over HTTP on this loop; yield ``host:port``."""
    port = free_ports()
    server = Server(application, port=port, interface=interface, log_enabled=False)
    serving = asyncio.create_task(server.serve())
    try:
        await _accepts(port, serving)
        yield f"127.0.0.1:{port}"
    finally:
        server.stop()  # type: ignore[no-untyped-call]
        await serving


@asynccontextmanager
async def running_plane(parts: DataPlaneParts) -> AsyncIterator[str]:
    """Serve a data plane as `gateway.serve` does; yield its ``host:port``. Its parts are closed at the end."""
    plane = DataPlane(parts)
    parts.told.start()
    try:
        async with served(data_application(plane, parts)) as address:
            public = Address("127.0.0.1", free_ports())
            ingress = Ingress(plane, Places(public, Address.parse(address)))
            await ingress.bind()
            await ingress.open()
            try:
                yield f"{public.host}:{public.port}"
            finally:
                await ingress.stop()
    finally:
        await parts.told.stop()
        await parts.consumers.close()
        await parts.connections.close()
        await parts.redis.aclose()


@contextmanager
def plane_in_a_thread(name_server: str, redis_url: str) -> Iterator[str]:
    """Serve a data plane on a separate loop, for tests without one; yield its ``host:port``."""
    thread = LoopThread("data plane")

    async def start() -> tuple[AbstractAsyncContextManager[str], str]:
        running = running_plane(make_parts(name_server, redis_url))
        return running, await running.__aenter__()

    running, address = thread.run(start(), timeout_s=20)
    try:
        yield address
    finally:

        async def stop() -> None:
            await running.__aexit__(None, None, None)

        thread.run(stop(), timeout_s=20)
        thread.close()


async def _accepts(port: int, serving: asyncio.Task[None]) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            if serving.done():
                serving.result()
            await asyncio.sleep(0.01)
        else:
            writer.close()
            await writer.wait_closed()
            return
