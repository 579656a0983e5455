"""Requirements of `gateway.cli.exact`."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.exact import decode, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_what_is_decoded_and_encoded_again_is_the_same(value: object) -> None:
    assert json.loads(encode(decode(json.dumps(value)))) == value


def test_numbers_keep_their_digits() -> None:
    text = '{"price":1.10,"big":12345678901234567890123,"small":1e-7}'
    assert encode(decode(text)) == text
