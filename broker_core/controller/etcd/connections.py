"""Connections of the HTTP client that a request which was given up cannot leave behind.

httpcore keeps a connection whose first request was given up after it was opened and before the request was begun: it
never uses it again, and never closes it.
"""

from __future__ import annotations

from ssl import SSLContext
from typing import Final

import httpcore
import httpx

_KEEPALIVE: Final = 8
_KEEPALIVE_SECONDS: Final = 60.0


class Transport(httpx.AsyncHTTPTransport):
    """One that opens a connection for each request that finds none idle, and keeps some of them for the next."""

    def __init__(self, tls: SSLContext | None) -> None:
        super().__init__(verify=tls or False, trust_env=False)
        self._pool = _Pool(tls)


class _Pool(httpcore.AsyncConnectionPool):
    def __init__(self, tls: SSLContext | None) -> None:
        super().__init__(
            tls, max_connections=None, max_keepalive_connections=_KEEPALIVE, keepalive_expiry=_KEEPALIVE_SECONDS
        )
        self._tls = tls

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        return _Connection(origin, self._tls, _KEEPALIVE_SECONDS)


class _Connection(httpcore.AsyncHTTPConnection):
    _is_new = True

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        is_first, self._is_new = self._is_new, False
        try:
            return await super().handle_async_request(request)
        except BaseException:
            # Nobody else has it before its first request is answered.
            if is_first:
                await self.aclose()
            raise
