"""The look-ups that the data plane and the sockets are handed: tokens, sessions and tickets as Django keeps them."""

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
from gateway.data.notes import Note
from gateway.problems import REDIS_UNREACHABLE, ProblemError

_log = logging.getLogger(__name__)
_writing: Final[set[asyncio.Task[None]]] = set()


async def find_token(text: str) -> Principal | None:
    """Return the principal of a token's text, None when it is unknown, revoked or expired."""
    return await sync_to_async(_find_token)(text)


async def find_session(headers: Headers) -> Principal | None:
    """Return who is signed in by the cookies of a request."""
    key = _cookies(headers).get(settings.SESSION_COOKIE_NAME)
    return None if key is None else await sync_to_async(_find_session)(key)


def csrf_passed(headers: Headers) -> bool:
    """Return whether a request that changes something comes from our own page: Django's check, on these headers."""
    # The token comes in a header, so the check needs no body, and no header that tells of one.
    kept = [(name, value) for name, value in headers.items() if not name.startswith(b"content-")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": kept}
    request = ASGIRequest(scope, BytesIO())
    check = CsrfViewMiddleware(_no_view)
    check.process_request(request)
    return check.process_view(request, _no_view, (), {}) is None


async def redeem_ticket(text: str) -> Principal | None:
    """Return for whom a ticket was made and void it; None when it is not valid any more."""
    try:
        ticket = await tickets.redeem(text)
    except RedisError as error:
        raise ProblemError(REDIS_UNREACHABLE, f"Tickets need Redis, which does not answer: {error}") from error
    return None if ticket is None else await sync_to_async(_find_user)(ticket)


async def find_again(principals: Sequence[Principal]) -> list[Principal | None]:
    """Return what each of these principals is now, None for one whose token, session or user is no more."""
    return await sync_to_async(_find_again)(principals)


def allowed_origin(headers: Headers) -> bool:
    """Return whether a browser's handshake comes from our own page, or one that the settings trust.

    A program sends no Origin; it has no cookies that others could use either.
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin:
        return True
    host = headers.get(b"host", b"").decode("latin-1").lower()
    return urlsplit(origin).netloc.lower() == host or origin in settings.CSRF_TRUSTED_ORIGINS


def note(told: Note) -> None:
    """Have the audit written, a while after the request that it tells of; equal refusals once in a while."""
    who = told.who
    by = Actor(who.user, None, who.name if who.kind == "token" else None, told.request_id, who.address)
    if told.result == "refused" and not refusals.are_news(by, told.action, told.resource):
        return
    after = {"reason": told.reason} if told.reason else None
    task = asyncio.create_task(sync_to_async(_write)(by, told, after), name="audit: write")
    _writing.add(task)
    task.add_done_callback(_written)


async def notes_written() -> None:
    """Wait until all that was told to the audit is written."""
    await asyncio.gather(*_writing, return_exceptions=True)


async def known_groups(cluster: str) -> frozenset[str]:
    """Return the consumer groups that were ever seen on the cluster's brokers."""
    seen = await aremembered(cluster)
    return frozenset(name for broker in seen.brokers.values() for name in broker.groups)


@lru_cache(maxsize=1024)
def serves_host(host: bytes) -> bool:
    """Return whether a Host header names this installation: Django's rule, for what never reaches Django."""
    domain, _ = split_domain_port(host.decode("latin-1"))
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _write(by: Actor, told: Note, after: dict[str, str] | None) -> None:
    close_old_connections()
    record(by, told.action, told.resource, result=told.result, after=after)


def _written(task: asyncio.Task[None]) -> None:
    _writing.discard(task)
    if not task.cancelled() and task.exception() is not None:
        _log.error("audit: a record could not be written", exc_info=task.exception())


def _find_token(text: str) -> Principal | None:
    close_old_connections()
    token = services.find_token(text)
    return None if token is None else _by_token(token)


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
    not_over = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    rows = Token.objects.select_related("user").filter(not_over, pk__in=ids, user__is_active=True)
    return {token.pk: _by_token(token) for token in rows}


def _find_users(ids: Sequence[int]) -> dict[int, Principal]:
    rows = User.objects.filter(pk__in=ids, is_active=True) if ids else ()
    return {user.pk: _in_person(user) for user in rows}


def _find_session(key: str) -> Principal | None:
    close_old_connections()
    request: Any = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return replace(_in_person(user), session=key) if isinstance(user, User) and user.is_active else None


def _cookies(headers: Headers) -> dict[str, str]:
    return parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))


def _no_view(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _by_token(token: Token) -> Principal:
    user = token.user
    return Principal(user.pk, user.get_username(), user.role, tuple(token.scopes), token.pk, token_name=token.name)


def _in_person(user: User) -> Principal:
    return Principal(user.pk, user.get_username(), user.role)
