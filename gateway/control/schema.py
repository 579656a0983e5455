"""Builds the OpenAPI document: DRF's views, the problem document for all errors, and the data plane."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

from console.idempotency import MAX_KEY
from console.once import HEADER
from gateway.control.data_plane_paths import DATA_PLANE_PATHS, Schema, data_plane_schemas

PROBLEM: Final[Schema] = {
    "type": "object",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "detail", "code", "request_id", "retryable"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "code": {"type": "string", "description": "Stable, for programs."},
        "request_id": {"type": "string"},
        "retryable": {"type": "boolean"},
        "capability": {
            "type": "string",
            "description": "With NOT_SERVED_BY_BROKER: what the cluster lacks, as its capabilities name it.",
        },
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string"},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                },
            },
        },
    },
}
_METHODS: Final = ("get", "put", "post", "patch", "delete")

_IDEMPOTENCY_KEY: Final = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": MAX_KEY},
    OpenApiParameter.HEADER,
    description="A request repeated with the same key within 24 hours is not executed again; it gets the first answer.",
)


# drf-spectacular registers extension classes when they are defined.
class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Authentication of programs."""

    target_class = "console.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        """Return the scheme of bearer tokens."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "gty_…"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Authentication of the console; requests that change something also need the header X-CSRFToken."""

    target_class = "console.accounts.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> Schema:
        """Return the scheme of the session cookie."""
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


class GantrySchema(AutoSchema):
    """DRF's schema, with the first line of a method's docstring as its summary, and with Idempotency-Key."""

    def get_override_parameters(self) -> list[Any]:
        """Return Idempotency-Key for a POST whose answer is kept."""
        is_kept = getattr(self, "method", None) == "POST" and getattr(self.view, "answer_ms", 0)
        return [_IDEMPOTENCY_KEY] if is_kept else []

    def get_summary(self) -> str | None:
        """Return the first line of the docstring of the view's method."""
        text = getattr(getattr(self.view, self.method.lower(), None), "__doc__", None)
        return text.strip().split("\n")[0] if text else None


def add_problems(result: Schema, generator: Any, request: Any, public: bool) -> Schema:
    """Add the data plane's paths, the problems that answer an operation, and that unknown fields are refused."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.update({"Problem": PROBLEM, **data_plane_schemas()})
    for path, operations in DATA_PLANE_PATHS.items():
        result["paths"].setdefault(path, {}).update(operations)
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            if method in _METHODS:
                operation.setdefault("responses", {}).update(_problems_of(path, operation))
    _close(schemas, [each.get("requestBody") for methods in result["paths"].values() for each in methods.values()])
    return result


def _problems_of(path: str, operation: Schema) -> Schema:
    texts = {}
    if any(operation.get("security", ())):
        texts["403"] = "The caller does not have the right."
    names_something = any(each["name"] == "cluster" for each in operation.get("parameters", ()))
    if "{" in path or names_something or "requestBody" in operation:
        texts["404"] = "There is no such thing, or the caller may not read it."
    return {status: _problem(text) for status, text in {**texts, "default": "A problem."}.items()}


def _problem(description: str) -> Schema:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": description, "content": {"application/problem+json": {"schema": schema}}}


def _close(schemas: Schema, bodies: list[Any]) -> None:
    """Say of every object in the bodies that other fields are refused (`console.strict` refuses them)."""
    waiting, seen = bodies, set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        if not isinstance(node, dict):
            continue
        if node.get("type") == "object" and "properties" in node:
            node.setdefault("additionalProperties", False)
        waiting.extend(node.values())
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen:
            seen.add(name)
            waiting.append(schemas[name])
