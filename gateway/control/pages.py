"""Pages for browsers: the console, and the description of the API."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import View
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.generators import SchemaGenerator
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

from gateway.control.api_docs import describe
from gateway.control.data_plane_paths import Schema
from gateway.problems import (
    CSRF_FAILED,
    FORBIDDEN,
    HOST_NOT_SERVED,
    MALFORMED,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    ProblemError,
    internal,
    respond,
)

_NOT_BUILT = "The console is not built yet: run `make setup`. The API is at /api/v1, its description at /docs/api.\n"


class ConsoleFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves the files of the built console without streaming: an ASGI server cannot stream plain files."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the file with its headers, or the answer to a conditional request."""
        if request.method not in ("GET", "HEAD"):
            return _only_get(request)
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        return response


# These views change nothing, and an unknown path is 404 also without a CSRF token.
@csrf_exempt
def console(request: HttpRequest) -> HttpResponse:
    """Return the page of the console, which is the same for all its addresses."""
    if request.method not in ("GET", "HEAD"):
        if request.path != "/":
            return not_found(request)
        return _only_get(request)
    page = settings.CONSOLE_FILES / "index.html"
    if not page.is_file():
        return HttpResponse(_NOT_BUILT, status=503, content_type="text/plain; charset=utf-8")
    response = HttpResponse(_placed(page.read_text()), content_type="text/html; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response


def _only_get(request: HttpRequest) -> HttpResponse:
    refusal = ProblemError(METHOD_NOT_ALLOWED, "Only GET is allowed.", headers=[(b"allow", b"GET, HEAD")])
    return _problem(request, refusal)


def _placed(page: str) -> str:
    """Return the page with the base path before the addresses of its files, which the build leaves relative."""
    base = settings.GANTRY_BASE_PATH
    return page.replace('="./', f'="{base}/').replace(
        'name="base-path" content=""', f'name="base-path" content="{base}"'
    )


@csrf_exempt
def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the problem for an unknown path."""
    return _problem(request, ProblemError(NOT_FOUND, f"There is nothing at {request.path[:200]!r}."))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the problem for a request that Django itself refuses."""
    if isinstance(exception, DisallowedHost):
        host = request.META.get("HTTP_HOST", "")[:100]
        detail = f"The host name {host!r} is not served; see GANTRY_ALLOWED_HOSTS."
        return _problem(request, ProblemError(HOST_NOT_SERVED, detail))
    return _problem(request, ProblemError(MALFORMED, str(exception) or "The request cannot be read."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the problem for a request that is not allowed."""
    return _problem(request, ProblemError(FORBIDDEN, str(exception) or "This is not allowed."))


def failed(request: HttpRequest) -> HttpResponse:
    """Return the problem for an unexpected error, which Django has logged."""
    return _problem(request, internal(getattr(request, "request_id", "")))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the problem for a change without a valid CSRF token."""
    return _problem(request, ProblemError(CSRF_FAILED, reason or "The CSRF token is missing or wrong."))


class ApiDocs(View):
    """The API for people: one page without scripts, made from the OpenAPI document."""

    _page: ClassVar[Schema | None] = None

    def get(self, request: HttpRequest) -> HttpResponse:
        """Return the page."""
        if ApiDocs._page is None:
            generator = SchemaGenerator()  # type: ignore[no-untyped-call]
            ApiDocs._page = describe(generator.get_schema(request=None, public=True))  # type: ignore[no-untyped-call]
        return render(request, "api_docs.html", ApiDocs._page)


def _problem(request: HttpRequest, problem: ProblemError) -> HttpResponse:
    request_id = getattr(request, "request_id", "")
    status, headers, body = respond(problem, instance=request.path, request_id=request_id)
    response = HttpResponse(body, status=status)
    for name, value in headers:
        response[name.decode("latin-1")] = value.decode("latin-1")
    return response
