"""The common part of all views of the control plane: refuse unknown input, and do no request twice."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final, NoReturn

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.exceptions import NotAuthenticated, NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from console import once, strict
from console.idempotency import KEEP_MS

_NO_CALLER: Final = "The request carries neither a bearer token nor a session."
_WRONG_SCHEME: Final = "The Authorization header does not have the form `Bearer <token>`."


class _Answered(Exception):
    """A request with the same key has already been answered."""

    def __init__(self, answer: HttpResponse) -> None:
        super().__init__("answered before")
        self.answer = answer


_PARAMETER: Final = re.compile("<[^>]*>")


def _names_action(request: Request) -> bool:
    """Return whether the path ends in an action (``:cancel``) that its route does not have."""
    match = request.resolver_match
    route = "" if match is None else _PARAMETER.sub("", match.route)
    return ":" in request.path.rpartition("/")[2] and ":" not in route.rpartition("/")[2]


class ApiView(APIView):
    """A view that accepts only what its `extend_schema` declares, and whose POSTs take an ``Idempotency-Key``."""

    # OPTIONS tells nothing that the OpenAPI document does not.
    http_method_names = ("get", "post", "put", "patch", "delete", "head")
    served_elsewhere: ClassVar[tuple[str, ...]] = ()
    """Methods of the same path that another part of the server answers."""
    answer_ms: ClassVar[int] = KEEP_MS
    """How long the answer to a POST with a key is kept; 0 refuses keys: it changes nothing, or signs in or out."""
    _keyed: once.KeyedRequest | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse unknown actions, missing rights, unknown input and running duplicates; a kept answer is the end."""
        if request.method == "POST" and not hasattr(self, "post") and _names_action(request):
            # A name cannot end in an action: whoever sends one means an action, which this path does not have.
            self.headers.pop("Allow")
            raise NotFound(f"There is nothing at {request.path[:200]!r}.")
        super().initial(request, *args, **kwargs)
        strict.check(request, self)
        begun = once.begin(request, answer_ms=self.answer_ms)
        if isinstance(begun, HttpResponse):
            raise _Answered(begun)
        self._keyed = begun

    @property
    def default_response_headers(self) -> dict[str, str]:
        """Return the headers of every answer; `Allow` has all methods of the path."""
        methods = sorted([*self.allowed_methods, *self.served_elsewhere])
        return {**super().default_response_headers, "Allow": ", ".join(methods)}

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> NoReturn:
        """Raise NotAuthenticated if nobody is known, in the words of the data plane; else PermissionDenied."""
        if request.authenticators and not request.successful_authenticator:
            raise NotAuthenticated(_WRONG_SCHEME if request.headers.get("Authorization") else _NO_CALLER)
        raise PermissionDenied(message, code)

    def handle_exception(self, error: Exception) -> HttpResponseBase:  # type: ignore[override]
        """Return the answer for an exception, or the kept answer."""
        return error.answer if isinstance(error, _Answered) else super().handle_exception(error)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Finish the answer, and keep it if the request has a key."""
        try:
            response = super().dispatch(request, *args, **kwargs)
        except BaseException:
            if self._keyed is not None:
                self._keyed.forget()
            raise
        if self._keyed is not None:
            if isinstance(response, Response):
                response.render()
            self._keyed.end(response)
        return response
