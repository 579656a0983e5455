"""Requirements of `console.accounts.tokens`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.accounts.tokens import digest, find_key, make


def test_a_new_token_is_found_by_its_key_and_known_by_its_digest() -> None:
    made = make()
    assert find_key(made.text) == made.key
    assert digest(made.text) == made.digest
    assert made.text.startswith(f"gty_{made.key}_")
    assert make().text != made.text


@given(st.text())
def test_what_is_no_token_has_no_key(text: str) -> None:
    assert find_key(text) is None


@pytest.mark.parametrize("spoilt", ["{} ", " {}", "{}\n", "x{}", "GTY{}"])
def test_nothing_may_stand_around_a_token(spoilt: str) -> None:
    assert find_key(spoilt.format(make().text)) is None
