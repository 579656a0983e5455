"""Refuses fields and parameters of a request that the OpenAPI document does not declare, and names them.

If a client misspells a field or uses an unsupported one, the rest of its request must not be carried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from console.errors import Fault, NotServed

_MAX_FAULTS: Final = 100
_WITH_BODY: Final = ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a method of a view accepts: names in the query, and the shape of its body."""

    parameters: frozenset[str]
    body: Any


# Each method of a view has its own schema class.
_seen: dict[Any, _Declared] = {}


def check(request: Request, view: APIView) -> None:
    """Raise NotServed if the request contains a field or a parameter that its method does not declare."""
    handler = getattr(view, str(request.method).lower(), None)
    schema = getattr(handler, "kwargs", {}).get("schema")
    if schema is None:
        return
    declared = _seen.get(schema) or _seen.setdefault(schema, _declared(schema, view, request))
    faults = list(islice(_parameter_faults(request, declared.parameters), _MAX_FAULTS))
    if request.method not in ("GET", "HEAD"):
        faults += islice(_body_faults(request, declared.body), _MAX_FAULTS)
    if faults:
        raise NotServed(faults)


def _declared(schema: Any, view: APIView, request: Request) -> _Declared:
    found = schema()
    found.view = view
    parameters = frozenset(
        each.name
        for each in found.get_override_parameters()
        if isinstance(each, OpenApiParameter) and each.location == OpenApiParameter.QUERY
    )
    return _Declared(parameters, found.get_request_serializer() if request.method in _WITH_BODY else None)


def _parameter_faults(request: Request, known: frozenset[str]) -> Iterator[Fault]:
    for name, values in request.query_params.lists():
        if name not in known:
            yield Fault(f"?{name}", "UNKNOWN_PARAMETER", f"{name!r} is not a parameter here; {_known(known)}.")
        elif len(values) > 1:
            yield Fault(f"?{name}", "REPEATED_PARAMETER", f"{name!r} is given {len(values)} times.")


def _body_faults(request: Request, shape: Any) -> Iterator[Fault]:
    if shape is None:
        if request.data:
            yield Fault("#", "UNKNOWN_FIELD", "This request takes no body.")
        return
    yield from _field_faults(shape() if isinstance(shape, type) else shape, request.data, "#")


def _field_faults(field: Any, value: Any, pointer: str) -> Iterator[Fault]:
    """Return the unknown names in a value, as deep as the shape goes; other mismatches are refused later."""
    if isinstance(field, serializers.Serializer) and isinstance(value, Mapping):
        known = {name: each for name, each in field.fields.items() if not each.read_only}
        for name, inner in value.items():
            step = f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}"
            if name in known:
                yield from _field_faults(known[name], inner, step)
            else:
                yield Fault(step, "UNKNOWN_FIELD", f"{name!r} is not a field here; {_known(known)}.")
    elif isinstance(field, serializers.ListSerializer | serializers.ListField) and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _field_faults(field.child, inner, f"{pointer}/{index}")


def _known(names: Mapping[str, Any] | frozenset[str]) -> str:
    return f"known: {', '.join(sorted(names))}" if names else "there are none"
