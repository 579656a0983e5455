"""Requirements of `gateway.filter_text`: the text of a filter."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gateway.filter_text import BadFilter, parse_filter
from gateway.message_filter import Condition, MessageFilter


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", MessageFilter()),
        ("tag = paid", MessageFilter(tags=frozenset({"paid"}))),
        ('tag in [paid, "re open"]', MessageFilter(tags=frozenset({"paid", "re open"}))),
        ("key = A17 and body contains x", MessageFilter(key="A17", text=b"x")),
        (
            'property.source starts_with we and property["odd name"] missing',
            MessageFilter(
                properties=(("source", Condition("prefix", "we")), ("odd name", Condition("absent"))),
            ),
        ),
        (
            '$.amount >= 1.10 and $.who != Ada and $.id = "17" and $.gone exists',
            MessageFilter(
                fields=(
                    (("amount",), Condition("ge", Decimal("1.10"))),
                    (("who",), Condition("ne", "Ada")),
                    (("id",), Condition("eq", "17")),
                    (("gone",), Condition("exists")),
                )
            ),
        ),
        (
            '$.at >= "2026-01-01" and $.id starts_with 17',
            MessageFilter(fields=((("at",), Condition("ge", "2026-01-01")), (("id",), Condition("prefix", "17")))),
        ),
        (
            "$.id = 12345678901234567890123",
            MessageFilter(fields=((("id",), Condition("eq", 12345678901234567890123)),)),
        ),
        (
            "$.id = 1e99999999999999999999",
            MessageFilter(fields=((("id",), Condition("eq", "1e99999999999999999999")),)),
        ),
    ],
)
def test_a_text_means_a_filter(text: str, meant: MessageFilter) -> None:
    assert parse_filter(text) == meant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = red", "character 1: expected tag"),
        ("tag paid", "character 5: expected an operator"),
        ("tag =", "character 6: expected a value, found the end"),
        ("tag = paid or key = 1", "character 12: expected and, found 'or"),
        ("tag = paid and", "expected a condition, found the end"),
        ("$.amount >= bla(", "character 13: >= compares with a number or a text in quotes, found 'bla\\('"),
        ("tag = a and $.amount < abc", "character 24: < compares with a number"),
        ("$.amount > true", "character 12: > compares with a number"),
        ("$.at <= 2026-01-01", "character 9: <= compares with a number"),
        ("$.amount >= 1e99999999999999999999", "character 13: >= compares with a number"),
        ("tag contains x", "tag does not take the operator contains"),
        ("property.n > 5", "does not take the operator >"),
        ("tag = a and tag = b", "tag is given more than once"),
        ("tag in []", "the list of tags is empty"),
        (" and ".join(["$.a exists"] * 17), "more than 16"),
        ('key = "\\x"', "is not a quoted text"),
    ],
)
def test_what_is_no_filter_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(BadFilter, match=words.replace("[", r"\[")):
        parse_filter(text)
