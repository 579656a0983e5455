"""What every answer of Django carries: a request id, and headers that keep browsers careful."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")

# The console is one origin: its own files, its own API, its own sockets. Its component library writes style elements.
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
    """Keeps the caller's ``X-Request-Id``, or makes one; it is in the answer, in problems and in the audit."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: Any) -> HttpResponseBase:
        """Answer, with the id on request and response."""
        given = request.headers.get("X-Request-Id", "")
        request.request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        response = self._get_response(request)
        response.headers["X-Request-Id"] = request.request_id
        return response


class SecurityHeadersMiddleware:
    """Adds the content security policy and its like; what the API says is never kept by caches."""

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, with the headers."""
        response = self._get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        response.headers.setdefault("X-Frame-Options", "DENY")
        if request.path.startswith("/api/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response
