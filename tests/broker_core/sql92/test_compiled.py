"""Requirements of `broker_core.sql92`: what an expression selects, and which texts are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.sql92 import MAX_CHARACTERS, IllegalExpression, compile_sql92
from broker_core.sql92.compiled import MAX_KEPT_CHARACTERS
from broker_core.sql92.parser import MAX_CHAINED, MAX_NESTING
from tests.broker_core.sql92 import generated


@pytest.mark.parametrize(
    ("text", "properties", "is_selected"),
    [
        ("a > 5", {"a": "10"}, True),
        ("a > 5", {"a": "5.5"}, False),
        ("a > 5.0", {"a": "5.5"}, True),
        ("a > 5", {"a": "3000000000"}, False),
        ("a > 3000000000", {"a": "3000000001"}, True),
        ("a = TRUE", {"a": "True"}, True),
        ("TRUE = a", {"a": "true"}, False),
        ("a", {"a": "true"}, False),
        ("NOT a", {"a": "true"}, True),
        ("NOT a = 1", {"a": "1"}, False),
        ("NOT (a = 1)", {"a": "2"}, True),
        ("NOT (a = 1)", {}, False),
        ("a > 5 OR b = 1", {"b": "1"}, True),
        ("a > 5 OR b = 1", {"a": "zz", "b": "1"}, False),
        ("b = 1 OR a > 5", {"a": "zz", "b": "1"}, True),
        ("a = b", {}, True),
        ("5 <> a", {}, True),
        ("a <> 5", {}, False),
        ("a > b", {"a": "10", "b": "9.5"}, True),
        ("a BETWEEN 1 AND 5 AND b IS NOT NULL", {"a": "3", "b": "x"}, True),
        ("a not between 1 and 5", {"a": "7"}, True),
        ("a IN ('it''s', 'x')", {"a": "it's"}, True),
        ("a NOT IN ('x')", {}, False),
        ("a contains 'oo' AND a STARTSWITH 'f' AND a NOT ENDSWITH 'x'", {"a": "foo"}, True),
        ("a CONTAINS ''", {"a": "foo"}, False),
        ("a = -5 AND b = - -5", {"a": "-5", "b": "5"}, True),
        ("a /* of b */ = 1 -- the end", {"a": "1"}, True),
        ("a = 1 -- a line\n AND b = 2", {"a": "1", "b": "3"}, False),
        ("'5' = 5 AND 5 = 5.0 AND TRUE", {}, True),
        ("a = 5", {"a": "\u0665"}, True),
        ("a = 5", {"a": "0_5"}, False),
        ("a = 8.0", {"a": "0x1p3"}, True),
        ("a > 1.5", {"a": "NaN"}, True),
    ],
)
def test_a_message_is_selected_by_its_properties(text: str, properties: dict[str, str], is_selected: bool) -> None:
    assert compile_sql92(text).matches(properties) is is_selected


@pytest.mark.parametrize(
    ("text", "reason", "at"),
    [
        ("", "the text ends", 1),
        ("a = ", "the text ends", 5),
        ("a LIKE 'x%'", "'LIKE' does not belong here", 3),
        ("a = 1 garbage", "the expression ends before it", 7),
        ("a = 'x", "a quote is missing", 5),
        ("a > 5 /* x *", "a comment that does not end: */ is missing", 7),
        ("a = #", "'#' means nothing here", 5),
        ("a == 1", "'=' does not belong here", 4),
        ("a = NULL", "NULL is compared by IS NULL", 5),
        ("a > '5'", "> compares numbers", 5),
        ("a >= (b = 1)", ">= compares numbers", 12),
        ("a IN (1)", "a text in quotes is needed", 7),
        ("a IN ()", "a text in quotes is needed", 7),
        ("'x' IN ('x')", "only a property can be IN a list", 12),
        ("a NOT b", "IN, BETWEEN, CONTAINS", 7),
        ("a IS b", "NULL is needed here", 6),
        ("a BETWEEN 5 AND 1", "holds for nothing", 17),
        ("a BETWEEN 'x' AND 'y'", "BETWEEN compares numbers", 19),
        ("TRUE = 5", "TRUE cannot be compared with 5", 8),
        ("5", "true or false is needed here", 1),
        ("a AND 5", "true or false is needed here", 7),
        ("(a = 1", ") is needed here", 7),
        ("a = 9223372036854775808", "is more than 9223372036854775807", 5),
        ("a = " + "9" * 5_000, "is more than", 5),
        ("a = 0.0", "write 0 without a point", 5),
        ("a = 1e400", "not within what a double holds", 5),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text: str, reason: str, at: int) -> None:
    with pytest.raises(IllegalExpression) as refused:
        compile_sql92(text)
    assert reason in refused.value.reason
    assert refused.value.at == at


def test_an_expression_is_bounded_in_length_and_depth() -> None:
    many = " OR ".join(f"a = {number}" for number in range(1_000))
    assert compile_sql92(many).matches({"a": "999"})
    with pytest.raises(IllegalExpression, match=f"longer than {MAX_CHARACTERS} characters"):
        compile_sql92(" " * (MAX_CHARACTERS + 1))


@pytest.mark.parametrize(("opened", "inner", "closed"), [("(", "a = 1", ")"), ("NOT ", "a", ""), ("- ", "a", " = 5")])
def test_what_is_nested_is_bounded(opened: str, inner: str, closed: str) -> None:
    def nested(times: int) -> str:
        return f"{opened * times}{inner}{closed if closed == ' = 5' else closed * times}"

    assert compile_sql92(nested(MAX_NESTING - 1)).names == ("a",)
    with pytest.raises(IllegalExpression, match=f"nested deeper than {MAX_NESTING}"):
        compile_sql92(nested(MAX_NESTING))


@pytest.mark.parametrize("link", ["=1", "<>1", " IS NULL", " IS NOT NULL"])
def test_comparisons_of_comparisons_are_bounded(link: str) -> None:
    deep = f"{'NOT (a = 1 OR ' * 31}a{{}}{')' * 31}"
    assert compile_sql92(deep.format(link * (MAX_CHAINED + 1))).names == ("a",)
    with pytest.raises(IllegalExpression, match=f"more than {MAX_CHAINED} comparisons of comparisons"):
        compile_sql92(f"a{link * (MAX_CHAINED + 2)}")


@pytest.mark.parametrize("middle", [" BETWEEN 1 AND 2 AND c = 1 OR b = 1)", " BETWEEN 1 AND 2 OR b = '((((')"])
def test_conditions_that_python_could_not_read_are_refused(middle: str) -> None:
    def nested(times: int) -> str:
        return f"{'-(' * times}a = 1){middle * (times - 1)} = 1"

    assert compile_sql92(nested(12)).names[0] == "a"
    with pytest.raises(IllegalExpression, match="nested too deeply"):
        compile_sql92(nested(31))


def test_expressions_are_kept_by_their_length() -> None:
    first = compile_sql92("a = 1 -- kept")
    assert compile_sql92("a = 1 -- kept") is first
    for number in range(MAX_KEPT_CHARACTERS // 16_000 + 1):
        compile_sql92(f"a = {number}".ljust(16_000))
    assert compile_sql92("a = 1 -- kept") is not first


def test_a_range_of_a_range_does_not_double() -> None:
    times = MAX_NESTING // 4
    text = f"{'-(' * times}a = 1{') BETWEEN 1 AND 2' * times}"
    assert not compile_sql92(text).matches({"a": "1"})
    assert not compile_sql92(text.replace("BETWEEN", "NOT BETWEEN")).matches({"a": "1"})


@pytest.mark.parametrize("text", ["1" * 32_000 + "x", "." + "1" * 32_000 + "x", "0x" + "1" * 32_000 + "x"])
def test_a_property_of_many_digits_is_read_once(text: str) -> None:
    # With each digit tried again it would take longer than any test may
    assert not compile_sql92("a > 5.0").matches({"a": text})
    assert not compile_sql92("a > 5").matches({"a": text})


def test_the_deepest_expression_is_one_that_python_reads() -> None:
    times = (MAX_NESTING - 2) // 2
    assert compile_sql92(f"{'NOT (a = 1 OR ' * times}a = 2{')' * times}").names == ("a",)


@given(generated.expressions, generated.properties)
def test_it_compiles_or_is_refused_and_gives_a_bool(text: str, properties: dict[str, str]) -> None:
    try:
        found = compile_sql92(text)
    except IllegalExpression:
        return
    assert found.matches(properties) in (True, False)
    assert set(found.names) <= set(generated.NAMES)


@given(st.text(max_size=60))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    error = None
    try:
        compile_sql92(text)
    except IllegalExpression as found:
        error = found
    assert error is None or 1 <= error.at <= len(text) + 1
