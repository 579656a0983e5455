"""The checks of the installation by name, for monitors that watch one thing each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from rest_framework.request import Request
from rest_framework.response import Response

from console.accounts.permissions import needs
from console.api_view import ApiView
from console.clusters.connections import loop_thread
from console.shapes import as_json, serializer_of
from gateway import health
from gateway.health_checks import MEANINGS
from gateway.problems import NOT_FOUND, ProblemError


class HealthCheck(Struct, frozen=True, kw_only=True):
    """One check."""

    name: str
    meaning: Annotated[str, Meta(description="What is true when it passes.")]
    passed: bool
    reason: Annotated[str | None, Meta(description="Why it did not pass.")]


class HealthChecks(Struct, frozen=True, kw_only=True):
    """All checks."""

    passed: Annotated[bool, Meta(description="Whether all of them passed.")]
    items: list[HealthCheck]


class HealthChecksView(ApiView):
    """All checks."""

    permission_classes = (needs("read"),)

    @extend_schema(
        operation_id="listHealthChecks",
        tags=["health"],
        responses={200: serializer_of(HealthChecks), 503: serializer_of(HealthChecks)},
    )
    def get(self, request: Request) -> Response:
        """List the checks with their reasons; 503 if one did not pass."""
        reasons = _reasons()
        items = [_check(name, reasons) for name in MEANINGS]
        passed = all(item.passed for item in items)
        return Response(as_json(HealthChecks(passed=passed, items=items)), status=200 if passed else 503)


class HealthCheckView(ApiView):
    """One check."""

    permission_classes = (needs("read"),)

    @extend_schema(
        operation_id="getHealthCheck",
        tags=["health"],
        responses={200: serializer_of(HealthCheck), 503: serializer_of(HealthCheck)},
    )
    def get(self, request: Request, name: str) -> Response:
        """Return one check with its reason; 503 if it did not pass."""
        if name not in MEANINGS:
            raise ProblemError(NOT_FOUND, f"There is no check {name[:100]!r}; there are {', '.join(MEANINGS)}.")
        check = _check(name, _reasons())
        return Response(as_json(check), status=200 if check.passed else 503)


def _reasons() -> Mapping[str, str | None]:
    return loop_thread().run(health.current().state()).reasons


def _check(name: str, reasons: Mapping[str, str | None]) -> HealthCheck:
    return HealthCheck(name=name, meaning=MEANINGS[name], passed=reasons[name] is None, reason=reasons[name])
