"""The shapes of answers: one `msgspec.Struct` for each, from which everything else derives.

A state is built as a struct, sent as JSON (`as_json`), read back as the struct (`msgspec.convert`), and described in
the OpenAPI document by the serializer that `serializer_of` derives::

    class GroupQueue(Struct, frozen=True, kw_only=True):
        "How far a group is in one queue."

        topic: str
        lag: Annotated[int | None, Meta(description="Null means unknown.")]
        stored_at: Moment | None
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
from django.db.models import Choices
from msgspec import Meta, Raw, Struct
from rest_framework import serializers

from console.fields import MomentField

_Field = serializers.Field[Any, Any, Any, Any]
_PLAIN: Final[dict[Any, type[_Field]]] = {
    str: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
    Raw: serializers.JSONField,
    Any: serializers.JSONField,
}


def as_json(state: Any) -> Any:
    """Return a struct, or a value that contains structs, as JSON types."""
    return msgspec.to_builtins(state)


@cache
def serializer_of(shape: type[Struct], name: str | None = None) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a shape; its name in the OpenAPI document is `name`, or the struct's without "State"."""
    fields = {field.encode_name: _field(field.type) for field in msgspec.structs.fields(shape)}
    title = name or shape.__name__.removesuffix("State")
    # Created by `type`, not by a class statement: a field may be called "from".
    return type(f"{title}Serializer", (serializers.Serializer,), {**fields, "__doc__": shape.__doc__})


def _field(kind: Any, **options: Any) -> _Field:
    """Return the field of a type. Defaults do not make it optional: answers contain every field."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotated(inner[0], inner[1], **options)
    if origin in (Union, UnionType):
        (present,) = (each for each in inner if each is not NoneType)
        return _field(present, **options, allow_null=True)
    if origin is Literal:
        return serializers.ChoiceField(list(inner), **options)
    if origin in (list, Sequence):
        return _list(inner[0], **options)
    if origin in (dict, Mapping):
        if inner[1] is Any:
            return serializers.DictField(**options)
        return serializers.DictField(child=_field(inner[1]), **options)
    if issubclass(kind, Struct):
        return serializer_of(kind)(**options)
    if issubclass(kind, Choices):
        return serializers.ChoiceField(kind.choices, **options)
    if issubclass(kind, Enum):
        return serializers.ChoiceField([each.value for each in kind], **options)
    return _PLAIN[kind](**options)


def _annotated(kind: Any, meta: Meta, **options: Any) -> _Field:
    if meta.extra and meta.extra.get("moment"):
        return MomentField(**options)
    return _field(kind, **options, help_text=meta.description) if meta.description else _field(kind, **options)


def _list(item: Any, **options: Any) -> _Field:
    if isinstance(item, type) and issubclass(item, Struct):
        return serializer_of(item)(many=True, **options)
    return serializers.ListField(child=_field(item), **options)
