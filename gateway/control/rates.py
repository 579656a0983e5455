"""The rates of the control plane: reads and changes of one caller, counted with those of the other processes.

A caller is a token, a user in a browser, or the address of somebody who is not known. Requests that are refused for
want of a right are not counted; those without a token, or with a wrong one, are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from console.accounts.addresses import address_of
from console.accounts.models import Token, User
from gateway.limits import GatewayLimits
from gateway.problems import ProblemError, respond
from gateway.rates import Header, RateLimiter

if TYPE_CHECKING:
    from rest_framework.views import APIView  # it imports this module

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_UNAUTHENTICATED: Final = 401


class ControlRates:
    """The two limiters of one process."""

    def __init__(self, limits: GatewayLimits) -> None:
        self.read = RateLimiter(limits.read)
        self.change = RateLimiter(limits.change)

    def take(self, request: Request) -> tuple[Header, Header]:
        """Count a request; return the headers for its answer. Raises RATE_LIMITED."""
        return self._limiter(request.method).take(_caller(request), 1, time.monotonic())

    def take_of_unknown(self, request: HttpRequest) -> tuple[Header, Header]:
        """Count a request that nobody known sent, for its address; as `take`."""
        return self._limiter(request.method).take(f"a{address_of(request)}", 1, time.monotonic())

    def _limiter(self, method: str | None) -> RateLimiter:
        return self.read if method in _READS else self.change


_rates: ControlRates | None = None


def use(rates: ControlRates | None) -> None:
    """Count requests with these limiters; with None they are not counted."""
    global _rates
    _rates = rates


class CallerRate(BaseThrottle):
    """Refuses the request of a caller that is over its rate (REST_FRAMEWORK's DEFAULT_THROTTLE_CLASSES)."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Count the request; raise RATE_LIMITED if the caller must wait."""
        if _rates is not None:
            request._request.rate_headers = _rates.take(request)  # type: ignore[attr-defined]
        return True


class RateHeadersMiddleware:
    """Puts RateLimit-Policy and RateLimit on answers to requests that were counted, and counts the unauthenticated.

    Those end before the throttle: what they ask for is not theirs.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request."""
        response = self._get_response(request)
        if _rates is not None and response.status_code == _UNAUTHENTICATED and not hasattr(request, "rate_headers"):
            try:
                request.rate_headers = _rates.take_of_unknown(request)  # type: ignore[attr-defined]
            except ProblemError as refusal:
                return _answer(refusal, request)
        for name, value in getattr(request, "rate_headers", ()):
            response.headers[name.decode()] = value.decode()
        return response


def _answer(problem: ProblemError, request: HttpRequest) -> HttpResponse:
    request_id = getattr(request, "request_id", "")
    status, headers, body = respond(problem, instance=request.path, request_id=request_id)
    return HttpResponse(body, status=status, headers={name.decode(): value.decode() for name, value in headers})


def _caller(request: Request) -> str:
    """Return the key of the caller: the one that the data plane uses (`gateway.auth`), or an address."""
    if isinstance(request.auth, Token):
        return f"t{request.auth.pk}"
    if isinstance(request.user, User):
        return f"u{request.user.pk}"
    return f"a{address_of(request._request)}"
