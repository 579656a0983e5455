"""Requirements of `console.fields`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from rest_framework import serializers

from console.charsets import charset_fault
from console.fields import EachOnceField, MomentField, NameField


def fault_of(field: serializers.Field, value: object) -> str:  # type: ignore[type-arg]
    with pytest.raises(serializers.ValidationError) as raised:
        field.run_validation(value)
    return str(raised.value.detail)


@pytest.mark.parametrize("name", ["nightly", "每晚　回放", "a b", "é", "👩‍💻"])
def test_a_name_may_be_of_any_script(name: str) -> None:
    assert NameField().run_validation(name) == name


@pytest.mark.parametrize(
    ("name", "which"),
    [("a\r\nb", "U+000D is at 1"), ("a\tb", "U+0009"), ("\x1b[31mred", "U+001B is at 0"), ("a\u2028b", "U+2028"),
     ("a\u202eb", "U+202E"), ("a\x85b", "U+0085")],
)  # fmt: skip
def test_a_name_has_no_control_characters(name: str, which: str) -> None:
    assert which in fault_of(NameField(), name)


def test_an_item_is_given_once() -> None:
    field = EachOnceField(child=serializers.CharField(), max_length=2)
    assert field.run_validation(["a", "b"]) == ["a", "b"]
    assert "'a' is given more than once" in fault_of(field, ["a", "b", "a"])


def test_a_moment_may_have_small_letters() -> None:
    assert MomentField().run_validation("2026-05-01t08:00:00z") == datetime(2026, 5, 1, 8, tzinfo=UTC)


@pytest.mark.parametrize("text", ["２０２６-05-01T08:00:00Z", "2026-W18-5T08:00:00Z", "20260501T080000Z"])  # noqa: RUF001
def test_no_other_form_of_a_moment_is_taken(text: str) -> None:
    assert "is not a moment such as 2026-05-01T08:00:00Z" in fault_of(MomentField(), text)


def test_a_moment_is_in_the_calendar() -> None:
    assert "is after the end of the year 9999 in UTC" in fault_of(MomentField(), "9999-12-31T23:59:59-14:00")
    assert "is before the beginning of the year 1 in UTC" in fault_of(MomentField(), "0001-01-01T00:00:00+14:00")


@pytest.mark.parametrize(
    ("content_type", "is_served"),
    [("application/json", True), ("application/json; charset=utf-8", True), ('application/json; Charset="UTF-8"', True),
     ("application/json;charset=utf-16", False), ("application/json; charset=", False), ("text/x; a=charset=b", True)],
)  # fmt: skip
def test_json_is_in_utf_8(content_type: str, is_served: bool) -> None:
    assert (charset_fault(content_type) is None) == is_served
