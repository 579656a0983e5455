"""Answers plain requests on the paths of sockets: server-sent events, who asks, the limits, and problems."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from gateway.arrival import client_of
from gateway.auth import Principal
from gateway.connections import OpenConnections
from gateway.data.parts import DataPlaneParts
from gateway.data.request_ids import RequestIds
from gateway.live.event_stream import CHANNELS, EventStream, check_asked, first_frame
from gateway.problems import FORBIDDEN, ProblemError, find_problem, internal, respond
from gateway.socket_rights import ClosableReceive, SocketRights
from gateway.sockets import App, Receive, Scope, Send

_log: Final = logging.getLogger(__name__)


class Streams:
    """The streams of one process; they count as WebSockets, whose limits and checks of rights are theirs too."""

    def __init__(
        self, parts: DataPlaneParts, open_connections: OpenConnections, rights: SocketRights, apps: Mapping[str, App]
    ) -> None:
        self._parts = parts
        self._open = open_connections
        self._rights = rights
        self._apps = apps
        self._ids = RequestIds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = dict(scope["headers"])
        request_id = self._ids.of(headers.get(b"x-request-id"))
        stream: EventStream | None = None
        try:
            with self._open.socket(client_of(scope)):
                check_asked(scope)
                principal = await self._admit(headers, scope)
                channel = CHANNELS[scope["path"]]
                last_id = headers.get(b"last-event-id", b"").decode("latin-1")
                first = first_frame(channel, scope["query_string"], last_id)
                stream = EventStream(channel, scope, receive, send, first)
                await self._run(stream, scope["path"], principal)
        except Exception as error:  # noqa: BLE001 - the top of a request
            problem = find_problem(error)
            if problem is None:
                _log.exception("request %s: %s failed", request_id, scope["path"])
                problem = internal(request_id)
            if stream is not None and stream.is_open:
                return
            status, answer, body = respond(problem, instance=scope["path"], request_id=request_id)
            answer.append((b"x-request-id", request_id.encode()))
            await send({"type": "http.response.start", "status": status, "headers": answer})
            await send({"type": "http.response.body", "body": body})

    async def _admit(self, headers: Mapping[bytes, bytes], scope: Scope) -> Principal:
        self._parts.check_host(headers)
        principal = await self._parts.auth.of_stream(headers, scope["query_string"], self._parts.address_of(scope))
        if not principal.may("read"):
            raise ProblemError(FORBIDDEN, "You do not have the right to read.")
        return principal

    async def _run(self, stream: EventStream, path: str, principal: Principal) -> None:
        closable = ClosableReceive(stream.next_event)
        more = {"principal": principal, "store": self._parts.redis, "connections": self._parts.connections}
        with self._parts.metrics.socket(), self._rights.watched(principal, closable.close):
            await stream.run(self._apps[path], closable, more, ended=closable.send_close)
