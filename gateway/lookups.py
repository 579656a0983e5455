"""The look-ups that are passed to the data plane and the sockets: tokens, sessions and tickets stored by Django."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from io import BytesIO
from typing import Any, Final
from urllib.parse import urlsplit

import redis.asyncio
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, parse_cookie
from django.http.request import split_domain_port, validate_host
from django.middleware.csrf import CsrfViewMiddleware
from django.utils import timezone
from redis.exceptions import RedisError

from console.accounts import services, tickets
from console.accounts.models import Token, User
from console.audit.record import Actor, record
from console.audit.refusals import refusals
from console.clusters.memory import aremembered
from gateway.auth import Headers, Principal
from gateway.data.audit_notes import Note
from gateway.problems import REDIS_UNREACHABLE, ProblemError

# Longer than processes are apart that meet a new group at once; shorter than it takes to delete and use it again.
_TOLD_SECONDS: Final = 10
_LAST_PORT: Final = 65_535
_PORT_DIGITS: Final = 5

_log = logging.getLogger(__name__)
_writing: Final[set[asyncio.Task[None]]] = set()


async def find_token(text: str, address: str) -> Principal | None:
    """Return the principal of a token, or None if it is unknown, revoked or expired; record its use."""
    return await sync_to_async(_find_token)(text, address)


async def find_session(headers: Headers) -> Principal | None:
    """Return the principal of the session cookie of a request, or None."""
    key = _cookies(headers).get(settings.SESSION_COOKIE_NAME)
    return None if key is None else await sync_to_async(_find_session)(key)


def csrf_passed(headers: Headers) -> bool:
    """Return whether these headers pass Django's CSRF check for a request that changes something."""
    # The token is in a header, so the check needs neither the body nor the headers that describe it.
    kept = [(name, value) for name, value in headers.items() if not name.startswith(b"content-")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": kept}
    request = ASGIRequest(scope, BytesIO())
    check = CsrfViewMiddleware(_no_view)
    check.process_request(request)
    return check.process_view(request, _no_view, (), {}) is None


async def redeem_ticket(text: str) -> Principal | None:
    """Return the principal of a ticket and invalidate it; None if it is not valid."""
    try:
        ticket = await tickets.redeem(text)
    except RedisError as error:
        raise ProblemError(REDIS_UNREACHABLE, f"Tickets need Redis, which does not answer: {error}") from error
    return None if ticket is None else await sync_to_async(_find_user)(ticket)


async def find_again(principals: Sequence[Principal]) -> list[Principal | None]:
    """Return each of these principals as it is now, None if its token, session or user no longer exists."""
    return await sync_to_async(_find_again)(principals)


def allowed_origin(headers: Headers) -> bool:
    """Return whether a browser's handshake comes from our own page, or from an origin that the settings trust.

    Programs send no Origin, and their cookies cannot be misused by other sites.
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    host, page = headers.get(b"host", b"").decode("latin-1").lower(), urlsplit(origin)
    # This process speaks plain HTTP: only a proxy that the settings tell of serves a page of ours with TLS.
    schemes = ("http", "https") if settings.GANTRY_PROXIES or settings.GANTRY_PUBLIC_URL else ("http",)
    return page.netloc.lower() == host and page.scheme in schemes


def note(store: redis.asyncio.Redis, entry: Note) -> None:
    """Write an entry to the audit in the background; a repeated refusal is recorded only once in a while.

    `store` is shared by the processes: what several of them report at once is recorded once.
    """
    who = entry.who
    by = Actor(who.user, None, who.name if who.kind == "token" else None, entry.request_id, who.address)
    if entry.result == "refused" and not refusals.should_record(by, entry.action, entry.resource):
        return
    after = {"reason": entry.reason} if entry.reason else None
    task = asyncio.create_task(_write_one(store, by, entry, after), name="audit: write")
    _writing.add(task)
    task.add_done_callback(_written)


async def wait_for_notes() -> None:
    """Wait until all entries are written."""
    await asyncio.gather(*_writing, return_exceptions=True)


async def known_groups(cluster: str) -> frozenset[str]:
    """Return the consumer groups that are remembered for the cluster's brokers."""
    seen = await aremembered(cluster)
    return frozenset(name for broker in seen.brokers.values() for name in broker.groups)


@lru_cache(maxsize=1024)
def serves_host(host: bytes) -> bool:
    """Return whether a Host header names this installation, by Django's rule, for requests that do not reach Django."""
    domain, _ = split_domain_port(host.decode("latin-1"))
    return bool(domain) and has_possible_port(host) and validate_host(domain, settings.ALLOWED_HOSTS)


def has_possible_port(host: bytes) -> bool:
    """Return whether a Host header names no port, or one that there can be; Django takes any number."""
    _, port = split_domain_port(host.decode("latin-1"))
    return not port or (len(port) <= _PORT_DIGITS and int(port) <= _LAST_PORT)


async def _write_one(store: redis.asyncio.Redis, by: Actor, entry: Note, after: dict[str, str] | None) -> None:
    if not entry.is_of_one or await _is_first(store, entry):
        await sync_to_async(_write)(by, entry, after)


async def _is_first(store: redis.asyncio.Redis, entry: Note) -> bool:
    try:
        told = await store.set(f"gantry:noted:{entry.action}:{entry.resource}", 1, nx=True, ex=_TOLD_SECONDS)
    except RedisError as error:
        _log.warning("audit: %s of %s may stand there twice: %s", entry.action, entry.resource, error)
        return True
    return bool(told)


def _write(by: Actor, entry: Note, after: dict[str, str] | None) -> None:
    close_old_connections()
    record(by, entry.action, entry.resource, result=entry.result, after=after)


def _written(task: asyncio.Task[None]) -> None:
    _writing.discard(task)
    if not task.cancelled() and task.exception() is not None:
        _log.error("audit: an entry could not be written", exc_info=task.exception())


def _find_token(text: str, address: str) -> Principal | None:
    close_old_connections()
    token = services.find_token(text, address)
    return None if token is None else _of_token(token)


def _find_user(ticket: tickets.Ticket) -> Principal | None:
    close_old_connections()
    if ticket.token_id is not None:
        return _find_tokens([ticket.token_id]).get(ticket.token_id)
    if ticket.session is not None:
        return _find_session(ticket.session)
    return _find_users([ticket.user_id]).get(ticket.user_id)


def _find_again(principals: Sequence[Principal]) -> list[Principal | None]:
    close_old_connections()
    tokens = _find_tokens([each.token_id for each in principals if each.token_id is not None])
    users = _find_users([each.user_id for each in principals if each.token_id is None and each.session is None])
    found: list[Principal | None] = []
    for each in principals:
        if each.token_id is not None:
            found.append(tokens.get(each.token_id))
        else:
            found.append(users.get(each.user_id) if each.session is None else _find_session(each.session))
    return found


def _find_tokens(ids: Sequence[int]) -> dict[int, Principal]:
    if not ids:
        return {}
    not_expired = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = (
        Token.objects.select_related("user")
        .prefetch_related("user__own_roles")
        .filter(not_expired, pk__in=ids, user__is_active=True)
    )
    return {token.pk: _of_token(token) for token in rows}


def _find_users(ids: Sequence[int]) -> dict[int, Principal]:
    rows = User.objects.prefetch_related("own_roles").filter(pk__in=ids, is_active=True) if ids else ()
    return {user.pk: _of_user(user) for user in rows}


def _find_session(key: str) -> Principal | None:
    close_old_connections()
    request: Any = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return replace(_of_user(user), session=key) if isinstance(user, User) and user.is_active else None


def _cookies(headers: Headers) -> dict[str, str]:
    return parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))


def _no_view(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _of_token(token: Token) -> Principal:
    return replace(_of_user(token.user), scopes=tuple(token.scopes), token_id=token.pk, token_name=token.name)


def _of_user(user: User) -> Principal:
    return Principal(user.pk, user.get_username(), user.role, own_roles=user.rules_of_own_roles)
