"""Java's String.hashCode, for tags and index keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.string_hash import key_hash, string_hash, tags_code


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        ("", 0),
        ("*", 42),
        ("a", 97),
        ("TagA", 2598919),
        ("TagB", 2598920),
        ("order-created", -392709271),
        ("order_created_event", -2143158446),
        ("polygenelubricants", -2147483648),
        ("中文", 646394),
        ("订单", 1129459),
        ("😀", 1772899),
        ("TopicTest#0A000001000018B4AAC2000000000000", -483666980),
    ],
)
def test_texts_hash_as_in_java(text: str, hashed: int) -> None:
    assert string_hash(text) == hashed


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        ("TopicTest#0A000001000018B4AAC2000000000000", 483666980),
        ("TopicTest#K1", 2745032),
        ("TopicTest#K2", 2745033),
        ("polygenelubricants", 0),
    ],
)
def test_index_keys_hash_to_the_absolute_value_and_the_one_without_to_zero(text: str, hashed: int) -> None:
    assert key_hash(text) == hashed


def test_a_message_without_tag_has_tags_code_zero() -> None:
    assert tags_code(None) == 0
    assert tags_code("") == 0
    assert tags_code("TagA") == 2598919


@given(st.one_of(st.text(max_size=400), st.text(alphabet="0123456789ABCDEF", min_size=10, max_size=300)))
def test_any_text_hashes_as_the_definition_says(text: str) -> None:
    hashed = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        hashed = (31 * hashed + (high << 8 | low)) & 0xFFFFFFFF
    signed = hashed - (1 << 32) if hashed >> 31 else hashed
    assert string_hash(text) == signed
    assert key_hash(text) == (abs(signed) if signed != -(1 << 31) else 0)
