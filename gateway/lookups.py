"""The look-ups that data plane and sockets are handed: tokens, sessions, tickets and clusters as Django keeps them."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.db import close_old_connections
from django.http import HttpRequest, parse_cookie
from django.middleware.csrf import CsrfViewMiddleware

from console.accounts import services, tickets
from console.accounts.models import Token, User
from console.clusters.connections import ClusterAddress
from console.clusters.models import Cluster
from console.clusters.services import address_of
from gateway.auth import Headers, Principal, SessionUser


async def find_token(text: str) -> Principal | None:
    """Return the principal of a token's text, None when it is unknown, revoked or expired."""
    return await sync_to_async(_find_token)(text)


async def find_session(headers: Headers) -> SessionUser | None:
    """Return who is signed in by the cookies of a request, and whether its CSRF token is right."""
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    if settings.SESSION_COOKIE_NAME not in cookies:
        return None
    return await sync_to_async(_find_session)(headers, cookies)


async def redeem_ticket(text: str) -> Principal | None:
    """Return for whom a ticket was made and void it; None when it is not valid any more."""
    ticket = await tickets.redeem(text)
    return None if ticket is None else await sync_to_async(_find_user)(ticket)


async def find_cluster(name: str) -> ClusterAddress | None:
    """Return where a cluster is reached, or None when the console does not know it."""
    # Not in the caller's thread: a view that waits for a cluster waits in the very thread that Django would choose.
    return await sync_to_async(_find_cluster, thread_sensitive=False)(name)


def allowed_origin(headers: Headers) -> bool:
    """Return whether a browser's handshake comes from our own page, or one that the settings trust.

    A program sends no Origin; it has no cookies that others could use either.
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin:
        return True
    host = headers.get(b"host", b"").decode("latin-1").lower()
    return urlsplit(origin).netloc.lower() == host or origin in settings.CSRF_TRUSTED_ORIGINS


def _find_cluster(name: str) -> ClusterAddress | None:
    close_old_connections()
    cluster = Cluster.objects.filter(name=name).first()
    return None if cluster is None else address_of(cluster)


def _find_token(text: str) -> Principal | None:
    close_old_connections()
    token = services.find_token(text)
    return None if token is None else _by_token(token)


def _find_user(ticket: tickets.Ticket) -> Principal | None:
    close_old_connections()
    if ticket.token_id is not None:
        token = Token.objects.select_related("user").filter(pk=ticket.token_id, user__is_active=True).first()
        return None if token is None else _by_token(token)
    user = User.objects.filter(pk=ticket.user_id, is_active=True).first()
    return None if user is None else _in_person(user)


def _find_session(headers: Headers, cookies: dict[str, str]) -> SessionUser | None:
    close_old_connections()
    request = _request(headers, cookies)
    user = get_user(request)
    if not isinstance(user, User) or not user.is_active:
        return None
    return SessionUser(_in_person(user), csrf_passed=_csrf_passed(request))


def _request(headers: Headers, cookies: dict[str, str]) -> Any:
    """Return as much of a Django request as sessions and the CSRF check look at."""
    request: Any = HttpRequest()
    request.method = "POST"
    request.COOKIES = cookies
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(cookies[settings.SESSION_COOKIE_NAME])
    for name, value in headers.items():
        text = value.decode("latin-1")
        request.META[f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}"] = text
    return request


def _csrf_passed(request: HttpRequest) -> bool:
    check = CsrfViewMiddleware(lambda _: None)  # type: ignore[arg-type, return-value]
    check.process_request(request)
    return check.process_view(request, lambda: None, (), {}) is None


def _by_token(token: Token) -> Principal:
    user = token.user
    return Principal(user.pk, user.get_username(), user.role, tuple(token.scopes), token.pk)


def _in_person(user: User) -> Principal:
    return Principal(user.pk, user.get_username(), user.role)
