"""Middleware for all answers of Django: a request id, and security headers."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")

# The console uses one origin for files, API and sockets. Its component library inserts style elements.
CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


class RequestIdMiddleware:
    """Takes the caller's ``X-Request-Id`` or generates one; answers, problems and the audit contain it."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: Any) -> HttpResponseBase:
        """Set the id on request and response."""
        given = request.headers.get("X-Request-Id", "")
        request.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        response = self._get_response(request)
        response.headers["X-Request-Id"] = request.request_id
        return response


class SecurityHeadersMiddleware:
    """Adds the content security policy and similar headers; answers of the API are not cached."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Set the headers that the answer does not have yet."""
        response = self._get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        response.headers.setdefault("X-Frame-Options", "DENY")
        if request.path.startswith("/api/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response
