"""Requirements of `console.shapes`: answers, frames and the OpenAPI document derive from one struct."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta, Raw, Struct
from rest_framework import serializers

from console.clusters.models import ClusterKind
from console.lag.shapes import GroupState, GroupSummary
from console.moments import Moment
from console.shapes import as_json, serializer_of


class Wheel(Struct):
    """One wheel."""

    size: int


class CarState(Struct, kw_only=True, rename={"begin": "from"}):
    """A car."""

    begin: Moment
    sold_at: Annotated[Moment | None, Meta(description="Null while it is here.")] = None
    color: Literal["red", "blue"]
    kind: ClusterKind
    wheels: list[Wheel]
    spare: Wheel | None
    owners: Sequence[str]
    prices: dict[str, list[float | None]]
    extras: dict[str, Any]
    raw: Raw
    is_new: bool


@pytest.fixture
def fields() -> dict[str, serializers.Field[Any, Any, Any, Any]]:
    return dict(serializer_of(CarState)().fields)


def test_each_type_becomes_its_field(fields: dict[str, Any]) -> None:
    kinds = {name: type(field).__name__ for name, field in fields.items()}
    assert kinds == {
        "from": "MomentField",
        "sold_at": "MomentField",
        "color": "ChoiceField",
        "kind": "ChoiceField",
        "wheels": "ListSerializer",
        "spare": "WheelSerializer",
        "owners": "ListField",
        "prices": "DictField",
        "extras": "DictField",
        "raw": "JSONField",
        "is_new": "BooleanField",
    }
    assert (list(fields["color"].choices), dict(fields["kind"].choices)) == (["red", "blue"], dict(ClusterKind.choices))
    assert fields["prices"].child.child.allow_null


def test_null_is_allowed_where_none_is_and_a_default_makes_nothing_optional(fields: dict[str, Any]) -> None:
    assert [name for name, field in fields.items() if field.allow_null] == ["sold_at", "spare"]
    assert all(field.required for field in fields.values())
    assert fields["sold_at"].help_text == "Null while it is here."


def test_the_document_calls_a_shape_as_its_struct_without_state() -> None:
    assert serializer_of(CarState).__name__ == "CarSerializer"
    assert serializer_of(CarState, "Automobile").__name__ == "AutomobileSerializer"
    assert serializer_of(CarState).__doc__ == "A car."
    assert serializer_of(Wheel) is serializer_of(Wheel), "one class for one shape, or the document would have two"


def test_a_shape_without_a_field_is_refused() -> None:
    class Odd(Struct):
        value: bytes

    with pytest.raises(KeyError):
        serializer_of(Odd)


def test_what_is_sent_is_read_back() -> None:
    wheel = Wheel(size=3)
    assert as_json([wheel]) == [{"size": 3}]
    assert msgspec.convert(as_json(wheel), Wheel) == wheel


def test_a_group_in_one_line_holds_all_but_what_its_page_shows() -> None:
    assert set(GroupState.__struct_fields__) - set(GroupSummary.__struct_fields__) == {
        "at", "queues", "config", "topics_hidden",
    }  # fmt: skip
