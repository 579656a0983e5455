"""Calls of etcd's JSON gateway, each at one member and for a short time (controller/README.md#members-and-time-outs).

The HTTP client repeats nothing, and takes nothing from the environment: which member is asked, for how long, and what
follows from a failure is decided here and above.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Any, Final, Protocol

import httpx
import orjson

from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.connections import Transport
from broker_core.controller.etcd.errors import Declined, EtcdError, NotSent, Unanswered, error_of
from broker_core.controller.etcd.members import Members, Turn
from broker_core.controller.etcd.messages import AUTHENTICATE, Json
from broker_core.logs import get_logger
from broker_core.remoting.client_tls import ClientTlsFiles

_BROKEN: Final = (httpx.TransportError, OSError)
"""The client lets errors of TLS that come after the handshake through as they are."""
_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LOGIN_ATTEMPTS: Final = 2
"""How many attempts' time a login has: etcd works at a password for a fifth of a second, on purpose."""
_HAS_LEADER: Final = {"Grpc-Metadata-hasleader": "true"}
"""Ends a stream at a member that is cut off from the others, which would be silent otherwise."""
_OK: Final = 200

_log: Final = get_logger(__name__)


class Calls(Protocol):
    """What the rest of this package knows of a gateway."""

    async def call(self, path: str, asked: Json) -> Json:
        """Ask the present member once; raises EtcdError. After NotSent and Unanswered the next call asks another."""
        ...

    def move_on(self) -> None:
        """Ask another member from now on."""
        ...


class Gateway:
    """One user's connections to etcd, with a login of its own if there is a user."""

    def __init__(self, config: EtcdConfig, members: Members, first: int = 0) -> None:
        self._config = config
        self._members = members
        self._turn = Turn(config.endpoints, first)
        self._http = httpx.AsyncClient(transport=Transport(_tls(config)), trust_env=False, timeout=None)  # noqa: S113
        self._token = ""
        self._login = asyncio.Lock()

    async def close(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def call(self, path: str, asked: Json) -> Json:
        """Ask the present member once; raises EtcdError. After NotSent and Unanswered the next call asks another."""
        endpoint = self._turn.now
        try:
            answer = await self.ask(endpoint, path, asked)
        except (NotSent, Unanswered):
            self._turn.move_on(endpoint)
            raise
        return answer

    def move_on(self) -> None:
        """Ask another member from now on."""
        self._turn.move_on(self._turn.now)

    async def ask(self, endpoint: str, path: str, asked: Json) -> Json:
        """Ask a given member once; raises EtcdError."""
        token = await self._token_at(endpoint)
        try:
            return await self._post(endpoint, path, asked, token)
        except Declined as error:
            if not (self._config.user and error.wants_login):
                raise
        return await self._post(endpoint, path, asked, await self._token_at(endpoint, old=token))

    async def text(self, endpoint: str, path: str) -> str:
        """Return what a member says at a path that is not part of the gateway; raises EtcdError."""
        response = await self._send(endpoint, self._http.build_request("GET", endpoint + path))
        if response.status_code != _OK:
            raise error_of(endpoint, response.status_code, None, response.text)
        return response.text

    @asynccontextmanager
    async def stream(self, path: str, asked: Json) -> AsyncIterator[AsyncIterator[Json]]:
        """Open a stream of messages at the present member; raises EtcdError, also while they are read."""
        endpoint = self._turn.now
        token = await self._token_at(endpoint)
        request = self._request(endpoint, path, asked, token, _HAS_LEADER)
        response = await self._send(endpoint, request, stream=True)
        try:
            if response.status_code != _OK:
                await response.aread()
                raise self._refused(endpoint, response)
            yield self._messages(endpoint, response)
        except _BROKEN as error:
            raise Unanswered(f"{endpoint}: {_reason(error)}") from error
        finally:
            await response.aclose()

    def forget_login(self) -> None:
        """Log in again before the next call: a stream tells that a login has ended in its first message only."""
        self._token = ""

    async def _messages(self, endpoint: str, response: httpx.Response) -> AsyncIterator[Json]:
        async for line in response.aiter_lines():
            if line:
                yield _content(endpoint, line)

    async def _token_at(self, endpoint: str, old: str = "") -> str:
        if not self._config.user:
            return ""
        async with self._login:
            if self._token in ("", old):
                asked = {"name": self._config.user, "password": self._config.password}
                # A login that failed leaves none: the next call tries again.
                self._token = ""
                self._token = str((await self._post(endpoint, AUTHENTICATE, asked, "", _LOGIN_ATTEMPTS))["token"])
            return self._token

    async def _post(self, endpoint: str, path: str, asked: Json, token: str, attempts: int = 1) -> Json:
        response = await self._send(endpoint, self._request(endpoint, path, asked, token), attempts)
        if response.status_code != _OK:
            raise self._refused(endpoint, response)
        return _content(endpoint, response.content)

    def _request(
        self, endpoint: str, path: str, asked: Json, token: str, more: Mapping[str, str] | None = None
    ) -> httpx.Request:
        headers = {"Content-Type": "application/json", **(more or {}), **({"Authorization": token} if token else {})}
        return self._http.build_request("POST", endpoint + path, content=orjson.dumps(asked), headers=headers)

    async def _send(
        self, endpoint: str, request: httpx.Request, attempts: int = 1, *, stream: bool = False
    ) -> httpx.Response:
        seconds = self._config.attempt_seconds * attempts
        try:
            async with asyncio.timeout(seconds):
                response = await self._http.send(request, stream=stream)
        except _NOT_SENT as error:
            raise self._missed(NotSent(f"{endpoint}: {_reason(error)}"), endpoint) from error
        except TimeoutError as error:
            raise self._missed(Unanswered(f"{endpoint}: no answer within {seconds:g} s"), endpoint) from error
        except _BROKEN as error:
            raise self._missed(Unanswered(f"{endpoint}: {_reason(error)}"), endpoint) from error
        if self._members.note(endpoint, reached=True):
            _log.info("etcd member %s answers", endpoint)
        return response

    def _missed(self, error: EtcdError, endpoint: str) -> EtcdError:
        if self._members.note(endpoint, reached=False):
            _log.warning("etcd member does not answer: %s", error)
        return error

    def _refused(self, endpoint: str, response: httpx.Response) -> EtcdError:
        return error_of(endpoint, response.status_code, _json(response.content), response.text)


def _tls(config: EtcdConfig) -> SSLContext | None:
    # Without a member that has TLS the certificates of all authorities need not be read.
    if not any(endpoint.startswith("https:") for endpoint in config.endpoints):
        return None
    return ClientTlsFiles(config.ca_file, config.cert_file, config.key_file).context()


def _content(endpoint: str, data: bytes | str) -> Json:
    """Return an answer, or a message of a stream, which the gateway wraps; raises EtcdError if it is an error."""
    found = _json(data)
    if found is None:
        raise Unanswered(f"{endpoint}: the answer is not JSON")
    if "error" in found:
        raise error_of(endpoint, _OK, found, "")
    result: Json = found.get("result", found)
    return result


def _json(data: bytes | str) -> dict[str, Any] | None:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
