"""The property string, in both directions, and its edge cases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.errors import MalformedProperties
from broker_core.protocol.properties import (
    check_properties,
    format_properties,
    join_keys,
    parse_properties,
    split_keys,
)

BOTH_WAYS = [
    ({}, ""),
    ({"TAGS": "TagA"}, "TAGS\x01TagA"),
    ({"KEYS": "K1 K2", "UNIQ_KEY": "0A00", "TAGS": "TagA"}, "KEYS\x01K1 K2\x02UNIQ_KEY\x010A00\x02TAGS\x01TagA"),
    ({"a": "x\x01y"}, "a\x01x\x01y"),
    ({"名": "值"}, "名\x01值"),
]
ONLY_READ = [
    ("TAGS\x01null\x02", {"TAGS": "null"}),
    ("A\x01\x02B\x01b\x02\x02C\x01c\x02D", {"B": "b", "C": "c"}),
    ("A\x01\x02", {}),
    ("\x01v\x02", {}),
    ("A\x011\x02A\x012", {"A": "2"}),
    ("\x02\x02", {}),
]


@pytest.mark.parametrize(("properties", "text"), BOTH_WAYS)
def test_properties_go_both_ways(properties: dict[str, str], text: str) -> None:
    assert format_properties(properties) == text
    assert parse_properties(text) == properties


@pytest.mark.parametrize(("text", "properties"), ONLY_READ)
def test_odd_property_strings_read_as_java_reads_them(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


def test_pairs_with_an_empty_side_are_not_written() -> None:
    assert format_properties({"a": "", "": "b", "c": "d"}) == "c\x01d"
    assert format_properties({"a": ""}) == ""


@pytest.mark.parametrize("properties", [{"a": "b\x02DELAY\x013"}, {"a\x02b": "c"}])
def test_a_value_cannot_smuggle_in_another_property(properties: dict[str, str]) -> None:
    with pytest.raises(MalformedProperties):
        format_properties(properties)


@pytest.mark.parametrize("properties", [{"a": ""}, {"": "a"}, {"a\x01": "b"}, {"a\x02": "b"}, {"a": "\x02"}])
def test_the_check_refuses_what_would_not_come_back(properties: dict[str, str]) -> None:
    with pytest.raises(MalformedProperties):
        check_properties(properties)


def test_keys_are_split_at_single_spaces_and_empty_pieces_left_out() -> None:
    assert split_keys("K1  K2 ") == ["K1", "K2"]
    assert split_keys(None) == []
    assert join_keys(["K1", "K2"]) == "K1 K2"
    with pytest.raises(MalformedProperties):
        join_keys(["K 1"])


_part = st.text(st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(st.dictionaries(_part, _part, max_size=8), st.sampled_from(["", "\x02"]))
def test_any_properties_come_back_with_or_without_the_last_separator(properties: dict[str, str], end: str) -> None:
    check_properties(properties)
    assert parse_properties(format_properties(properties) + end) == properties


@given(st.text(st.sampled_from("ab\x01\x02"), max_size=30))
def test_what_was_read_can_be_written_and_read_again(text: str) -> None:
    properties = parse_properties(text)
    assert parse_properties(format_properties(properties)) == properties
