"""Middleware for all answers of Django: a request id, security headers, and slashes in the names of a path."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_ENCODED_SLASH: Final = re.compile(b"%2f", re.IGNORECASE)
# Half a surrogate pair: UTF-8 has none.
_MARK: Final = "\udc2f"
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


class EncodedSlashMiddleware:
    """Lets a name in a path have a slash, as ``brokers/a%2Fb``: Apache RocketMQ's name servers take any name.

    The server decodes the whole path, after which such a slash looks like one between two parts. Here it becomes a
    character that no path can have, until the path is split.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: Any) -> HttpResponseBase:
        """Mark the slashes that belong to names, for the choice of the view alone: `request.path` stays as it is."""
        raw = getattr(request, "scope", {}).get("raw_path") or b""
        if b"%2f" in raw.lower():
            path = _ENCODED_SLASH.sub(_MARK.encode("utf-8", "surrogatepass"), raw.partition(b"?")[0])
            request.path_info = unquote_to_bytes(path).decode("utf-8", "surrogatepass")
        return self._get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]) -> None:
        """Give the view the names as the caller wrote them."""
        for name, value in kwargs.items():
            if isinstance(value, str):
                kwargs[name] = value.replace(_MARK, "/")


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
