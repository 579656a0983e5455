"""Builds one gateway process: data plane, Django, sockets, health and metrics behind one ASGI callable."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from django.conf import settings

from console.accounts.addresses import client_address
from console.clusters import connections as cluster_connections
from console.clusters.connections import Connections
from console.clusters.memory import recall_route, store_ids
from console.clusters.services import find_address
from console.redis_client import loop_store
from gateway import env, health, health_checks, lookups, metrics, siblings, sockets, transaction_ids
from gateway.arrival import Arrival, client_of
from gateway.auth import Authenticator
from gateway.compression import compressing
from gateway.connections import OpenConnections
from gateway.control import rates as control_rates
from gateway.control.plane import ControlPlane
from gateway.data.app import DataPlane
from gateway.data.parts import DataPlaneParts
from gateway.data.receipts import Receipts, derive_key
from gateway.data.routing import SOCKETS as DATA_SOCKETS
from gateway.data.routing import find_route
from gateway.data.stream import Socket, converse
from gateway.data.stream_consume import Consuming
from gateway.data.stream_produce import Producing
from gateway.ingress.listener import Ingress
from gateway.ingress.places import Places
from gateway.limits import GatewayLimits, RateLimit
from gateway.live.events import EventsConsumer
from gateway.live.lag import LagConsumer
from gateway.live.tail.socket import TailConsumer
from gateway.pages import PAGES, Pages
from gateway.problems import NOT_FOUND, ProblemError, find_problem, internal
from gateway.shared_rates import SharedRates
from gateway.shutdown import on_stop_signal
from gateway.socket_rights import ClosableReceive, SocketRights
from gateway.sockets import App, Receive, Scope, Send
from gateway.streams import Streams
from gateway.transaction_checks.answering import TransactionChecks
from gateway.transaction_ids import TransactionIds

LIVE_SOCKETS: Final[dict[str, App]] = {
    "/ws/v1/events": EventsConsumer.as_asgi(),
    "/ws/v1/lag": LagConsumer.as_asgi(),
    "/ws/v1/tail": TailConsumer.as_asgi(),
}

_log = logging.getLogger(__name__)

_MOST: Final = 10_000_000
# Half of the server's own limit (`--backpressure`), at which it would accept no more connections.
_MOST_CONNECTIONS: Final = 32_768
_COLLECTION_THRESHOLD: Final = 10_000
# A busy Redis is not a silent one, and what is written once is not refused for a moment's delay.
_REDIS_SECONDS: Final = 5.0


class Gateway:
    """The ASGI application of one process: its parts start and stop with the server's lifespan."""

    def __init__(self, django: App) -> None:
        self._limits = _limits()
        self._control = ControlPlane(django, self._limits.sizes)
        self._places = Places.find()
        self._open = OpenConnections(self._limits.arrivals, behind=self._places and self._places.server.port)
        self._ingress: Ingress | None = None
        self._socket_rights = SocketRights(lookups.find_again)
        self._parts: DataPlaneParts | None = None
        self._starting = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, one socket or the lifespan."""
        kind = scope["type"]
        if kind == "lifespan":
            await self._live(receive, send)
            return
        if self._parts is None:
            await self.start()
        if self._ingress is not None:
            scope["client"] = self._ingress.client_of(scope)
        if kind == "http":
            arrival = Arrival(scope, receive, self._limits.arrivals)
            self._open.begin(arrival)
            try:
                await self._http(scope, arrival, arrival.closing(send))
            finally:
                self._open.end(arrival)
        elif kind == "websocket":
            await self._socket(scope, receive, send)

    async def start(self) -> DataPlaneParts:
        """Start the parts on the running loop; they open their connections at first use."""
        async with self._starting:
            if self._parts is not None:
                return self._parts
            connections = Connections(find_address, store_ids, recall_route)
            cluster_connections.use(connections, asyncio.get_running_loop())
            store = loop_store(patience_s=_REDIS_SECONDS)
            parts = DataPlaneParts(
                connections=connections,
                auth=Authenticator(
                    lookups.find_token,
                    find_session=lookups.find_session,
                    redeem_ticket=lookups.redeem_ticket,
                    csrf_passed=lookups.csrf_passed,
                    allowed_origin=lookups.allowed_origin,
                ),
                receipts=Receipts(derive_key(settings.SECRET_KEY)),
                transaction_ids=TransactionIds(transaction_ids.derive_key(settings.SECRET_KEY)),
                redis=store,
                note=partial(lookups.note, store),
                known_groups=lookups.known_groups,
                serves_host=lookups.serves_host,
                client_address=client_address,
                limits=self._limits,
            )
            parts.metrics.gauge(
                "gantry_gateway_leases_out", "Leases not settled or expired.", lambda: parts.leases.total(parts.clock())
            )
            self._data = DataPlane(parts)
            self._siblings = _siblings(parts)
            await self._siblings.start()
            self._streams = Streams(parts, self._open, self._socket_rights, LIVE_SOCKETS)
            self._pages = Pages(parts, health_checks.readiness(parts), self._siblings)
            health.use(health_checks.everything(parts))
            self._start_rates(parts)
            parts.told.start()
            self._checks = TransactionChecks(parts)
            self._checks.start()
            self._parts = parts
            return parts

    def _start_rates(self, parts: DataPlaneParts) -> None:
        control = control_rates.ControlRates(self._limits)
        control_rates.use(control)
        limiters = (parts.produce_rate, parts.consume_rate, control.read, control.change)
        self._rates = SharedRates(parts.redis, limiters, time.monotonic)
        self._rates.start()

    async def stop(self) -> None:
        """Stop the parts; each one before the parts that it uses."""
        parts, self._parts = self._parts, None
        if parts is None:
            return
        parts.draining.set()
        await self._checks.stop()
        await lookups.wait_for_notes()
        health.use(None)
        control_rates.use(None)
        await self._rates.stop()
        await self._siblings.stop()
        cluster_connections.use(None)
        await parts.told.stop()
        await parts.consumers.close()
        await parts.connections.close()
        await parts.redis.aclose()

    async def _live(self, receive: Receive, send: Send) -> None:
        """Follow the server's lifespan; a stop signal ends waiting requests before the server stops."""
        await receive()
        await self.start()
        on_stop_signal(self._drain)
        if self._places is not None:
            self._ingress = Ingress(self._data, self._places, settings.GANTRY_BASE_PATH)
            await self._ingress.bind()
        self._open.start(self._ingress.used if self._ingress is not None else set)
        _exempt_from_collection()
        await send({"type": "lifespan.startup.complete"})
        if self._ingress is not None:
            await self._ingress.open()
        await receive()
        if self._ingress is not None:
            await self._ingress.stop()
        await self._socket_rights.stop()
        await self._open.stop()
        await self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def _drain(self) -> None:
        """End all waits, because the process is stopping."""
        if self._ingress is not None:
            self._ingress.close_port()
        if self._parts is not None:
            self._parts.draining.set()
        self._socket_rights.drain()
        self._open.expire_all()

    async def _http(self, scope: Scope, arrival: Arrival, send: Send) -> None:
        route = find_route(scope["method"], scope["path"])
        if route is not None:
            await self._data(route, scope, arrival, send, arrival.stream)
        elif scope["path"] in PAGES:
            await self._pages(scope, arrival, compressing(scope, send))
        elif scope["path"] in LIVE_SOCKETS or scope["path"] in DATA_SOCKETS:
            await self._streams(scope, arrival, send)
        else:
            await self._control(scope, arrival, compressing(scope, send))

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._open.socket(client_of(scope)):
                await self._handshake(scope, receive, send)
        except ProblemError as problem:
            await sockets.refuse(scope, receive, send, problem)

    async def _handshake(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._parts is not None
        path, headers = scope["path"], dict(scope["headers"])
        try:
            if path not in DATA_SOCKETS and path not in LIVE_SOCKETS:
                raise ProblemError(NOT_FOUND, f"There is no socket at {path!r}.")
            self._parts.check_host(headers)
            sockets.check_protocol(scope)
            principal = await self._parts.auth.of_socket(headers, scope["query_string"], self._parts.address_of(scope))
        except Exception as error:  # noqa: BLE001 - the top of a connection
            problem = find_problem(error)
            if problem is None:
                _log.exception("socket %s: the handshake failed", path)
                problem = internal("")
            await sockets.refuse(scope, receive, send, problem)
            return
        if path in LIVE_SOCKETS:
            scope["principal"] = principal
            scope["store"] = self._parts.redis
            scope["connections"] = self._parts.connections
            closable = ClosableReceive(receive)
            with self._parts.metrics.socket(), self._socket_rights.watched(principal, closable.close):
                await LIVE_SOCKETS[path](scope, closable, send)
            await closable.send_close(send)
            return
        socket = Socket(self._parts, scope, receive, send, principal)
        conversation = Producing(socket) if path.endswith("/produce") else Consuming(socket)
        await socket.accept(conversation.limits)
        with self._parts.metrics.socket(), self._socket_rights.watched(principal, socket.close):
            await converse(socket, conversation)


def _exempt_from_collection() -> None:
    """Exempt what exists now from garbage collection: it stays, and scanning it is a tenth of what requests cost."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTION_THRESHOLD)


def _siblings(parts: DataPlaneParts) -> siblings.Siblings:
    folder = os.environ.get(siblings.FOLDER_VARIABLE)
    page = lambda: metrics.page_of_process(parts.metrics.families())  # noqa: E731 - the page at the time of the scrape
    return siblings.Siblings(Path(folder) if folder else None, page)


def _limits() -> GatewayLimits:
    """Return the limits of this process, with the values that the environment sets."""
    usual = GatewayLimits()
    return GatewayLimits(
        produce=_at(env.number("GANTRY_RATE_PRODUCE", int(usual.produce.per_second), low=1, high=_MOST), usual.produce),
        consume=_at(env.number("GANTRY_RATE_CONSUME", int(usual.consume.per_second), low=1, high=_MOST), usual.consume),
        read=_at(env.number("GANTRY_RATE_READ", int(usual.read.per_second), low=1, high=_MOST), usual.read),
        change=_at(env.number("GANTRY_RATE_CHANGE", int(usual.change.per_second), low=1, high=_MOST), usual.change),
        arrivals=replace(
            usual.arrivals,
            connections=env.number("GANTRY_CONNECTIONS", usual.arrivals.connections, low=16, high=_MOST_CONNECTIONS),
            idle_seconds=env.number("GANTRY_IDLE_SECONDS", int(usual.arrivals.idle_seconds), low=1, high=3600),
            pause_seconds=env.number("GANTRY_BODY_PAUSE_SECONDS", int(usual.arrivals.pause_seconds), low=1, high=100),
        ),
        leases_per_group=env.number("GANTRY_LEASES_PER_GROUP", usual.leases_per_group, low=1, high=_MOST),
        leases_per_caller=env.number("GANTRY_LEASES_PER_CALLER", usual.leases_per_caller, low=1, high=_MOST),
    )


def _at(per_second: int, usual: RateLimit) -> RateLimit:
    return RateLimit(usual.name, per_second, 2 * per_second)
