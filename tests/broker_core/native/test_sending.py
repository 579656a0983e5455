"""Compiled property texts and batch bodies equal those of their Python twins, byte for byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol import batch, properties
from broker_core.protocol.errors import MalformedProperties
from tests.broker_core.native.twins import I32, compiled

WORD = st.one_of(st.sampled_from(["", "KEYS", "A17", "\0", "\x01", "\x02", "é", "\ud800"]), st.text(max_size=6))
PAIRS = st.dictionaries(WORD, WORD, max_size=5)
ENTRY = st.tuples(I32, st.binary(max_size=40), st.text(max_size=20))


@given(PAIRS)
def test_property_text(pairs: dict[str, str]) -> None:
    text = compiled.format_properties(pairs)
    try:
        expected = properties._format_properties(pairs)
    except MalformedProperties:
        expected = None
    assert text is None or text == expected
    plain = all(word.isalnum() and word.isascii() for pair in pairs.items() for word in pair)
    assert text is not None or not plain, "the usual case is not left to Python"


def test_a_property_text_of_other_types_is_left_to_python() -> None:
    odd: list[object] = [{"a": 1}, {1: "a"}, {b"a": "b"}, [("a", "b")]]
    assert [compiled.format_properties(pairs) for pairs in odd] == [None] * 4  # type: ignore[arg-type]


@given(st.lists(ENTRY, max_size=5))
def test_batch_body(entries: list[tuple[int, bytes, str]]) -> None:
    body = compiled.encode_entries(entries)
    try:
        expected = batch._encode_entries(entries)
    except UnicodeEncodeError:
        assert body is None
        return
    assert body == expected


def test_a_batch_that_does_not_fit_is_left_to_python() -> None:
    long = "x" * (properties.MAX_PROPERTIES_BYTES + 1)
    odd: list[object] = [(0, b"", long), (0, bytearray(b"a"), ""), (0, "a", ""), (2**31, b"", ""), (0, b""), "abc"]
    assert [compiled.encode_entries([(0, b"a", ""), each]) for each in odd] == [None] * 6  # type: ignore[list-item]
    assert compiled.encode_entries([(0, b"", long[1:])]) == batch._encode_entries([(0, b"", long[1:])])
