"""Authentication: a bearer token, a browser's session or a WebSocket ticket becomes a `Principal`.

This module does not know where tokens and sessions are stored: `gateway.composition` passes in the look-ups. So the
data plane, which uses this module, needs no framework.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs

from console.accounts.deciding import Rights, rights_of
from console.accounts.explaining import refusal_of
from console.accounts.rights import ANYTHING, Resource, Unnamed, Verb
from console.accounts.rules import RoleRules
from gateway.problems import CSRF_FAILED, FORBIDDEN, NOT_AUTHENTICATED, ProblemError

Headers = Mapping[bytes, bytes]
_Asked = tuple[Verb, Resource | Unnamed, str | None]

# A token that was revoked, or whose user lost a role, works at most this much longer.
TOKEN_CACHE_SECONDS: Final = 5.0
_MAX_CACHED: Final = 10_000
_MAX_TOKEN_LENGTH: Final = 256
_MOST_GRANTED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Principal:
    """A user who acts directly (without a token) or with a token whose scopes narrow the role."""

    user_id: int
    name: str
    role: str
    scopes: tuple[str, ...] | None = None
    token_id: int | None = None
    session: str | None = field(default=None, repr=False)
    """The key of the session with which the user signed in."""
    token_name: str | None = None
    own_roles: tuple[RoleRules, ...] = ()
    """The roles that are not built in, with their rules."""
    rights: Rights = field(init=False, repr=False, compare=False)
    _granted: set[_Asked] = field(default_factory=set, init=False, repr=False, compare=False)
    """What was allowed before: a principal is looked up again every few seconds, and rights do not change meanwhile."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rights", rights_of(self.role, self.own_roles, self.scopes))

    def may(self, verb: Verb, resource: Resource | Unnamed = ANYTHING) -> bool:
        """Return whether this principal may do `verb` on the topic, group or other named resource."""
        return self.rights.may(verb, resource)

    def require(self, verb: Verb, resource: Resource | Unnamed = ANYTHING, *, group: str | None = None) -> None:
        """Raise FORBIDDEN unless this principal may do `verb` on `resource`; `group` is for consuming."""
        if (verb, resource, group) in self._granted:
            return
        if not self.rights.may(verb, resource, group=group):
            raise ProblemError(FORBIDDEN, refusal_of(self.rights, verb, resource, group=group))
        if len(self._granted) < _MOST_GRANTED:
            self._granted.add((verb, resource, group))

    @property
    def key(self) -> str:
        """The key under which rates and leases are counted: the token, or the user without a token."""
        return f"t{self.token_id}" if self.token_id is not None else f"u{self.user_id}"

    @property
    def credential(self) -> tuple[str, object]:
        """The key for looking up the principal again: the token, the session, or else the user."""
        if self.token_id is not None:
            return "token", self.token_id
        return ("user", self.user_id) if self.session is None else ("session", self.session)


FindToken = Callable[[str, str], Awaitable[Principal | None]]
"""By the text of a token, and the address from which it is used."""
FindSession = Callable[[Headers], Awaitable[Principal | None]]
RedeemTicket = Callable[[str], Awaitable[Principal | None]]


