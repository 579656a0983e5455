"""Authentication of DRF requests: a bearer token, or the session of the console with CSRF protection."""

from __future__ import annotations

from typing import Any

from rest_framework import authentication, exceptions
from rest_framework.request import Request

from console.accounts.addresses import address_of
from console.accounts.models import Token, User
from console.accounts.open_sessions import note_use
from console.accounts.services import find_token


class TokenAuthentication(authentication.BaseAuthentication):
    """``Authorization: Bearer gty_…``; `request.auth` is then the Token."""

    keyword = "bearer"

    def authenticate(self, request: Request) -> tuple[User, Token] | None:
        """Return user and token; None without such a header; raise AuthenticationFailed for a wrong token."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != self.keyword:
            return None
        token = find_token(text.strip(), address_of(request))
        if token is None:
            raise exceptions.AuthenticationFailed("The token is unknown, revoked or expired.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the ``WWW-Authenticate`` header of a 401."""
        return 'Bearer realm="gantry"'


class SessionAuthentication(authentication.SessionAuthentication):
    """The console's session cookie; every change must carry ``X-CSRFToken``."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """Return the user, and note that the session is used."""
        found: tuple[Any, Any] | None = super().authenticate(request)
        if found is not None:
            note_use(request._request.session, address=address_of(request))
        return found

    def authenticate_header(self, request: Request) -> str:
        """Return a scheme for which browsers do not open a password dialog."""
        return 'Session realm="gantry"'
