"""Requirements of `gateway.problem_views`: exceptions of DRF and Django become the same problems as elsewhere."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.test import APIRequestFactory

from broker_core.client.errors import TopicNotFound
from console.errors import AlreadyExists
from console.offsets.services import NoEffect
from gateway import problems
from gateway.problem_views import exception_handler, problem_of
from gateway.problems import RATE_LIMITED, ProblemError, ProblemKind

LOCALES = Path(__file__).resolve().parents[2] / "frontend/src/locales"

# The console sends no receipts, no transactions and no atomic requests.
DATA_PLANE_ONLY = {"RECEIPT_EXPIRED", "INVALID_RECEIPT", "TRANSACTIONS_NOT_SERVED", "ATOMIC_NOT_POSSIBLE"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.ParseError(), 400, "MALFORMED"),
        (exceptions.NotAuthenticated(), 401, "NOT_AUTHENTICATED"),
        (exceptions.AuthenticationFailed("The token is expired."), 401, "NOT_AUTHENTICATED"),
        (exceptions.PermissionDenied("This needs the right 'manage'."), 403, "FORBIDDEN"),
        (exceptions.PermissionDenied("CSRF Failed: CSRF token missing."), 403, "CSRF_FAILED"),
        (PermissionDenied(), 403, "FORBIDDEN"),
        (exceptions.NotFound(), 404, "NOT_FOUND"),
        (Http404(), 404, "NOT_FOUND"),
        (TopicNotFound("orders"), 404, "TOPIC_NOT_FOUND"),
        (exceptions.MethodNotAllowed("PUT"), 405, "METHOD_NOT_ALLOWED"),
        (exceptions.NotAcceptable(), 406, "NOT_ACCEPTABLE"),
        (AlreadyExists("A topic of this name exists."), 409, "ALREADY_EXISTS"),
        (exceptions.UnsupportedMediaType("text/xml"), 415, "UNSUPPORTED_MEDIA_TYPE"),
        (exceptions.ValidationError("no"), 422, "INVALID"),
        (exceptions.Throttled(wait=7.2), 429, "RATE_LIMITED"),
        (ProblemError(RATE_LIMITED, "Slowly."), 429, "RATE_LIMITED"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_refusal_is_a_problem_by_its_code(error: Exception, status: int, code: str) -> None:
    problem = problem_of(error)
    assert problem is not None
    assert (problem.kind.status, problem.kind.code) == (status, code)


def test_an_exception_of_the_console_brings_its_own_code() -> None:
    class PlanExpired(exceptions.APIException):
        status_code = 410
        default_code = "plan_expired"
        default_detail = "The plan is older than five minutes."

    problem = problem_of(PlanExpired())
    assert problem is not None
    assert (problem.kind.status, problem.kind.code) == (410, "PLAN_EXPIRED")
    assert problem.kind.type == "urn:gantry:problem:plan-expired"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_code_that_the_console_may_receive_has_a_text(language: str) -> None:
    kinds = {value.code for value in vars(problems).values() if isinstance(value, ProblemKind)}
    texts = (LOCALES / language / "server.ts").read_text(encoding="utf-8").partition("  problems: {\n")[2]
    named = set(re.findall(r"^    ([A-Z][A-Z_]+): ", texts, re.MULTILINE))
    assert (kinds | {str(each.default_code).upper() for each in _exceptions_of_views()}) - DATA_PLANE_ONLY <= named
    assert not named & DATA_PLANE_ONLY


def _exceptions_of_views() -> Iterator[type[exceptions.APIException]]:
    """Yield the exceptions that the control plane raises in addition to those of DRF."""
    importlib.import_module("gateway.urls")
    found = [exceptions.APIException]
    for each in found:
        found += each.__subclasses__()
        if each.__module__.startswith(("console.", "gateway.")):
            yield each


def test_field_errors_are_told_at_their_pointers() -> None:
    problem = problem_of(
        exceptions.ValidationError(
            {
                "name": ["This field is required."],
                "source": {"topic": ["May not be blank."]},
                "queues": [{}, {"id": ["Wanted a number."]}],
                "non_field_errors": ["Choose one."],
            }
        )
    )
    assert problem is not None
    assert [(error.pointer, error.detail) for error in problem.errors] == [
        ("#/name", "This field is required."),
        ("#/source/topic", "May not be blank."),
        ("#/queues/1/id", "Wanted a number."),
        ("#", "Choose one."),
    ]


@pytest.mark.parametrize(
    ("detail", "sentence"),
    [
        ({"source": {"topic": ["is read-only"]}}, "source/topic: is read-only."),
        ({"name": ["This field is required."]}, "name: This field is required."),
        ({"name": ["'x' is taken."]}, "'x' is taken."),
        ({"non_field_errors": ["choose one"]}, "choose one"),
    ],
)
def test_the_detail_of_an_invalid_request_names_the_field(detail: Any, sentence: str) -> None:
    problem = problem_of(exceptions.ValidationError(detail))
    assert problem is not None
    assert problem.detail == sentence


def test_every_exception_of_the_views_has_a_kind_of_its_status() -> None:
    known = {(kind.status, kind.code) for kind in vars(problems).values() if isinstance(kind, ProblemKind)}
    assert {(each.status_code, str(each.default_code).upper()) for each in _exceptions_of_views()} <= known
    found = problem_of(NoEffect())
    assert found is not None
    assert found.kind is problems.NO_EFFECT, "its title is that of the kind"


def answer_to(error: Exception) -> tuple[int, dict[str, object], dict[str, str]]:
    request: Any = APIRequestFactory().get("/api/v1/topics")
    request.request_id = "r-1"
    response = exception_handler(error, {"request": request})
    return (
        response.status_code,
        orjson.loads(response.content),
        {name.lower(): value for name, value in response.items()},
    )


def test_the_answer_is_the_problem_document_with_request_id_and_headers() -> None:
    status, problem, headers = answer_to(exceptions.Throttled(wait=7.2))
    assert (status, problem["request_id"], problem["instance"]) == (429, "r-1", "/api/v1/topics")
    assert headers["content-type"] == "application/problem+json"
    assert headers["retry-after"] == "8"


def test_an_error_nobody_foresaw_is_a_500_that_tells_nothing_of_itself() -> None:
    status, problem, _ = answer_to(ZeroDivisionError("secret"))
    assert (status, problem["code"]) == (500, "INTERNAL")
    assert "secret" not in str(problem)
