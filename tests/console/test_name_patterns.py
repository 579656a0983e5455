"""Requirements of `console.name_patterns`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.name_patterns import MAX_PATTERN, matcher


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("", "orders", True),
        ("DER", "orders-eu", True),
        ("orders*", "orders-eu", True),
        ("orders*", "my-orders", False),
        ("*-eu", "orders-EU", True),
        ("o*s-*u", "orders-eu", True),
        ("ab*ba", "aba", False),
        ("~oeu", "orders-eu", True),
        ("~uo", "orders-eu", False),
        ("o.d", "ord", False),
    ],
)
def test_a_pattern_finds_names(pattern: str, name: str, found: bool) -> None:
    assert matcher(pattern)(name) is found


@given(st.text("ab*", max_size=8).filter(lambda text: "*" in text), st.text("ab", max_size=10))
def test_stars_mean_what_they_mean_in_a_regular_expression(pattern: str, name: str) -> None:
    expected = re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None
    assert matcher(pattern)(name) is expected


def test_a_pattern_longer_than_any_use_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 255"):
        matcher("a" * (MAX_PATTERN + 1))
