"""Serves the gateway below a path of a proxy, as GANTRY_PUBLIC_URL names it (docs/operations.md)."""

from __future__ import annotations

from typing import Final

from gateway.sockets import App, Event, Receive, Scope, Send

_REDIRECT: Final = 308


class BelowPath:
    """Takes the base path from requests, and puts it before the addresses in answers.

    A proxy may have taken it already: a request without it is served as it is.
    """

    def __init__(self, app: App, base: str) -> None:
        """`base` begins with a slash and does not end with one."""
        self._app = app
        self._base = base
        self._prefix = f"{base}/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, one socket or the lifespan."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        path: str = scope["path"]
        if path == self._base and scope["type"] == "http":
            await self._redirect(scope, send)
            return
        if path.startswith(self._prefix):
            # The base path has no letters that are percent-encoded, so it is as long in both forms.
            raw = scope.get("raw_path")
            scope = {**scope, "path": path[len(self._base) :], "raw_path": raw and raw[len(self._base) :]}
        await self._app(scope, receive, self._prefixing(send))

    async def _redirect(self, scope: Scope, send: Send) -> None:
        query = scope["query_string"]
        place = self._prefix.encode() + (b"?" + query if query else b"")
        headers = [(b"location", place), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": _REDIRECT, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _prefixing(self, send: Send) -> Send:
        async def prefixed(event: Event) -> None:
            if event["type"] == "http.response.start":
                headers = [self._placed(bytes(name), bytes(value)) for name, value in event.get("headers", ())]
                event = {**event, "headers": headers}
            await send(event)

        return prefixed

    def _placed(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        is_ours = name.lower() == b"location" and value.startswith(b"/") and not value.startswith(b"//")
        return name, self._base.encode() + value if is_ours else value