class Authenticator:
    """Authenticates callers; caches the look-up of each token for a few seconds, also of unknown ones."""

    def __init__(
        self,
        find_token: FindToken,
        *,
        find_session: FindSession | None = None,
        redeem_ticket: RedeemTicket | None = None,
        csrf_passed: Callable[[Headers], bool] = lambda _: False,
        allowed_origin: Callable[[Headers], bool] = lambda _: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find_token = find_token
        self._find_session = find_session
        self._redeem_ticket = redeem_ticket
        self._csrf_passed = csrf_passed
        self._allowed_origin = allowed_origin
        self._clock = clock
        self._cache: dict[bytes, tuple[float, Principal | None]] = {}
        self._looking_up: dict[bytes, asyncio.Lock] = {}

    def cached(self, authorization: bytes) -> Principal | None:
        """Return the principal of an Authorization header from the cache, or None."""
        entry = self._cache.get(authorization)
        return entry[1] if entry is not None and entry[0] > self._clock() else None

    async def of_request(self, headers: Headers, address: str = "") -> Principal:
        """Return the caller of an HTTP request that changes something; raise NOT_AUTHENTICATED or CSRF_FAILED.

        A session needs its CSRF token, because browsers also send cookies with requests from other sites.
        `address` is kept as that of the token's last use.
        """
        authorization = headers.get(b"authorization")
        if authorization is not None:
            return await self._of_token(authorization, address)
        principal = await self._find_session(headers) if self._find_session is not None else None
        if principal is None:
            raise ProblemError(NOT_AUTHENTICATED, "The request carries neither a bearer token nor a session.")
        if not self._csrf_passed(headers):
            if _origin(headers) and not self._allowed_origin(headers):
                raise ProblemError(CSRF_FAILED, f"Origin {_origin(headers)!r} is not one of this installation.")
            raise ProblemError(CSRF_FAILED, "Send the value of the cookie csrftoken in the header X-CSRFToken.")
        return principal

    async def of_socket(self, headers: Headers, query: bytes, address: str = "") -> Principal:
        """Return the caller of a WebSocket handshake: a token, a ticket, or a session from an allowed origin."""
        authorization = headers.get(b"authorization")
        if authorization is not None:
            return await self._of_token(authorization, address)
        tickets = parse_qs(query.decode("latin-1")).get("ticket", [])
        if tickets and self._redeem_ticket is not None:
            principal = await self._redeem_ticket(tickets[0])
            if principal is None:
                raise ProblemError(NOT_AUTHENTICATED, "The ticket was already used, or is older than a minute.")
            return principal
        if not self._allowed_origin(headers):
            raise ProblemError(FORBIDDEN, f"Origin {_origin(headers)!r} is not allowed.")
        found = await self._find_session(headers) if self._find_session is not None else None
        if found is None:
            raise ProblemError(NOT_AUTHENTICATED, "The handshake carries no token, no ticket and no session.")
        return found

    async def of_stream(self, headers: Headers, query: bytes, address: str = "") -> Principal:
        """Return the caller of a GET that is answered by a stream: as of a WebSocket, whose Origin may be missing here.

        A browser sends none with a request to its own site; the answer to another site cannot be read there.
        """
        if _origin(headers) or b"authorization" in headers or b"ticket=" in query:
            return await self.of_socket(headers, query, address)
        found = await self._find_session(headers) if self._find_session is not None else None
        if found is None:
            raise ProblemError(NOT_AUTHENTICATED, "The request carries no token, no ticket and no session.")
        return found

    async def _of_token(self, authorization: bytes, address: str) -> Principal:
        entry = self._cache.get(authorization)
        if entry is None or entry[0] <= self._clock():
            # Concurrent requests with this token share one look-up.
            async with self._looking_up.setdefault(authorization, asyncio.Lock()):
                entry = self._cache.get(authorization)
                if entry is None or entry[0] <= self._clock():
                    entry = await self._look_up(authorization, address)
        if entry[1] is None:
            raise ProblemError(NOT_AUTHENTICATED, "The token is unknown, revoked or expired.")
        return entry[1]

    async def _look_up(self, authorization: bytes, address: str) -> tuple[float, Principal | None]:
        try:
            principal = await self._find_token(_bearer(authorization), address)
        finally:
            self._looking_up.pop(authorization, None)
        now = self._clock()
        if len(self._cache) >= _MAX_CACHED:
            self._cache = {key: entry for key, entry in self._cache.items() if entry[0] > now}
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
        entry = self._cache[authorization] = (now + TOKEN_CACHE_SECONDS, principal)
        return entry


def _origin(headers: Headers) -> str:
    return headers.get(b"origin", b"").decode("latin-1")


def _bearer(authorization: bytes) -> str:
    """Return the token of the header ``Bearer <token>``; raise NOT_AUTHENTICATED for any other scheme."""
    scheme, _, token = authorization.partition(b" ")
    text = token.strip().decode("latin-1")
    if scheme.lower() != b"bearer" or not text or len(text) > _MAX_TOKEN_LENGTH:
        raise ProblemError(NOT_AUTHENTICATED, "The Authorization header does not have the form `Bearer <token>`.")
    return text
