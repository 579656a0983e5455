"""Problems for the control plane: exceptions of DRF and Django as problem documents like those of the data plane."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from math import ceil
from string import ascii_lowercase
from typing import Any, Final

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.http import Http404, HttpResponse
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import set_rollback

from console.accounts.models import User
from console.accounts.permissions import actor_of
from console.audit.refusals import record_refusal
from console.errors import NotServed
from console.pointers import escaped
from gateway import problems
from gateway.problems import (
    CSRF_FAILED,
    FORBIDDEN,
    INVALID,
    MALFORMED,
    NOT_AUTHENTICATED,
    NOT_FOUND,
    RATE_LIMITED,
    FieldError,
    ProblemError,
    ProblemKind,
    find_problem,
    internal,
    respond,
)

_log = logging.getLogger(__name__)
_WITH_BODY: Final = ("POST", "PUT", "PATCH")
# How details begin that need the name of their field: those of the console, and DRF's.
_PARTS: Final = (*ascii_lowercase, "This ", "Ensure ", "A valid ", "Not a valid ")

# By code: those of DRF, and those of the console's exceptions (`default_code`), which are called as the kinds are.
_BY_CODE: Final[dict[str, ProblemKind]] = {
    **{kind.code.lower(): kind for kind in vars(problems).values() if isinstance(kind, ProblemKind)},
    "parse_error": MALFORMED,
    "authentication_failed": NOT_AUTHENTICATED,
    "permission_denied": FORBIDDEN,
    "throttled": RATE_LIMITED,
}


def exception_handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Return the answer for an exception of a view (REST_FRAMEWORK's EXCEPTION_HANDLER)."""
    request = context["request"]
    request_id = getattr(request, "request_id", "")
    problem = problem_of(error, "?" if request.method not in _WITH_BODY or _is_of_query(error, request) else "#/")
    if problem is None:
        _log.error("request %s: %s %s failed", request_id, request.method, request.path, exc_info=error)
        problem = internal(request_id)
    set_rollback()
    if problem.kind is FORBIDDEN and isinstance(request.user, User):
        record_refusal(actor_of(request), f"access.{request.method.lower()}", request.path, problem.detail)
    status, headers, body = respond(problem, instance=request.path, request_id=request_id)
    response = HttpResponse(body, status=status)
    for name, value in headers:
        response[name.decode("latin-1")] = value.decode("latin-1")
    authenticate = getattr(error, "auth_header", None)
    if authenticate:
        response["WWW-Authenticate"] = authenticate
    return response


def _is_of_query(error: Exception, request: Request) -> bool:
    fields = error.detail if isinstance(error, exceptions.ValidationError) else None
    return isinstance(fields, dict) and fields.keys() <= request.query_params.keys()


def problem_of(error: Exception, place: str = "#/") -> ProblemError | None:
    """Return the problem for an exception of a view, or None if the exception is unexpected.

    `place` is the prefix of the fields of a ValidationError: ``#/`` in the body, ``?`` in the query.
    """
    if isinstance(error, Http404):
        return ProblemError(NOT_FOUND, str(error) or "Not found.")
    if isinstance(error, DjangoPermissionDenied):
        return ProblemError(FORBIDDEN, str(error) or "This is not allowed.")
    if isinstance(error, exceptions.APIException):
        return _of_api_exception(error, place)
    return find_problem(error)


def _of_api_exception(error: exceptions.APIException, place: str) -> ProblemError:
    if isinstance(error, exceptions.ValidationError):
        errors = list(_field_errors(error.detail, place[0], place[1:]))
        return ProblemError(INVALID, _sentence(errors[0]) if errors else "The request is not valid.", errors=errors)
    detail = str(error.detail)
    if isinstance(error, NotServed):
        errors = [FieldError(fault.pointer, fault.code, fault.detail) for fault in error.faults]
        return ProblemError(INVALID, detail, errors=errors)
    kind = _kind_of(error, detail)
    wait = getattr(error, "wait", None)
    return ProblemError(kind, detail, retry_after_s=None if wait is None else ceil(wait))


def _sentence(error: FieldError) -> str:
    """Return the detail of an error as a sentence of its own: next to its field it may be a part of one."""
    field = error.pointer.lstrip("#/?")
    if not field or not error.detail.startswith(_PARTS):
        return error.detail
    return f"{field}: {error.detail}{'' if error.detail.endswith('.') else '.'}"


def _kind_of(error: exceptions.APIException, detail: str) -> ProblemKind:
    code = getattr(error.detail, "code", None) or error.default_code
    if detail.startswith("CSRF Failed"):
        return CSRF_FAILED
    known = _BY_CODE.get(code) or _BY_CODE.get(error.default_code)
    if known is not None and known.status == error.status_code:
        return known
    return ProblemKind(error.status_code, str(code).upper(), str(error.default_detail), error.status_code in (429, 503))


def _field_errors(detail: Any, pointer: str, step: str = "/") -> Iterator[FieldError]:
    """Yield DRF's nested errors with their JSON pointers; `step` is the separator before the outermost names."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            inside = pointer if name == "non_field_errors" else f"{pointer}{step}{escaped(str(name))}"
            yield from _field_errors(inner, inside)
    elif isinstance(detail, list | tuple):
        nested = any(isinstance(inner, Mapping | list) for inner in detail)
        for index, inner in enumerate(detail):
            yield from _field_errors(inner, f"{pointer}/{index}" if nested else pointer)
    else:
        code = str(getattr(detail, "code", "invalid")).upper()
        yield FieldError(pointer, code, str(detail))
