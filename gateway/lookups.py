"""The look-ups that the data plane and the sockets are handed: tokens, sessions and tickets as Django keeps them."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse, parse_cookie
from django.middleware.csrf import CsrfViewMiddleware

from console.accounts import services, tickets
from console.accounts.models import Token, User
from gateway.auth import Headers, Principal


async def find_token(text: str) -> Principal | None:
    """Return the principal of a token's text, None when it is unknown, revoked or expired."""
    return await sync_to_async(_find_token)(text)


async def find_session(headers: Headers) -> Principal | None:
    """Return who is signed in by the cookies of a request."""
    key = _cookies(headers).get(settings.SESSION_COOKIE_NAME)
    return None if key is None else await sync_to_async(_find_session)(key)


def csrf_passed(headers: Headers) -> bool:
    """Return whether a request that changes something comes from our own page: Django's check, on these headers."""
    request: Any = HttpRequest()
    request.method = "POST"
    request.COOKIES = _cookies(headers)
    for name, value in headers.items():
        request.META[f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}"] = value.decode("latin-1")
    check = CsrfViewMiddleware(_no_view)
    check.process_request(request)
    return check.process_view(request, _no_view, (), {}) is None


async def redeem_ticket(text: str) -> Principal | None:
    """Return for whom a ticket was made and void it; None when it is not valid any more."""
    ticket = await tickets.redeem(text)
    return None if ticket is None else await sync_to_async(_find_user)(ticket)


def allowed_origin(headers: Headers) -> bool:
    """Return whether a browser's handshake comes from our own page, or one that the settings trust.

    A program sends no Origin; it has no cookies that others could use either.
    """
    origin = headers.get(b"origin", b"").decode("latin-1")
    if not origin:
        return True
    host = headers.get(b"host", b"").decode("latin-1").lower()
    return urlsplit(origin).netloc.lower() == host or origin in settings.CSRF_TRUSTED_ORIGINS


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


def _find_session(key: str) -> Principal | None:
    close_old_connections()
    request: Any = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return _in_person(user) if isinstance(user, User) and user.is_active else None


def _cookies(headers: Headers) -> dict[str, str]:
    return parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))


def _no_view(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _by_token(token: Token) -> Principal:
    user = token.user
    return Principal(user.pk, user.get_username(), user.role, tuple(token.scopes), token.pk)


def _in_person(user: User) -> Principal:
    return Principal(user.pk, user.get_username(), user.role)
