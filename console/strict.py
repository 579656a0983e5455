"""Refuses what the OpenAPI document does not declare for a request: fields, parameters, bodies, types, ``If-Match``.

If a client misspells a field or uses an unsupported one, the rest of its request must not be carried out. A value of
another type is not converted either: DRF would take ``"yes"`` for true and ``1`` for a name. Each fault is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.core.validators import RegexValidator
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.views import APIView

from console.errors import Fault, NotServed
from console.pointers import escaped

_MAX_FAULTS: Final = 100
_WITH_BODY: Final = ("POST", "PUT", "PATCH")


@dataclass(frozen=True, slots=True)
class _Declared:
    """What a method of a view accepts: names in the query, headers of its own, and the shape of its body."""

    parameters: frozenset[str]
    headers: frozenset[str]
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
    if request.method not in SAFE_METHODS and "If-Match" in request.headers and "If-Match" not in declared.headers:
        fault = "This request compares no version: it would be carried out whatever If-Match names. Leave it out."
        faults.append(Fault("If-Match", "UNKNOWN_HEADER", fault))
    faults += islice(_body_faults(request, declared.body), _MAX_FAULTS)
    if faults:
        raise NotServed(faults)


def _declared(schema: Any, view: APIView, request: Request) -> _Declared:
    found = schema()
    found.view = view
    known = [each for each in found.get_override_parameters() if isinstance(each, OpenApiParameter)]
    parameters = frozenset(each.name for each in known if each.location == OpenApiParameter.QUERY)
    headers = frozenset(each.name for each in known if each.location == OpenApiParameter.HEADER)
    return _Declared(parameters, headers, found.get_request_serializer() if request.method in _WITH_BODY else None)


def _parameter_faults(request: Request, known: frozenset[str]) -> Iterator[Fault]:
    for name, values in request.query_params.lists():
        if name not in known:
            yield Fault(f"?{name}", "UNKNOWN_PARAMETER", f"{name!r} is not a parameter here; {_known(known)}.")
        elif len(values) > 1:
            yield Fault(f"?{name}", "REPEATED_PARAMETER", f"{name!r} is given {len(values)} times.")
        elif "\0" in values[0]:
            yield Fault(f"?{name}", "INVALID", f"{name!r} contains the character NUL.")


def _body_faults(request: Request, shape: Any) -> Iterator[Fault]:
    if shape is None:
        if _length_of(request) and not _is_empty_object(request):
            yield Fault("#", "UNKNOWN_FIELD", "This request takes no body.")
        return
    yield from _field_faults(shape() if isinstance(shape, type) else shape, request.data, "#")


def _is_empty_object(request: Request) -> bool:
    """Return whether a method that may have a body has `{}`, which many HTTP clients send with all of these."""
    try:
        return request.method in _WITH_BODY and isinstance(request.data, dict) and not request.data
    except APIException:
        return False


def _length_of(request: Request) -> int:
    length = str(request.META.get("CONTENT_LENGTH") or "0")
    return int(length) if length.isdigit() else 0


def _field_faults(field: Any, value: Any, pointer: str) -> Iterator[Fault]:
    """Return the unknown names and wrong types in a value, as deep as the shape goes; the serializer finds the rest."""
    fault = _value_fault(field, value)
    if fault is not None:
        name = "The body" if pointer == "#" else pointer.removeprefix("#/")
        yield Fault(pointer, "INVALID", f"{name} {fault}.")
    elif isinstance(field, serializers.Serializer) and isinstance(value, Mapping):
        known = {name: each for name, each in field.fields.items() if not each.read_only}
        for name, inner in value.items():
            step = f"{pointer}/{escaped(str(name))}"
            if name in known:
                yield from _field_faults(known[name], inner, step)
            else:
                yield Fault(step, "UNKNOWN_FIELD", f"{name!r} is not a field here; {_known(known)}.")
    elif isinstance(field, serializers.DictField) and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _field_faults(field.child, inner, f"{pointer}/{escaped(str(name))}")
    elif isinstance(field, serializers.ListSerializer | serializers.ListField) and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _field_faults(field.child, inner, f"{pointer}/{index}")


def _value_fault(field: Any, value: Any) -> str | None:
    """Return why a value cannot be that of a field: its type, or a text that is not one of those allowed."""
    if value is None:
        # Whether null is allowed depends on the field; a whole body is never null.
        return "must be an object, not null" if isinstance(field, serializers.Serializer) and not field.parent else None
    wanted = next((words for kind, words in _WANTED.items() if isinstance(field, kind)), None)
    if wanted is not None and not _is_of_type(field, value):
        return f"must be {wanted}, not {_kind(value)}"
    if (
        isinstance(field, serializers.ChoiceField)
        and value not in field.choices
        and not (field.allow_blank and not value)
    ):
        return f"must be one of {', '.join(map(str, field.choices))}, not {value[:60]!r}"
    if isinstance(field, serializers.RegexField):
        pattern: Any = next(each.regex for each in field.validators if isinstance(each, RegexValidator))
        if not pattern.fullmatch(value):
            return f"must match {pattern.pattern}; {value[:60]!r} does not"
    return None


_WANTED: Final[dict[Any, str]] = {
    serializers.Serializer: "an object",
    serializers.DictField: "an object",
    serializers.ListSerializer: "a list",
    serializers.ListField: "a list",
    serializers.BooleanField: "true or false",
    serializers.IntegerField: "a whole number",
    serializers.CharField: "a text",
    serializers.ChoiceField: "a text",
}


def _is_of_type(field: Any, value: Any) -> bool:
    if isinstance(field, serializers.Serializer | serializers.DictField):
        return isinstance(value, Mapping)
    if isinstance(field, serializers.ListSerializer | serializers.ListField):
        return isinstance(value, list)
    if isinstance(field, serializers.BooleanField):
        return isinstance(value, bool)
    if isinstance(field, serializers.IntegerField):
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str)


def _kind(value: Any) -> str:
    """Return what a value of JSON is called."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {value[:60]!r}"
    if isinstance(value, float):
        return f"{value!r}, which is written with a point or an exponent or has more than 64 bits"
    return "an object" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else f"the number {value}"


def _known(names: Mapping[str, Any] | frozenset[str]) -> str:
    return f"known: {', '.join(sorted(names))}" if names else "there are none"
