"""Requirements of `gateway.sql_filter`."""

from __future__ import annotations

import pytest

from gateway.sql_filter import MOST_CHARACTERS, BadSql, parse_sql


def test_a_filter_is_compiled_once() -> None:
    first = parse_sql("amount > 100 AND region IN ('eu', 'us')")
    assert first.matches({"amount": "250", "region": "eu"})
    assert not first.matches({"amount": "250"})
    assert parse_sql(first.text) is first


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("*", "'*' means nothing here, at character 1."),
        ("amount >", "the text ends: a property, a value or a bracket is needed here, at character 9."),
        ("amount LIKE 'x'", "'LIKE' does not belong here: the expression ends before it, at character 8."),
        ("s = '\0'", "'\\x00' means nothing here, at character 6."),
        ("a = 1".ljust(MOST_CHARACTERS + 1), "longer than 4,096 characters."),
    ],
)
def test_what_does_not_compile_says_why_and_where(text: str, why: str) -> None:
    with pytest.raises(BadSql) as caught:
        parse_sql(text)
    assert str(caught.value) == f"This is no SQL92 filter: {why}"


def test_the_longest_filter_is_served() -> None:
    assert parse_sql("a = 1".ljust(MOST_CHARACTERS)).matches({"a": "1"})
